export {
  findCorrection,
  listCorrections,
  resolveCorrection,
  type CorrectionRecord,
  type CorrectionState,
} from './src/correction-records.js';
export { openReconciliation } from './src/open-reconciliation.js';
export {
  SWEEP_STEPS,
  type ReconciliationObserver,
  type ReconciliationSettings,
  type Sweep,
  type SweepStep,
} from './src/reconciliation-parts.js';
export { ReconciliationReport, type ReconciliationFigures } from './src/reconciliation-report.js';
export { Reconciliation, SweepUnderWay } from './src/reconciliation.js';
export { KINDS, RULES } from './src/rules.js';
export { findRun, listRuns, type SweepFigures, type SweepRun } from './src/run-records.js';
export { SweepTurns } from './src/sweep-turns.js';
