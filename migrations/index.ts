import { LeastPrivilege } from './0001-least-privilege.js';
import { PairConfigs } from './0002-pair-configs.js';
import { Profiles } from './0003-profiles.js';
import { CapitalLedger } from './0004-capital-ledger.js';
import { RowLocks } from './0005-row-locks.js';
import { LedgerRules } from './0006-ledger-rules.js';
import { LedgerBatch } from './0007-ledger-batch.js';
import { LedgerCommands } from './0008-ledger-commands.js';
import { LedgerProof } from './0009-ledger-proof.js';
import { LifecycleTables } from './0010-lifecycle-tables.js';
import { Intents } from './0011-intents.js';
import { OrderReports } from './0012-order-reports.js';
import { LifecycleTruth } from './0013-lifecycle-truth.js';
import { LedgerSpeed } from './0014-ledger-speed.js';
import { OrderIdentity } from './0015-order-identity.js';
import { Reconciliation } from './0016-reconciliation.js';
import { PlannerStatistics } from './0017-planner-statistics.js';
import { LifecyclePolicies } from './0018-lifecycle-policies.js';
import { ShortEntries } from './0019-short-entries.js';
import { Disputes } from './0020-disputes.js';

/** Oldest first. A migration that was released is never changed; a mistake is mended by a later one. */
export const migrations = [
  LeastPrivilege,
  PairConfigs,
  Profiles,
  CapitalLedger,
  RowLocks,
  LedgerRules,
  LedgerBatch,
  LedgerCommands,
  LedgerProof,
  LifecycleTables,
  Intents,
  OrderReports,
  LifecycleTruth,
  LedgerSpeed,
  OrderIdentity,
  Reconciliation,
  PlannerStatistics,
  LifecyclePolicies,
  ShortEntries,
  Disputes,
];
