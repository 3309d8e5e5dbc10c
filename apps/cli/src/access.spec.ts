import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OperatorError } from '#libs/operator';
import { defaultAddress, findToken } from './access.js';

function setup(content?: string) {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'flotilla-test-'));
  onTestFinished(() => rmSync(DATA_DIR, { recursive: true }));
  const path = join(DATA_DIR, 'admin-token');
  if (content !== undefined) writeFileSync(path, content);
  return { DATA_DIR, path };
}

describe('defaultAddress', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3001'],
    ['0.0.0.0', 'http://127.0.0.1:3001'],
    ['::', 'http://127.0.0.1:3001'],
    ['::1', 'http://[::1]:3001'],
    ['10.0.0.7', 'http://10.0.0.7:3001'],
  ])('reaches an orchestrator that listens on %s at %s', (HOST, address) => {
    expect(defaultAddress({ HOST, PORT: 3001 })).toBe(address);
  });

  it('asks for --url where the port is not known', () => {
    expect(() => defaultAddress({ HOST: '127.0.0.1', PORT: 0 })).toThrow('name it with --url');
  });
});

describe('findToken', () => {
  it('prefers ADMIN_TOKEN to the file', () => {
    const { DATA_DIR } = setup('from-the-file\n');
    expect(findToken({ DATA_DIR, ADMIN_TOKEN: 'mine' })).toEqual({ value: 'mine', source: 'ADMIN_TOKEN' });
  });

  it('reads the file without its line end and names its path', () => {
    const { DATA_DIR, path } = setup('from-the-file\n');
    expect(findToken({ DATA_DIR, ADMIN_TOKEN: undefined })).toEqual({ value: 'from-the-file', source: path });
  });

  it('finds none where there is no file', () => {
    const { DATA_DIR, path } = setup();
    expect(findToken({ DATA_DIR, ADMIN_TOKEN: undefined })).toEqual({ value: undefined, source: path });
  });

  it.each(['', 'two\nlines', 's3cret\u2028x'])(
    'refuses a file that holds no token, %j, without repeating it',
    (content) => {
      const { DATA_DIR, path } = setup(content);
      expect(() => findToken({ DATA_DIR, ADMIN_TOKEN: undefined })).toThrow(
        new OperatorError(`${path} holds no token. Delete it and start the orchestrator again, or set ADMIN_TOKEN.`),
      );
    },
  );
});
