import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

interface BuildInfo {
  readonly version: string;
  readonly node: string;
}

export function buildInfo(): BuildInfo {
  const path = findPackageJSON(import.meta.url);
  if (!path) throw new Error('Expected the package.json of Flotilla above the compiled program.');
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
  return { version, node: process.versions.node };
}
