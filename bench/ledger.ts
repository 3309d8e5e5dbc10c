/**
 * What the ledger costs, as ratios against the bare limit: an update of one row in a function, on the same server, in
 * the same run, in turns. Absolute numbers say more about the machine than about the ledger.
 *
 *   npm run bench:ledger                         the rates, and the cost from ten thousand to a million entries
 *   npm run bench:ledger -- --entries 10000000   the same, up to ten million (takes minutes and some gigabytes)
 */
import { randomUUID } from 'node:crypto';
import { Database } from '#libs/database';
import { LedgerService } from '#libs/ledger';
import { Decimal } from '#libs/money';
import { howFar } from './how-far.ts';
import { openStage, PROFILES, type Operation, type Stage } from './ledger/stage.ts';
import { bareUpdate, inBatches, oneByOne, pick, type Where } from './ledger/workload.ts';
import { median } from './statistics.ts';

const ROUNDS = 7;
const ROUND_MS = 500;
const CONNECTIONS = [1, 8, 32];
const CALLERS = 200;
const ENTRIES_FEW = 10_000;

const entries = howFar('ledger', { name: 'entries', means: 'how many journal rows to end with', usual: 1_000_000 });

interface Measurement {
  readonly name: string;
  readonly connections: number;
  readonly operation: Operation;
}

function measurements(stage: Stage, service: LedgerService): Measurement[] {
  const places: Where[] = ['spread', 'hot'];
  return [
    ...places.flatMap((where) =>
      CONNECTIONS.map((connections) => ({
        name: `(a) bare update, ${where}, ${connections}`,
        connections,
        operation: bareUpdate(PROFILES, where),
      })),
    ),
    ...places.flatMap((where) =>
      CONNECTIONS.map((connections) => ({
        name: `(b) one per call, ${where}, ${connections}`,
        connections,
        operation: oneByOne(stage.profiles, where),
      })),
    ),
    ...places.flatMap((where) =>
      [100, 1_000].flatMap((size) =>
        (['at once', 'later'] as const).map((released) => ({
          name: `(c) ${size} a call, ${where}, released ${released}`,
          connections: 2,
          operation: inBatches(stage.profiles, where, { size, released }),
        })),
      ),
    ),
    ...places.map((where) => ({
      name: `(d) LedgerService, ${where}, ${CALLERS} callers`,
      connections: 1,
      operation: callers(service, stage.profiles, where),
    })),
  ];
}

/** Two hundred callers, each reserving and releasing one after the other, for as long as one operation takes. */
function callers(service: LedgerService, profiles: readonly string[], where: Where): Operation {
  const [amount, quantity] = [Decimal.parse('12.5'), Decimal.parse('0.5')];
  const one = async (): Promise<void> => {
    const [profileId, tradeId] = [pick(profiles, where), randomUUID()];
    const trade = { profileId, tradeId, actor: 'bench-1' };
    const verdicts = [
      await service.reserve({
        ...trade,
        key: `reserve:${tradeId}`,
        amount,
        quantity,
        venue: 'paper',
        symbol: 'BTC/USD',
      }),
      await service.release({ ...trade, key: `release:${tradeId}` }),
    ];
    if (verdicts.some(({ outcome }) => outcome !== 'applied')) throw new Error(JSON.stringify(verdicts));
  };
  const repetitions = 5;
  return async () => {
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let repetition = 0; repetition < repetitions; repetition += 1) await one();
      }),
    );
    return CALLERS * repetitions * 2;
  };
}

async function measureAll(stage: Stage, all: readonly Measurement[]): Promise<Map<string, number>> {
  const rates = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  // The first round warms up; the rounds go through all measurements in turn, so that a noisy minute falls on all.
  for (let round = 0; round <= ROUNDS; round += 1) {
    process.stderr.write(`round ${round} of ${ROUNDS}\n`);
    for (const { name, connections, operation } of all) {
      const rate = await stage.rate(connections, operation);
      if (round > 0) rates.get(name)?.push(rate);
    }
  }
  return new Map([...rates].map(([name, values]) => [name, median(values)]));
}

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(64)} ${value}\n`);
}

function printRates(rates: ReadonlyMap<string, number>): void {
  for (const [name, value] of rates) print(name, `${Math.round(value)}/s`);
  const rate = (name: string): number => rates.get(name) ?? Number.NaN;
  const bareHot = rate('(a) bare update, hot, 8');
  const ratio = (what: string, value: number, least: number): void => {
    print(`${what} (at least ${least})`, `${value.toFixed(2)} ${value >= least ? '' : 'MISSED'}`);
  };
  for (const connections of CONNECTIONS) {
    const pair = ['(b) one per call', '(a) bare update'].map((what) => rate(`${what}, spread, ${connections}`));
    ratio(`(b) / (a), spread, ${connections}`, (pair[0] ?? Number.NaN) / (pair[1] ?? Number.NaN), 0.5);
  }
  ratio('(c) 1000 a call, hot / (a) hot, 8', rate('(c) 1000 a call, hot, released at once') / bareHot, 15);
  for (const what of ['1000 a call, hot, released later', '100 a call, hot, released at once']) {
    print(`(c) ${what} / (a) hot, 8`, (rate(`(c) ${what}`) / bareHot).toFixed(2));
  }
  ratio('(d) hot / (a) hot, 8 connections', rate(`(d) LedgerService, hot, ${CALLERS} callers`) / bareHot, 5);
}

async function printBytes(stage: Stage): Promise<void> {
  await stage.admin.query('vacuum analyze ledger_entries');
  const { rows } = await stage.admin.query<{ table: number; indexes: number; hot: number }>(`
    select (pg_table_size('ledger_entries') / count(*))::int as table,
           (pg_indexes_size('ledger_entries') / count(*))::int as indexes,
           (select (100 * n_tup_hot_upd / greatest(n_tup_upd, 1))::int from pg_stat_user_tables
             where relname = 'capital_ledger') as hot
      from ledger_entries`);
  const { table = Number.NaN, indexes = Number.NaN, hot = Number.NaN } = rows[0] ?? {};
  print('bytes per journal row, with its indexes (at most 300)', `${table + indexes} (${table} + ${indexes})`);
  print('updates of ledger rows that stayed in their page', `${hot} %`);
}

/** Fills the journal as fast as the server can, around the functions: only the number of rows matters here. */
async function fillJournal(stage: Stage, entries: number): Promise<void> {
  const chunk = 200_000;
  for (;;) {
    const { rows } = await stage.admin.query<{ count: string }>('select count(*) from ledger_entries');
    const missing = entries - Number(rows[0]?.count);
    if (missing <= 0) break;
    process.stderr.write(`${missing} entries to go\n`);
    const each = Math.max(1, Math.ceil(Math.min(missing, chunk) / PROFILES));
    await stage.admin.query(`
      with more as (
        select l.profile_id, l.last_sequence + n as sequence, gen_random_uuid() as trade_id
          from capital_ledger l, generate_series(1, ${each}) n),
      trades as (
        insert into reservations select profile_id, trade_id, 0, 0, 0, 0, sequence from more where sequence % 2 = 0)
      insert into ledger_entries
      select profile_id, sequence, now(), now(), 0, 'reserve', 'available', 'orders', 0, trade_id, 12.5,
             'reserve:' || trade_id, 'bench-1', sha256(uuid_send(trade_id))
        from more`);
    await stage.admin.query(`
      update capital_ledger l set last_sequence = l.last_sequence + ${each}`);
  }
  await stage.admin.query('vacuum analyze');
  await stage.admin.query('checkpoint');
}

async function printGrowth(stage: Stage, entries: number): Promise<void> {
  const operation = inBatches(stage.profiles, 'spread', { size: 100, released: 'later' });
  const costs: number[] = [];
  for (const rows of [ENTRIES_FEW, entries]) {
    await fillJournal(stage, rows);
    const rates: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const bare = await stage.rate(2, bareUpdate(PROFILES, 'spread'));
      const ledger = await stage.rate(2, operation);
      if (round > 0) rates.push(bare / ledger);
    }
    costs.push(median(rates));
    print(`cost of a command with ${rows} entries, in bare updates`, (costs.at(-1) ?? Number.NaN).toFixed(3));
  }
  const [few = Number.NaN, many = Number.NaN] = costs;
  print(`cost with ${entries} entries / with ${ENTRIES_FEW} (flat)`, (many / few).toFixed(2));
}

async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await openStage({ connectionsMax: Math.max(...CONNECTIONS), roundMs: ROUND_MS });
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

await onStage(async (stage) => {
  print('one page written and synced', `${stage.fsyncMs.toFixed(2)} ms`);
  const database = await Database.open(
    {
      url: stage.url,
      applicationName: 'bench',
      poolSize: 4,
      connectTimeoutMs: 10_000,
      statementTimeoutMs: 30_000,
      lockTimeoutMs: 30_000,
    },
    { lost: () => undefined },
  );
  const service = new LedgerService(database);
  printRates(await measureAll(stage, measurements(stage, service)));
  await service.stop();
  await database.close();
  await printBytes(stage);
});
await onStage((stage) => printGrowth(stage, entries));
