import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFaults } from '../scripts/tidy.ts';

/** A copy of the tree in which a test may break a rule. */
function copyOfTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-tree-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of [
    'apps',
    'libs',
    'migrations',
    'docs',
    'scripts',
    'test',
    'README.md',
    'package.json',
    'tsconfig.json',
    '.dependency-cruiser.js',
  ]) {
    cpSync(name, join(root, name), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  return root;
}

function cruise(root: string): { status: number | null; output: string } {
  const program = resolve('node_modules', '.bin', 'depcruise');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'apps', 'libs', 'migrations'], {
    cwd: root,
  });
  return { status, output: `${stdout.toString()}${stderr.toString()}` };
}

describe('the check of dependency levels', () => {
  it('passes on the tree as it is', () => {
    expect(cruise(copyOfTree())).toMatchObject({ status: 0 });
  });

  it.each([
    ['a lib that imports upwards', 'libs/clock/src/bad.ts', "import '#libs/config';", 'level-0-clock'],
    ['a lib that imports its own level', 'libs/redis/src/bad.ts', "import '#libs/database';", 'level-1-redis'],
    [
      'a lib entered by a back door',
      'apps/worker/src/bad.ts',
      "import '../../../libs/clock/src/clock.js';",
      'one-door',
    ],
    [
      'an app that imports another',
      'apps/worker/src/bad.ts',
      "import '../../orchestrator/src/first-screen.js';",
      'apps-apart',
    ],
    ['a lib without a level', 'libs/drawer/index.ts', "import './src/x.js';", 'known-lib'],
  ])('fails on %s', (_case, path, code, rule) => {
    const root = copyOfTree();
    mkdirSync(join(root, 'libs/drawer/src'), { recursive: true });
    writeFileSync(join(root, 'libs/drawer/src/x.ts'), 'export {};');
    writeFileSync(join(root, path), code);
    const { status, output } = cruise(root);
    expect(output).toContain(rule);
    expect(status).not.toBe(0);
  });
});

describe('the rules about files', () => {
  it('hold on the tree as it is', () => {
    expect(findFaults('.')).toEqual([]);
  });

  it.each([
    ['a drawer', 'libs/clock/src/utils.ts', '', /utils\.ts: a drawer/],
    ['a name that is not kebab-case', 'libs/clock/src/myClock.ts', '', /myClock\.ts: file names/],
    ['a lib README without its headings', 'libs/clock/README.md', '# clock', /libs\/clock\/README\.md: lacks/],
    ['a decision without a number', 'docs/adr/9999-x.md', '', /9999-x\.md: expected number/],
  ])('name %s', (_case, path, text, fault) => {
    const root = copyOfTree();
    writeFileSync(join(root, path), text);
    expect(findFaults(root).join('\n')).toMatch(fault);
  });

  it('name a migration that was changed after its release', () => {
    const root = copyOfTree();
    const path = join(root, 'migrations', '0001-least-privilege.ts');
    writeFileSync(path, `${readFileSync(path, 'utf8')}// changed\n`);
    expect(findFaults(root)).toEqual([expect.stringContaining('0001-least-privilege.ts: was changed')]);
  });

  it('name a table of settings that is out of date', () => {
    const root = copyOfTree();
    const path = join(root, 'README.md');
    writeFileSync(path, readFileSync(path, 'utf8').replace('`3001`', '`3002`'));
    expect(findFaults(root)).toEqual([expect.stringContaining('table of settings is out of date')]);
  });
});
