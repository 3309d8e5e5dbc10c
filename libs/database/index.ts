export { Database } from './src/database.js';
export type { GatheredStatement } from './src/gathered-calls.js';
export { migrate } from './src/migrate.js';
export { ask, type Prepared } from './src/prepared.js';
export { TENANT_ROLE } from './src/roles.js';
export { isUniqueViolation, SQLSTATE, sqlStateOf } from './src/sqlstate.js';
export type { Tx } from './src/tx.js';
