export { sumLedgers, type CapitalTotals } from './src/capital-totals.js';
export { CapitalWatchdog, type CapitalViolation } from './src/capital-watchdog.js';
export type {
  Close,
  Deposit,
  Fill,
  LedgerCommand,
  Rebuild,
  Release,
  Reservation,
  TradeTruth,
  Withdrawal,
} from './src/command.js';
export { applyBatch, close, deposit, fill, rebuild, release, reserve, withdraw } from './src/commands.js';
export {
  createHalt,
  describeHalt,
  InvalidHalt,
  liftHalt,
  listHalts,
  listHaltsInForce,
  type Halt,
  type HaltRequest,
  type HaltScope,
} from './src/halts.js';
export {
  findLedger,
  listEntries,
  openLedger,
  UnknownProfile,
  type Bucket,
  type Ledger,
  type LedgerEntry,
} from './src/ledger-rows.js';
export { LedgerService, LedgerStopped, LedgerUnavailable } from './src/ledger.service.js';
export { findLimits, putLimits, type ProfileLimits } from './src/limits.js';
export { verifyLedger, type LedgerProof } from './src/proof.js';
export { StandingProblems, type Problem, type ProblemObserver } from './src/standing-problems.js';
export { explainRefusal, REFUSAL_CODES, type RefusalCode, type Verdict } from './src/verdict.js';
export { LedgerWatchdogReport } from './src/watchdog-report.js';
export { LedgerWatchdog, type LedgerPass, type LedgerViolation, type LedgerWatchdogObserver } from './src/watchdog.js';
