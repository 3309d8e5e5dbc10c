import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Readiness } from '#libs/http';
import type { HaltScope } from '#libs/ledger';
import { HealthKeeper } from './health-keeper.js';

const SCOPES: readonly HaltScope[] = ['global', 'venue', 'profile', 'symbol'];
const BUCKETS = ['allocated', 'orders', 'positions', 'pnl', 'available'] as const;

/** What the health answer says, for alerts. Nothing but readiness asks anybody when it is scraped. */
@Injectable()
export class HealthMetrics {
  constructor(keeper: HealthKeeper, readiness: Readiness) {
    gauge('flotilla_ready', 'Whether the health answer would be 200 now; every probe is asked.', async () =>
      Number((await readiness.check()).isReady),
    );
    gauge('flotilla_degraded', 'Whether anything keeps entries from being made as they should be.', () =>
      Number(keeper.degraded().length > 0),
    );
    gauge(
      'flotilla_capital_invariant_violations',
      'Profiles whose capital is not as it must be, by the proof or by a worker.',
      () => keeper.violations().length,
    );
    gauge('flotilla_profiles', 'Profiles that have a ledger.', () => keeper.capital()?.profiles);
    new Gauge({
      name: 'flotilla_halts',
      help: 'Halts in force, by scope.',
      labelNames: ['scope'],
      collect() {
        for (const scope of SCOPES) {
          this.set({ scope }, keeper.halts.filter((halt) => halt.scope === scope).length);
        }
      },
    });
    new Gauge({
      name: 'flotilla_capital',
      help: 'Capital of all profiles together, by bucket.',
      labelNames: ['bucket'],
      collect() {
        this.reset();
        const totals = keeper.capital();
        if (totals) for (const bucket of BUCKETS) this.set({ bucket }, Number(totals[bucket].toString()));
      },
    });
  }
}

function gauge(name: string, help: string, value: () => Promise<number> | number | undefined): void {
  new Gauge({
    name,
    help,
    async collect() {
      const current = await value();
      if (current === undefined) this.remove();
      else this.set(current);
    },
  });
}
