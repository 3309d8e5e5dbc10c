export { DataDirectoryLock } from './src/data-directory-lock.js';
export { prepareDataDirectory } from './src/data-directory.js';
export { EmbeddedServers, findEmbeddedUrls } from './src/embedded-servers.js';
export { isProcessAlive } from './src/process-alive.js';
export { provideRedisProgram } from './src/redis-program.js';
export { readOrCreateSecret } from './src/secret-file.js';
