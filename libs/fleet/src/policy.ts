import type { Config } from '#libs/config';
import type { WorkerKind } from './worker-state.js';

/** The numbers by which one kind of worker is kept alive. */
export interface Policy {
  /** A worker without a heartbeat is killed when it is older than this. */
  readonly silenceMsMax: number;
  readonly respawnBaseMs: number;
  readonly respawnMsMax: number;
  /** Failures in a row after which a worker is given up. */
  readonly failuresMax: number;
  /** Time between being told to stop and SIGKILL. */
  readonly stopGraceMs: number;
}

export function policies(config: Config): Record<WorkerKind, Policy> {
  const common = { silenceMsMax: 2 * config.HEARTBEAT_TIMEOUT_MS, stopGraceMs: config.SHUTDOWN_GRACE_MS };
  return {
    pair: {
      ...common,
      respawnBaseMs: config.RESPAWN_BASE_MS,
      respawnMsMax: config.RESPAWN_MAX_MS,
      failuresMax: config.RESPAWN_MAX_FAILURES,
    },
    ingest: { ...common, respawnBaseMs: 2_000, respawnMsMax: 60_000, failuresMax: Number.POSITIVE_INFINITY },
    executor: { ...common, respawnBaseMs: 0, respawnMsMax: 0, failuresMax: Number.POSITIVE_INFINITY },
  };
}

/** The first failure waits for twice the base: 20, 40, 80, 160, 300, 300 … seconds with the numbers of a pair. */
export function respawnDelayMs(failures: number, policy: Policy): number {
  return Math.min(policy.respawnBaseMs * 2 ** failures, policy.respawnMsMax);
}
