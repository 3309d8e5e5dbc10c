import { describe, expect, it } from 'vitest';
import { painterFor } from './paint.js';

describe('painterFor', () => {
  it('leaves a text alone where the stream is no terminal', () => {
    expect(painterFor({ isTTY: false } as NodeJS.WriteStream)('red', 'text')).toBe('text');
  });
});
