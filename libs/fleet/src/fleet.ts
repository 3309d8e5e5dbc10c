import { hostname } from 'node:os';
import type { Clock } from '#libs/clock';
import type { ControlChannel } from './control-channel.js';
import type { FleetBoard, WorkerReport } from './fleet-board.js';
import { planWorker, type Action, type FleetWorker } from './planner.js';
import type { Policy } from './policy.js';
import { adopted, afterAction, afterExit } from './worker-transition.js';
import type { Assignment, WorkerProcess, WorkerSpawner } from './worker-process.js';
import type { WorkerKind, WorkerState } from './worker-state.js';

const RESTART_WISH_TTL_MS = 60_000;
/** While workers start or stop, or are not our children, we look more often than the tick does. */
const LOOK_AGAIN_MS = 100;
/** A worker that has not beaten for so long no longer counts as starting, or a few bad ones would hold up the rest. */
const STARTING_MS_MAX = 15_000;

export interface DesiredWorker extends Assignment {
  readonly revision: string;
}

export interface FleetObserver {
  acted(worker: Assignment, action: Action): void;
  exited(worker: Assignment, pid: number): void;
  adopted(worker: Assignment, pid: number): void;
  healthy(worker: Assignment, afterMs: number): void;
  failed(what: string, error: unknown): void;
}

interface Needs {
  readonly clock: Clock;
  readonly board: FleetBoard;
  readonly control: ControlChannel;
  readonly spawner: WorkerSpawner;
  readonly policies: Record<WorkerKind, Policy>;
  readonly startsMax: number;
  /** Whether we may act at all: the orchestrator's lock is still trusted. */
  readonly mayAct: () => boolean;
  readonly observer: FleetObserver;
}

/** Keeps the processes of the workers as desired: looks, plans, and carries the plan out, one pass at a time. */
export class Fleet {
  private desired = new Map<string, DesiredWorker>();
  private readonly workers = new Map<string, FleetWorker & { readonly kind: WorkerKind }>();
  private readonly processes = new Map<string, WorkerProcess>();
  /** Dead processes whose lock could not be freed yet, because Redis was silent. */
  private readonly uncleared = new Map<string, number>();
  private readonly abort = new AbortController();
  private askableSince: number | undefined;
  private passing: Promise<void> | undefined;
  private isPassWanted = false;
  private looking: Promise<void> | undefined;

  constructor(private readonly needs: Needs) {}

  /**
   * Finds the workers that an earlier orchestrator left running, and takes charge of them: also of those whose pair was
   * removed since, or nobody would ever stop them.
   */
  async adopt(desired: readonly DesiredWorker[]): Promise<void> {
    const revisions = new Map(desired.map(({ id, revision }) => [id, revision]));
    const ids = [...new Set([...revisions.keys(), ...(await this.needs.board.listActive())])];
    const reports = await this.needs.board.report(ids);
    this.askableSince ??= this.needs.clock.monotonic();
    for (const [id, report] of reports) {
      await this.adoptWorker({ kind: report.state?.kind ?? 'pair', id }, report, revisions.get(id) ?? '');
    }
  }

  /** Changes what should run, and begins to bring it about. */
  async setDesired(desired: readonly DesiredWorker[]): Promise<void> {
    this.desired = new Map(desired.map((worker) => [worker.id, worker]));
    await this.needs.board
      .publishActive([...this.desired.keys()])
      .catch((error: unknown) => this.needs.observer.failed('publish the set of active workers', error));
    await this.pass();
  }

  /** Asks a worker to stop and starts it again at once; revives one that was given up. */
  async restart(id: string): Promise<boolean> {
    if (!this.desired.has(id)) return false;
    await this.needs.board.wishRestart(id, RESTART_WISH_TTL_MS);
    await this.pass();
    return true;
  }

  /** One look at everything. Passes never overlap; one that is wanted meanwhile follows. */
  async pass(): Promise<void> {
    this.isPassWanted = true;
    this.passing ??= this.passUntilQuiet();
    await this.passing;
  }

  /** What should run, whether it does or not. */
  listDesired(): DesiredWorker[] {
    return [...this.desired.values()];
  }

  list(): (FleetWorker & { readonly kind: WorkerKind; readonly pid: number | undefined })[] {
    return [...this.workers.values()].map((worker) => ({ ...worker, pid: this.processes.get(worker.id)?.pid }));
  }

  /** Tells all to stop, waits, kills those that outlast the grace. */
  async stop(graceMs: number): Promise<void> {
    await this.abandon();
    await this.publishShutdown({});
    for (const process of this.processes.values()) process.signal('SIGTERM');
    const deadline = this.needs.clock.monotonic() + graceMs;
    while (this.livingProcesses().length > 0 && this.needs.clock.monotonic() < deadline) {
      await this.needs.clock.sleep(LOOK_AGAIN_MS);
    }
    for (const [id, process] of this.livingProcesses()) {
      process.signal('SIGKILL');
      this.needs.observer.acted({ kind: this.kindOf(id), id }, { type: 'kill', reason: 'grace-over' });
    }
    while (this.livingProcesses().length > 0) await this.needs.clock.sleep(LOOK_AGAIN_MS);
    for (const [id, process] of this.processes) await this.clear(id, process.pid);
  }

  /** Stops looking after the workers and leaves them running: another orchestrator has taken over. */
  async abandon(): Promise<void> {
    this.abort.abort();
    await this.passing;
    await this.looking;
  }

  private async adoptWorker(worker: Assignment, { state, heartbeatAt }: WorkerReport, desired: string): Promise<void> {
    const pid = state?.pid ?? (await this.needs.board.findLockHolder(worker.id));
    if (pid === undefined) return;
    const process = this.needs.spawner.find(worker, pid);
    if (process) {
      const found = adopted(worker.id, state?.revision ?? desired, this.needs.clock.monotonic());
      this.workers.set(worker.id, { ...found, isHealthy: heartbeatAt !== undefined, kind: worker.kind });
      this.processes.set(worker.id, process);
      this.needs.observer.adopted(worker, pid);
    } else if (isOfThisMachine(state) || heartbeatAt === undefined) {
      await this.needs.board.clearAfter(worker.id, pid);
    }
  }

  private async passUntilQuiet(): Promise<void> {
    while (this.isPassWanted && !this.abort.signal.aborted) {
      this.isPassWanted = false;
      await this.passOnce().catch((error: unknown) => this.needs.observer.failed('pass', error));
    }
    // In the same step as the last look at the wish, or one that comes between would be forgotten.
    this.passing = undefined;
  }

  private async passOnce(): Promise<void> {
    const ids = [...new Set([...this.desired.keys(), ...this.workers.keys()])];
    const observations = await this.needs.board.observe(ids);
    if (!observations.answered) this.askableSince = undefined;
    else this.askableSince ??= this.needs.clock.monotonic();
    const askableSince = this.askableSince ?? Number.POSITIVE_INFINITY;
    for (const id of ids) {
      await this.noticeEnd(id, askableSince);
      if (this.abort.signal.aborted || !this.needs.mayAct()) return;
      const context = {
        now: this.needs.clock.monotonic(),
        askableSince,
        policy: this.needs.policies[this.kindOf(id)],
      };
      const subject = { worker: this.workers.get(id), observation: observations.of(id) };
      const action = planWorker(this.desired.get(id)?.revision, subject, context);
      // A worker that starts while Redis is away finds no lock and counts as failed for nothing.
      const isPossible = action?.type !== 'spawn' || (observations.answered && this.hasRoomToStart());
      if (action && isPossible) {
        // What fails for one worker must not keep us from the others.
        await this.act(id, action).catch((error: unknown) => this.needs.observer.failed(`${action.type} ${id}`, error));
      }
    }
    if (this.needsAnotherLook()) this.looking ??= this.lookAgain();
  }

  private async act(id: string, action: Action): Promise<void> {
    const assignment = { kind: this.kindOf(id), id };
    const revision = this.desired.get(id)?.revision ?? '';
    const before = this.workers.get(id);
    await this.carryOut(assignment, action);
    const after = afterAction(before, action, { id, revision, now: this.needs.clock.monotonic() });
    if (after) this.workers.set(id, { ...after, kind: assignment.kind });
    else this.workers.delete(id);
    if (action.type === 'mark-healthy' && before?.process && !before.isHealthy) {
      this.needs.observer.healthy(assignment, this.needs.clock.monotonic() - before.process.startedAt);
    } else {
      this.needs.observer.acted(assignment, action);
    }
    // A step may make the next one possible: what ended may start, what is forgotten may be new.
    if (action.type !== 'retry-later' && action.type !== 'give-up') this.isPassWanted = true;
  }

  private async carryOut(assignment: Assignment, action: Action): Promise<void> {
    const { id } = assignment;
    switch (action.type) {
      case 'spawn': {
        const dead = this.uncleared.get(id);
        if (dead !== undefined) await this.clear(id, dead);
        await this.needs.board.grantRestart(id);
        const process = this.needs.spawner.spawn(assignment, () => void this.pass());
        this.processes.set(id, process);
        return;
      }
      case 'stop':
        // The signal reaches a worker that cannot hear the channel, the channel one that is not on this machine.
        this.processes.get(id)?.signal('SIGTERM');
        await this.publishShutdown({ pairId: id });
        return;
      case 'kill':
        this.processes.get(id)?.signal('SIGKILL');
        return;
      case 'retry-later':
      case 'give-up':
      case 'mark-healthy':
      case 'forget':
        return;
    }
  }

  private async publishShutdown(to: { pairId?: string }): Promise<void> {
    await this.needs.control
      .publish({ type: 'SHUTDOWN', ...to })
      .catch((error: unknown) => this.needs.observer.failed('publish SHUTDOWN', error));
  }

  /** Exits are noticed by the event of our child, by looking at a process that is not our child. */
  private async noticeEnd(id: string, askableSince: number): Promise<void> {
    const worker = this.workers.get(id);
    const process = this.processes.get(id);
    if (!worker?.process || !process || process.isAlive()) return;
    this.workers.set(id, { ...afterExit(worker, askableSince), kind: worker.kind });
    this.processes.delete(id);
    this.needs.observer.exited({ kind: worker.kind, id }, process.pid);
    await this.clear(id, process.pid);
  }

  private async clear(id: string, pid: number): Promise<void> {
    try {
      await this.needs.board.clearAfter(id, pid);
      this.uncleared.delete(id);
    } catch (error) {
      this.uncleared.set(id, pid);
      this.needs.observer.failed(`free the lock of ${id}`, error);
    }
  }

  private async lookAgain(): Promise<void> {
    await this.needs.clock.sleep(LOOK_AGAIN_MS, this.abort.signal);
    this.looking = undefined;
    if (!this.abort.signal.aborted) void this.pass();
  }

  private needsAnotherLook(): boolean {
    const workers = [...this.workers.values()];
    const isMoving = workers.some(({ process, isHealthy, stopping }) => process && (!isHealthy || stopping));
    const isForeign = [...this.processes.values()].some(({ isChild }) => !isChild);
    return isMoving || isForeign || this.desired.size > workers.length;
  }

  private hasRoomToStart(): boolean {
    const now = this.needs.clock.monotonic();
    const starting = [...this.workers.values()].filter(
      ({ process, isHealthy }) => process && !isHealthy && now - process.startedAt < STARTING_MS_MAX,
    );
    return starting.length < this.needs.startsMax;
  }

  private livingProcesses(): [string, WorkerProcess][] {
    return [...this.processes].filter(([, process]) => process.isAlive());
  }

  private kindOf(id: string): WorkerKind {
    return this.desired.get(id)?.kind ?? this.workers.get(id)?.kind ?? 'pair';
  }
}

/** Only of a process of this machine can we say that it is dead because we do not find it. */
function isOfThisMachine(state: WorkerState | undefined): boolean {
  return state?.host === hostname();
}
