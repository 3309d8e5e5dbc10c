import { enableCompileCache } from 'node:module';

// Before anything else is imported: what Node compiles now, it finds compiled at the next start.
enableCompileCache();
const { runProcess } = await import('#libs/process');
const { runOrchestrator } = await import('./orchestrator.js');
process.exit(await runProcess({ process: 'orchestrator' }, runOrchestrator));
