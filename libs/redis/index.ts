export { openRedis, type Redis } from './src/redis.js';
export { transportOptions } from './src/transport-options.js';
