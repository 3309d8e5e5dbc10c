/** Writes what is generated into the documents; run by `npm run docs`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withSettingsTable } from './tidy.ts';

writeFileSync('README.md', withSettingsTable(readFileSync('README.md', 'utf8')));
