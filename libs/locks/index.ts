export { RedisLocks, type RedisLock, type Renewal } from './src/redis-lock.js';
export { pidOfToken } from './src/owner-token.js';
