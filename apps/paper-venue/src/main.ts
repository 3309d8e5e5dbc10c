import { enableCompileCache } from 'node:module';

// Before anything else is imported: what Node compiles now, it finds compiled at the next start.
enableCompileCache();
const { main } = await import('./run.js');
process.exit(await main(process.argv.slice(2)));
