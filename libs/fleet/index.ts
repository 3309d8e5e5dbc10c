export { ControlChannel } from './src/control-channel.js';
export { concerns, type ControlMessage } from './src/control-message.js';
export { FleetBoard, type WorkerReport } from './src/fleet-board.js';
export { Fleet, type DesiredWorker, type FleetObserver } from './src/fleet.js';
export {
  HealthFields,
  healthFields,
  LOOP_NAMES,
  loopProbeName,
  type LoopHealth,
  type LoopName,
} from './src/health-fields.js';
export { Heartbeat } from './src/heartbeat.js';
export { fleetKeys, type FleetKeys } from './src/keys.js';
export { Pair, PairId, PairSettings, revisionOf } from './src/pair-config.js';
export { DEMONSTRATION_PROFILE, PairConfigs, PairsDeclaredInFile } from './src/pair-configs.js';
export type { Action } from './src/planner.js';
export { policies } from './src/policy.js';
export { ExampleParams, type MetronomeParams, type Strategy } from './src/strategy-params.js';
export { WorkerLogs } from './src/worker-log.js';
export { WorkerSpawner, type Assignment } from './src/worker-process.js';
export { LogLevel, WorkerRequest, workerRequestPattern } from './src/worker-request.js';
export { WorkerState, type ReconciliationFigures, type WorkerFigures } from './src/worker-state.js';
