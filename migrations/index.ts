import { LeastPrivilege } from './0001-least-privilege.js';
import { PairConfigs } from './0002-pair-configs.js';

/** Oldest first. A migration that was released is never changed; a mistake is mended by a later one. */
export const migrations = [LeastPrivilege, PairConfigs];
