export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that so large a part of all lies below. */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
}
