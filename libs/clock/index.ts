export { Clock } from './src/clock.js';
export { ManualClock } from './src/manual-clock.js';
export { SystemClock } from './src/system-clock.js';
