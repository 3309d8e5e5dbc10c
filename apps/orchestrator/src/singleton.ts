import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessAlive } from '#libs/embedded';
import { pidOfToken, RedisLocks, type RedisLock } from '#libs/locks';
import { OperatorError } from '#libs/operator';
import type { ProcessContext } from '#libs/process';
import type { Redis } from '#libs/redis';
import { OrchestratorLock } from './orchestrator-lock.js';

const STANDBY_POLL_MS_MAX = 1_000;

/** The right to be the orchestrator: one lock in Redis, tried once, or awaited by a standby. */
export class Singleton {
  private readonly locks: RedisLocks;
  private readonly ttlMs: number;
  private readonly tokenPath: string;

  constructor(
    private readonly context: ProcessContext,
    redis: Redis,
    private readonly at: { readonly key: string; readonly dataDir: string },
  ) {
    this.locks = new RedisLocks(redis, context.clock);
    this.ttlMs = 2 * context.config.ORCHESTRATOR_LOCK_TTL_MS;
    this.tokenPath = join(at.dataDir, 'orchestrator.token');
  }

  /** Undefined when a standby was told to stop before its turn came. */
  async acquire(options: { standby: boolean }): Promise<OrchestratorLock | undefined> {
    const { logger, clock, stopping, config } = this.context;
    for (let isFirst = true; !stopping.aborted; isFirst = false) {
      const lock = await this.tryAcquire().catch((error: unknown) => {
        if (!options.standby) throw error;
        return undefined;
      });
      if (lock) {
        writeFileSync(this.tokenPath, `${lock.token}\n`, { mode: 0o600 });
        return new OrchestratorLock(lock, clock, config.HEALTH_CHECK_INTERVAL_MS);
      }
      const holder = (await this.locks.findHolder(this.at.key).catch(() => undefined)) ?? 'nobody by now';
      if (!options.standby) {
        throw new OperatorError(
          `An orchestrator is already running: ${this.at.key} is held by ${holder} (process ${pidOfToken(holder) ?? 'unknown'}). ` +
            'Stop it first, or start this one with --standby to take over when it ends.',
        );
      }
      if (isFirst) logger.info(`Standing by: ${this.at.key} is held by ${holder}`);
      await clock.sleep(Math.min(STANDBY_POLL_MS_MAX, config.HEALTH_CHECK_INTERVAL_MS), stopping);
    }
    return undefined;
  }

  /** Gives the lock back, so that the next one need not wait for its TTL. */
  async release(lock: OrchestratorLock): Promise<void> {
    rmSync(this.tokenPath, { force: true });
    await lock.release();
  }

  private async tryAcquire(): Promise<RedisLock | undefined> {
    await this.freeOfDeadPredecessor();
    return this.locks.tryAcquire(this.at.key, this.ttlMs);
  }

  /**
   * A predecessor killed on this folder left its token here. If that process is gone, its lock is nobody's: waiting
   * for the TTL would only keep the fleet without an orchestrator.
   */
  private async freeOfDeadPredecessor(): Promise<void> {
    if (!existsSync(this.tokenPath)) return;
    const token = readFileSync(this.tokenPath, 'utf8').trim();
    const pid = pidOfToken(token);
    if (pid === undefined || isProcessAlive(pid, 'apps/orchestrator/src/main')) return;
    await this.locks.releaseFor(this.at.key, token);
  }
}
