/** Every Redis key and channel of the fleet, as an operator sees them in redis-cli. */
export interface FleetKeys {
  readonly orchestratorLock: string;
  /** SET of the ids of active workers. */
  readonly workers: string;
  readonly control: string;
  workerLock(id: string): string;
  /** Unix ms of the last sign of life. */
  heartbeat(id: string): string;
  /** WorkerState as JSON. */
  state(id: string): string;
  /** Present while somebody wishes a restart without backoff. */
  restarting(id: string): string;
}

export function fleetKeys(prefix: string): FleetKeys {
  return {
    orchestratorLock: `${prefix}:orchestrator:lock`,
    workers: `${prefix}:workers`,
    control: `${prefix}:control`,
    workerLock: (id) => `${prefix}:worker:${id}:lock`,
    heartbeat: (id) => `${prefix}:worker:${id}:heartbeat`,
    state: (id) => `${prefix}:worker:${id}:state`,
    restarting: (id) => `${prefix}:worker:${id}:restarting`,
  };
}
