import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Three tiers by suffix: pure functions; a database of one's own; whole processes. */
export default defineConfig({
  resolve: {
    // Sources, not what was compiled last: package.json maps the same names to dist for running processes.
    alias: [
      { find: /^#libs\/(.+)$/, replacement: resolve('libs/$1/index.ts') },
      { find: '#migrations', replacement: resolve('migrations/index.ts') },
    ],
  },
  test: {
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['{apps,libs,scripts,test}/**/*.spec.ts'],
          exclude: ['**/*.db.spec.ts', '**/*.e2e.spec.ts'],
          // Much is computed, and a busy machine is slow; nothing here waits.
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'db',
          include: ['{apps,libs,test}/**/*.db.spec.ts'],
          globalSetup: ['test/harness/servers.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/**/*.e2e.spec.ts'],
          globalSetup: ['test/harness/servers.ts', 'test/harness/shared-venue.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
