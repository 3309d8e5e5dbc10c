export { aborted, runProcess, type ProcessContext } from './src/run-process.js';
export { connectDatabase, connectRedis, type Services } from './src/services.js';
