import type { Decision } from './decision.js';

/** What a strategy wishes for. The same wish computed again has the same signalId. */
export interface Wish {
  readonly decision: Decision;
  readonly reason: string;
  readonly signalId: string;
}
