export { findFirstAct, listActs, recordAct, type Act, type AuditRecord } from './src/audit-log.js';
export { actorOf, asPrincipal, asTenant, type Principal } from './src/principal.js';
export {
  createProfile,
  findProfile,
  ForeignOwner,
  listProfiles,
  ProfileIdTaken,
  type Profile,
} from './src/profiles.js';
export { isStoredAsGiven, TenantId } from './src/tenant-id.js';
export { TenantTokens, type TokenCheck } from './src/tenant-tokens.js';
