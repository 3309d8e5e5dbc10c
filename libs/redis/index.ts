export { openRedis, type Redis } from './src/redis.js';
