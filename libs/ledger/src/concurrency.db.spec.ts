import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Tx } from '#libs/database';
import * as ledger from '../index.js';
import { applyBatch, type LedgerCommand, type Verdict } from '../index.js';
import { LedgerModel } from './testing/ledger-model.js';
import { draws, toCommands } from './testing/random-commands.js';
import { d, setupLedger } from './testing/setup.js';
import { deposit, fill, release, reserve, tradeId, withdraw, type Step } from './testing/steps.js';

type Kit = Awaited<ReturnType<typeof setupLedger>>;

const CONNECTIONS = 32;
const TIMEOUT_MS = 120_000;

/** Written without looking at the functions that it proves. Empty when every row is what its journal says. */
const DIVERGENCES = `
  with movements as (
    select profile_id, trade_id, target as bucket, amount, source, target from ledger_entries
    union all
    select profile_id, trade_id, source, -amount, source, target from ledger_entries),
  ledgers as (
    select l.profile_id,
           coalesce(sum(amount) filter (where bucket = 'available' and 'outside' in (source, target)), 0) as allocated,
           coalesce(sum(amount) filter (where bucket = 'orders'), 0) as orders,
           coalesce(sum(amount) filter (where bucket = 'positions'), 0) as positions,
           coalesce(sum(amount) filter (where bucket = 'pnl'), 0) as pnl,
           coalesce(sum(amount) filter (where bucket in ('available', 'pnl')), 0) as available
      from capital_ledger l left join movements m using (profile_id) group by 1),
  trades as (
    select profile_id, trade_id, coalesce(sum(amount) filter (where bucket = 'orders'), 0) as orders,
           coalesce(sum(amount) filter (where bucket = 'positions'), 0) as positions
      from movements where trade_id is not null group by 1, 2),
  journals as (
    select profile_id, count(*) as entries, max(sequence) as last, count(distinct idempotency_key) as keys,
           count(*) filter (where part = 0) as commands
      from ledger_entries group by 1)
  select 'ledger' as what, l.profile_id::text as which from capital_ledger l join ledgers f using (profile_id)
   where (l.allocated_capital, l.reserved_for_orders, l.reserved_for_positions, l.realized_pnl, l.available_capital)
      is distinct from (f.allocated, f.orders, f.positions, f.pnl, f.available)
  union all
  select 'reservation', coalesce(r.trade_id, t.trade_id)::text
    from reservations r full join trades t using (profile_id, trade_id)
   where (r.reserved_for_orders, r.reserved_for_positions) is distinct from (t.orders, t.positions)
  union all
  select 'journal', j.profile_id::text from journals j join capital_ledger l using (profile_id)
   where j.entries <> j.last or j.last <> l.last_sequence or j.keys <> j.commands
  union all
  select 'open trades', l.profile_id::text from capital_ledger l
   where l.open_trades <> (select count(*) from trades t
                            where t.profile_id = l.profile_id and (t.orders > 0 or t.positions > 0))`;

async function expectNoDivergence({ admin, inTx }: Kit) {
  expect((await admin.query(DIVERGENCES)).rows).toEqual([]);
  const proofs = await inTx((tx) => ledger.verifyLedger(tx));
  expect(proofs.filter(({ problem }) => problem !== undefined)).toEqual([]);
}

function shuffled<T>(items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(randomInt(rest.length), 1)[0] as T);
}

/** The single functions for some, batches for the others, so that both meet on the same rows. */
async function applySome({ inTx }: Kit, commands: LedgerCommand[]): Promise<Verdict[]> {
  const [only] = commands;
  if (commands.length > 1 || !only) return inTx((tx) => applyBatch(tx, commands));
  const { kind, ...command } = only;
  return [await inTx((tx) => (ledger[kind] as (tx: Tx, command: object) => Promise<Verdict>)(tx, command))];
}

describe('many connections at once on the same profiles', () => {
  it(
    'leave what some order of the applied commands would leave, and no divergence',
    async () => {
      const kit = await setupLedger({ poolSize: CONNECTIONS });
      const profileIds = [await kit.newProfile(), await kit.newProfile(), await kit.newProfile()];
      const applied = new Map<string, { command: LedgerCommand; sequence: bigint }>();
      const worker = async () => {
        // The keys of all workers are the same, so that they fight for them as well.
        const commands = toCommands(fc.sample(draws, 400), profileIds);
        for (let done = 0; done < commands.length;) {
          const batch = commands.slice(done, (done += randomInt(1, 40)));
          const verdicts = await applySome(kit, batch);
          for (const [index, command] of batch.entries()) {
            const verdict = verdicts[index];
            if (verdict?.outcome !== 'applied') continue;
            const name = `${command.profileId} ${command.key}`;
            expect(applied.has(name), `${name} was applied once`).toBe(false);
            applied.set(name, { command, sequence: verdict.sequence });
          }
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, worker));
      expect(applied.size).toBeGreaterThan(300);

      for (const profileId of profileIds) {
        const model = new LedgerModel();
        const order = [...applied.values()]
          .filter(({ command }) => command.profileId === profileId)
          .sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
        for (const { command, sequence } of order) {
          expect(model.apply(command)).toEqual({ outcome: 'applied', sequence });
        }
        const row = await kit.inTx((tx) => ledger.findLedger(tx, profileId));
        expect(String(row?.availableCapital)).toBe(String(model.available));
        expect(row?.lastSequence).toBe(model.sequence);
      }
      const { rows } = await kit.admin.query('select count(*)::int as n from ledger_entries where part = 0');
      expect(rows).toEqual([{ n: applied.size }]);
      await expectNoDivergence(kit);
    },
    TIMEOUT_MS,
  );
});

describe('a command that waited for another on its profile', () => {
  async function race(first: Step, second: Step, given: readonly Step[]): Promise<Verdict> {
    const { newProfile, inTx, admin } = await setupLedger();
    const profileId = await newProfile();
    const send = (tx: Tx, step: Step) => {
      const { kind, ...command } = step(profileId);
      return (ledger[kind] as (tx: Tx, command: object) => Promise<Verdict>)(tx, command);
    };
    for (const step of given) expect(await inTx((tx) => send(tx, step))).toMatchObject({ outcome: 'applied' });
    const { answer } = await inTx(async (tx) => {
      expect(await send(tx, first)).toMatchObject({ outcome: 'applied' });
      const waiting = inTx((other) => send(other, second));
      const isWaiting = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect((await admin.query(isWaiting)).rowCount).toBeGreaterThan(0), 10_000);
      return { answer: waiting };
    });
    const verdict = await answer;
    const [proof] = await inTx((tx) => ledger.verifyLedger(tx, profileId));
    expect(proof).toMatchObject({ problem: undefined });
    return verdict;
  }
  const open = [deposit('1000'), reserve('a', '400', { quantity: '10' })];

  it.each<[string, Step, Step, readonly Step[], unknown]>([
    ['a release of all', release('a'), release('a'), open, { code: 'trade_closed' }],
    ['a release of a part', release('a', '100'), release('a'), open, { outcome: 'applied', sequence: 4n }],
    [
      'a fill',
      fill('a', { quantity: '10', amount: '400' }),
      release('a'),
      [...open, reserve('b', '50')],
      { code: 'nothing_reserved' },
    ],
    ['a reservation', reserve('b', '500'), reserve('c', '200'), open, { code: 'insufficient_capital', detail: '100' }],
    ['the same trade', reserve('b', '5'), reserve('b', '5'), open, { code: 'trade_exists' }],
    ['the same key', deposit('5', { key: 'k' }), deposit('5', { key: 'k' }), open, { outcome: 'duplicate' }],
    ['a breach', fill('a', { quantity: '10', amount: '1100' }), withdraw('1'), open, { code: 'insufficient_capital' }],
  ])('sees what %s has done', async (_what, first, second, given, verdict) => {
    expect(await race(first, second, given)).toMatchObject(verdict as object);
  });
});

class Refused extends Error {}

describe('the bank', () => {
  it(
    'keeps its total, never goes below zero and never deadlocks',
    async () => {
      const kit = await setupLedger({ poolSize: CONNECTIONS + 2 });
      const profileIds: string[] = [];
      for (let count = 0; count < 5; count += 1) profileIds.push(await kit.newProfile());
      const deposits = profileIds.map((profileId) => ({
        ...{ kind: 'deposit' as const, profileId, key: 'start', actor: 'bank', amount: d('100') },
      }));
      await kit.inTx((tx) => applyBatch(tx, deposits));

      /** Capital goes round in a circle of profiles in random order; a refusal undoes the whole transaction. */
      const transfer = (key: string): LedgerCommand[] => {
        const amount = d(`${randomInt(1, 60)}.${randomInt(10, 99)}`);
        const chosen = shuffled(profileIds).slice(0, randomInt(2, 6));
        return shuffled(
          chosen.flatMap((profileId, index): LedgerCommand[] => [
            { kind: 'withdraw', profileId, key: `${key}-out`, actor: 'bank', amount },
            { kind: 'deposit', profileId: chosen.at(index - 1) ?? '', key: `${key}-in`, actor: 'bank', amount },
          ]),
        );
      };
      /** Capital that is reserved, filled and closed at cost on each of several profiles. */
      const trade = (key: string): LedgerCommand[] =>
        shuffled(profileIds)
          .slice(0, randomInt(1, 6))
          .flatMap((profileId): LedgerCommand[] => {
            const common = { profileId, actor: 'bank', tradeId: tradeId(`${key} ${profileId}`) };
            const [amount, quantity] = [d(`${randomInt(1, 40)}`), d('1')];
            return [
              { kind: 'reserve', ...common, key: `${key}-1`, amount, quantity, venue: 'paper', symbol: 'BTC/USD' },
              { kind: 'fill', ...common, key: `${key}-2`, amount: d('0.5'), quantity },
              { kind: 'close', ...common, key: `${key}-3`, quantity, pnl: d('0') },
            ];
          });

      const counts = { done: 0, undone: 0, sums: 0 };
      const errors: unknown[] = [];
      const writer = async (_: unknown, writerIndex: number) => {
        for (let turn = 0; turn < 30; turn += 1) {
          const isTransfer = randomInt(2) === 0;
          const key = `w${writerIndex}-${turn}`;
          await kit
            .inTx(async (tx) => {
              const verdicts = await applyBatch(tx, isTransfer ? transfer(key) : trade(key));
              if (isTransfer && verdicts.some(({ outcome }) => outcome === 'refused')) throw new Refused();
            })
            .then(
              () => (counts.done += 1),
              (error: unknown) => (error instanceof Refused ? (counts.undone += 1) : errors.push(error)),
            );
        }
      };
      let isDone = false;
      const reader = async () => {
        while (!isDone) {
          const [row] = await kit.inTx((tx) =>
            tx.query<{ total: string; allocated: string; least: string }[]>(
              `select trim_scale(sum(available_capital + reserved_for_orders + reserved_for_positions)) as total,
                      trim_scale(sum(allocated_capital)) as allocated,
                      least(min(available_capital), min(reserved_for_orders), min(reserved_for_positions)) >= 0 as least
                 from capital_ledger`,
            ),
          );
          expect(row).toEqual({ total: '500', allocated: '500', least: true });
          counts.sums += 1;
        }
      };
      const readers = [reader(), reader()];
      await Promise.all(Array.from({ length: CONNECTIONS }, writer));
      isDone = true;
      await Promise.all(readers);
      expect(errors).toEqual([]);
      expect(counts.done).toBeGreaterThan(100);
      expect(counts.sums).toBeGreaterThan(10);
      await expectNoDivergence(kit);
    },
    TIMEOUT_MS,
  );
});
