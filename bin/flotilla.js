#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/apps/cli/src/main.js', import.meta.url);

if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('Flotilla is not compiled yet. Run "npm run build", or "npm start", first.\n');
  process.exitCode = 1;
}
