export { aborted, runProcess, type ProcessContext } from './src/run-process.js';
export { openServices, type Services } from './src/services.js';
