import { settings } from './settings.js';

/** Sentences about variables that look like one of ours with a slip of the finger. */
export function findMisspellings(names: readonly string[]): string[] {
  const ours = Object.keys(settings);
  return names.flatMap((name) => {
    if (ours.includes(name)) return [];
    const meant = ours.find((setting) => isSlip(name.toUpperCase(), setting));
    return meant ? [`${name} is set but is no setting of Flotilla; did you mean ${meant}?`] : [];
  });
}

/** Short names lie close to foreign ones (HOME is two letters from HOST), so they allow for one slip only. */
function isSlip(name: string, setting: string): boolean {
  const slipsMax = setting.length >= 8 ? 2 : 1;
  return Math.abs(name.length - setting.length) <= slipsMax && countSlips(name, setting) <= slipsMax;
}

/** Letters inserted, left out, exchanged, or swapped with their neighbour. */
function countSlips(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const candidates = [
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      ];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) candidates.push(at(beforePrevious, column - 2) + 1);
      current.push(Math.min(...candidates));
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
