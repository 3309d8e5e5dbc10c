const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** The two largest units, such as "3m 12s". Less than nothing, where two machines' clocks differ, is "0s". */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const largest = UNITS.findIndex(([, size]) => seconds >= size);
  if (largest < 0) return '0s';
  let rest = seconds;
  return UNITS.slice(largest, largest + 2)
    .map(([unit, size]) => {
      const count = Math.floor(rest / size);
      rest %= size;
      return count === 0 ? '' : `${count}${unit}`;
    })
    .filter((part) => part !== '')
    .join(' ');
}

/** Time passed since a moment in ISO 8601. */
export function formatAge(iso: string, now: number): string {
  return formatDuration(now - Date.parse(iso));
}
