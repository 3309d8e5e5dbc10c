export { Database, type Tx } from './src/database.js';
export { migrate } from './src/migrate.js';
export { TENANT_ROLE } from './src/roles.js';
export { isUniqueViolation, SQLSTATE, sqlStateOf } from './src/sqlstate.js';
