import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '#libs/database';
import { LedgerService, LedgerUnavailable, verifyLedger, type LedgerCommand, type Verdict } from '#libs/ledger';
import { Decimal } from '#libs/money';
import { startKillablePostgres } from './harness/killable-servers.js';

const PROFILES = 4;
const CALLERS = 24;
const CRASHES = 3;
/** Acknowledged commands between two crashes. */
const COMMANDS_PER_CRASH = 1_500;

/** Everything of the product is asked again with the same keys; this is what we ourselves remember. */
interface Sent {
  readonly command: LedgerCommand;
  verdict?: Verdict;
}

async function setup() {
  const { url, kill: crash, restart: startAgain } = await startKillablePostgres();
  const database = await Database.open(
    {
      ...{ url, applicationName: 'crash test', poolSize: 4 },
      ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
    },
    { lost: () => undefined },
  );
  onTestFinished(() => database.close());
  const service = new LedgerService(database);
  const profileIds = Array.from({ length: PROFILES }, () => randomUUID());
  await database.transaction((tx) =>
    tx.query(`insert into profiles (profile_id, name, owner_id) select unnest($1::uuid[]), 'p', 'alice'`, [profileIds]),
  );
  for (const profileId of profileIds) await service.openLedger(profileId);
  /** Resolves when a batch waits for this profile, held up by a transaction that only the crash will end. */
  const keepWaiting = async (profileId: string) => {
    const [holder, watcher] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
    for (const client of [holder, watcher]) {
      client.on('error', () => undefined);
      await client.connect();
    }
    await holder.query('begin; set local role flotilla_owner');
    await holder.query('select from capital_ledger where profile_id = $1 for update', [profileId]);
    const isWaiting = async () => {
      const { rows } = await watcher.query(`select from pg_stat_activity where wait_event_type = 'Lock'`);
      return rows.length > 0;
    };
    await vi.waitUntil(isWaiting, { timeout: 30_000, interval: 5 });
  };
  const restart = async () => {
    await startAgain();
    await vi.waitUntil(
      () =>
        database.ping().then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    );
  };
  return { url, database, service, profileIds, keepWaiting, crash, restart };
}

/** Deposits, and reservations that always find their capital: whatever is sent is to be applied, once. */
function newCommand(profileId: string, count: number): LedgerCommand {
  const common = { profileId, key: `c${count}`, actor: 'load' };
  if (count % 3 > 0) return { kind: 'deposit', ...common, amount: Decimal.fromInteger(BigInt(10 + (count % 7))) };
  const one = Decimal.fromInteger(1n);
  const trade = { tradeId: randomUUID(), amount: one, quantity: one, venue: 'paper', symbol: 'BTC/USD' };
  return { kind: 'reserve', ...common, ...trade };
}

it('what was acknowledged survives a crash of Postgres in mid load, and what was not is applied once when sent again', async () => {
  const { url, database, service, profileIds, keepWaiting, crash, restart } = await setup();
  const start = await service.applyBatch(
    profileIds.map((profileId) => ({
      ...{ kind: 'deposit', profileId, key: 'start', actor: 'load', amount: Decimal.fromInteger(1_000_000n) },
    })),
  );
  expect(start.every(({ outcome }) => outcome === 'applied')).toBe(true);
  const sent: Sent[] = [];

  for (let round = 1; round <= CRASHES; round += 1) {
    const before = sent.filter(({ verdict }) => verdict).length;
    let acknowledged = 0;
    let isCrashed = false;
    const caller = async () => {
      while (!isCrashed) {
        const entry: Sent = { command: newCommand(profileIds[sent.length % PROFILES] ?? '', sent.length) };
        sent.push(entry);
        try {
          entry.verdict = await service.apply(entry.command);
        } catch (error) {
          expect(error).toBeInstanceOf(LedgerUnavailable);
          return;
        }
        acknowledged += 1;
      }
    };
    const crashing = async () => {
      await vi.waitUntil(() => acknowledged >= COMMANDS_PER_CRASH, { timeout: 30_000, interval: 5 });
      await keepWaiting(profileIds[0] ?? '');
      crash();
      isCrashed = true;
    };
    await Promise.all([crashing(), ...Array.from({ length: CALLERS }, caller)]);
    await restart();

    const inDoubt = sent.filter(({ verdict }) => !verdict);
    expect(inDoubt.length).toBeGreaterThan(0);
    expect(sent.length - inDoubt.length - before).toBeGreaterThanOrEqual(COMMANDS_PER_CRASH);
    expect(await divergences(url, sent)).toEqual([]);
    expect((await database.transaction((tx) => verifyLedger(tx))).map(({ problem }) => problem)).toEqual(
      profileIds.map(() => undefined),
    );
    for (const entry of inDoubt) entry.verdict = await service.apply(entry.command);
    expect(await divergences(url, sent)).toEqual([]);
  }
  expect(sent.every(({ verdict }) => verdict?.outcome === 'applied' || verdict?.outcome === 'duplicate')).toBe(true);

  // Every command exactly once: no more entries than commands, and the sums of what was sent.
  const rows = await database.transaction((tx) =>
    tx.query<{ entries: number; allocated: string; orders: string }[]>(
      `select (select count(*)::int from ledger_entries) as entries, trim_scale(sum(allocated_capital)) as allocated,
              trim_scale(sum(reserved_for_orders)) as orders from capital_ledger`,
    ),
  );
  const sumOf = (kind: LedgerCommand['kind']) =>
    sent.reduce(
      (sum, { command }) => (command.kind === kind ? sum.plus((command as { amount: Decimal }).amount) : sum),
      Decimal.zero,
    );
  const allocated = sumOf('deposit').plus(Decimal.fromInteger(BigInt(PROFILES) * 1_000_000n));
  expect(rows).toEqual([
    { entries: sent.length + PROFILES, allocated: String(allocated), orders: String(sumOf('reserve')) },
  ]);
  expect((await database.transaction((tx) => verifyLedger(tx))).every(({ problem }) => problem === undefined)).toBe(
    true,
  );
  await service.stop();
}, 180_000);

/** Acknowledged commands that are not in the journal at the place that was acknowledged, and keys that are there twice. */
async function divergences(url: string, sent: readonly Sent[]): Promise<string[]> {
  const client = new Client({ connectionString: url, options: '-c role=flotilla_app' });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; sequences: string[] }>(
      `select profile_id || ' ' || idempotency_key as name, array_agg(sequence::text) as sequences
         from ledger_entries group by profile_id, idempotency_key`,
    );
    const journal = new Map(rows.map(({ name, sequences }) => [name, sequences.join()]));
    const twice = rows.filter(({ sequences }) => sequences.length > 1).map(({ name }) => `${name} is there twice`);
    const lost = sent.flatMap(({ command, verdict }) => {
      const name = `${command.profileId} ${command.key}`;
      if (!verdict) return [];
      const sequence = verdict.outcome === 'refused' ? 'nowhere' : String(verdict.sequence);
      return journal.get(name) === sequence
        ? []
        : [`${name} was acknowledged at ${sequence}, is at ${journal.get(name)}`];
    });
    return [...twice, ...lost];
  } finally {
    await client.end();
  }
}
