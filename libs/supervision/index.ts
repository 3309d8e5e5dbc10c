export { explainLoop, isHealthyAfter, Loop, messageOf, type LoopObserver, type LoopState } from './src/loop.js';
export type { SupervisionSettings } from './src/settings.js';
export {
  SupervisionEnded,
  Supervisor,
  UnknownTask,
  type SupervisionEnd,
  type SupervisorOptions,
} from './src/supervisor.js';
export type { TaskEvent, TaskStatus } from './src/task-status.js';
export type { KillOutcome, RestartOutcome, Task, TaskNotice } from './src/task.js';
