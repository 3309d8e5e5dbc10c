export { RedisLocks, type RedisLock, type Renewal } from './src/redis-lock.js';
export { pidOfToken } from './src/owner-token.js';
export {
  EntryLocks,
  ReconciliationLocks,
  requireEntryLock,
  requireReconciliationLock,
  StaleLock,
  type EntryLockKey,
  type ReconciliationLockKey,
  type RowLock,
} from './src/row-locks.js';
