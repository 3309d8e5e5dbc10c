import { describe, expect, it } from 'vitest';
import type { Paint } from './paint.js';
import { formatTable, oneLine } from './table.js';

const tagged: Paint = (color, text) => `<${color}>${text}</>`;

describe('formatTable', () => {
  it('aligns columns, and leaves no blanks at the end of a line', () => {
    expect(
      formatTable([
        [{ text: 'a' }, { text: 'b' }],
        [{ text: 'long' }, { text: 'x' }],
        [{ text: 'z' }, { text: '' }],
      ]),
    ).toEqual(['a     b', 'long  x', 'z']);
  });

  it('aligns by what is seen, not by the codes of colors', () => {
    const rows = [
      [{ text: 'ab', color: 'red' as const }, { text: '1' }],
      [{ text: 'abc' }, { text: '2' }],
    ];
    expect(formatTable(rows, tagged)).toEqual(['<red>ab</>   1', 'abc  2']);
  });
});

describe('oneLine', () => {
  it('takes from a text what would break the line or command the terminal', () => {
    expect(oneLine('first\r\nsecond\u001b[2Jthird\u202e\u2028 ')).toBe('first second [2Jthird');
  });
});
