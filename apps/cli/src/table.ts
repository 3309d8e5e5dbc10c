import { plain, type Color, type Paint } from './paint.js';

export interface Cell {
  readonly text: string;
  readonly color?: Color | undefined;
}

/** Rows with aligned columns, two blanks apart. Colors are laid on after the widths are known. */
export function formatTable(rows: readonly (readonly Cell[])[], paint: Paint = plain): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.text.length);
  }
  return rows.map((row) =>
    row
      .map(({ text, color }, column) => {
        const gap = column === row.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - text.length + 2);
        return (color === undefined ? text : paint(color, text)) + gap;
      })
      .join('')
      .trimEnd(),
  );
}

export function header(...titles: string[]): Cell[] {
  return titles.map((text) => ({ text, color: 'dim' }));
}

/** Text of others as one line that cannot move the cursor or color the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
