import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '#libs/money';
import { REFUSAL_CODES } from '../index.js';
import { inputFault } from './input-fault.js';
import { setupLedger, snapshotOf } from './testing/setup.js';

type Raw = Record<string, unknown>;

async function setup() {
  const { admin, newProfile } = await setupLedger();
  const profileId = await newProfile();
  const batch = async (commands: Raw[]) =>
    (
      await admin.query<{ verdict: string; detail: string | null }>(
        'select verdict, detail from fn_ledger_apply_batch($1) order by ordinal',
        [JSON.stringify(commands)],
      )
    ).rows;
  return { admin, profileId, batch };
}

describe('the database itself', () => {
  const trade = { tradeId: randomUUID(), venue: 'paper', symbol: 'BTC/USD', quantity: '1' };
  it.each<[string, Raw, string, string | null]>([
    ['NaN', { kind: 'deposit', amount: 'NaN' }, 'amount_not_finite', 'amount'],
    ['infinity', { kind: 'deposit', amount: 'Infinity' }, 'amount_not_finite', 'amount'],
    ['minus infinity', { kind: 'deposit', amount: '-Infinity' }, 'amount_not_finite', 'amount'],
    ['a quantity of NaN', { kind: 'reserve', ...trade, amount: '1', quantity: 'NaN' }, 'amount_not_finite', 'quantity'],
    [
      'a fee of NaN',
      { kind: 'fill', tradeId: trade.tradeId, amount: '1', quantity: '1', fee: 'NaN' },
      'amount_not_finite',
      'fee',
    ],
    ['a negative amount', { kind: 'deposit', amount: '-1' }, 'amount_not_positive', 'amount'],
    ['zero', { kind: 'withdraw', amount: '0' }, 'amount_not_positive', 'amount'],
    ['40 digits', { kind: 'deposit', amount: '9'.repeat(40) }, 'amount_too_large', 'amount'],
    ['10^20', { kind: 'deposit', amount: '1e20' }, 'amount_too_large', 'amount'],
    ['19 decimals', { kind: 'deposit', amount: '1.0000000000000000001' }, 'amount_too_precise', 'amount'],
    ['no amount', { kind: 'deposit' }, 'field_missing', 'amount'],
    ['no trade', { kind: 'release' }, 'field_missing', 'tradeId'],
    ['no venue', { kind: 'reserve', ...trade, amount: '1', venue: '' }, 'field_missing', 'venue'],
    ['no symbol', { kind: 'reserve', ...trade, amount: '1', symbol: null }, 'field_missing', 'symbol'],
    ['a quantity too many', { kind: 'deposit', amount: '1', quantity: '1' }, 'field_not_wanted', 'quantity'],
    ['a trade too many', { kind: 'deposit', amount: '1', tradeId: trade.tradeId }, 'field_not_wanted', 'tradeId'],
    ['an unknown command', { kind: 'steal', amount: '1' }, 'unknown_command', 'steal'],
    ['no command', { amount: '1' }, 'unknown_command', null],
    ['no key', { kind: 'deposit', amount: '1', key: null }, 'invalid_key', null],
    ['a key with a backslash', { kind: 'deposit', amount: '1', key: 'a\\x' }, 'invalid_key', null],
    ['a key in other letters', { kind: 'deposit', amount: '1', key: 'ключ' }, 'invalid_key', null],
    ['a moment without end', { kind: 'deposit', amount: '1', happenedAt: 'infinity' }, 'invalid_time', 'happenedAt'],
    ['no actor', { kind: 'deposit', amount: '1', actor: null }, 'invalid_actor', null],
    ['no profile', { kind: 'deposit', amount: '1', profileId: null }, 'unknown_profile', null],
  ])(
    'refuses %s, changes nothing, and lets the neighbours of the command pass',
    async (_name, raw, verdict, detail) => {
      const { admin, profileId, batch } = await setup();
      const command = { profileId, key: 'k', actor: 'tests', ...raw };
      const before = await snapshotOf(admin);
      expect(await batch([command])).toEqual([{ verdict, detail }]);
      expect(await snapshotOf(admin)).toEqual(before);
      const good = (key: string) => ({ kind: 'deposit', profileId, key, actor: 'tests', amount: '1' });
      const verdicts = await batch([good('before'), command, good('after')]);
      expect(verdicts.map((each) => each.verdict)).toEqual(['applied', verdict, 'applied']);
    },
  );

  it('gives a batch without commands no verdicts', async () => {
    const { batch } = await setup();
    expect(await batch([])).toEqual([]);
  });

  it('knows the same refusals as the table that explains them', async () => {
    const { admin } = await setup();
    const { rows } = await admin.query<{ source: string }>(
      `select prosrc as source from pg_proc where pronamespace = 'public'::regnamespace and prorettype in (
         'ledger_verdict'::regtype, (select prorettype from pg_proc where proname = 'fn_ledger_input_fault'))`,
    );
    const source = rows.map((row) => row.source).join('\n');
    const said = [...source.matchAll(/(?:verdict := |then |else |row \(1, )'([a-z]+(?:_[a-z]+)*)'/g)].map(
      ([, code]) => code,
    );
    const codes = new Set(said.filter((code) => code !== 'applied' && code !== 'duplicate'));
    expect([...codes].sort()).toEqual([...REFUSAL_CODES].sort());
  });
});

describe('what is refused before it is sent', () => {
  const decimals = fc
    .oneof(
      fc.bigInt({ min: -(10n ** 3n), max: 10n ** 3n }),
      fc.bigInt({ min: -(10n ** 42n), max: 10n ** 42n }),
      fc.constantFrom(0n, 10n ** 39n, 10n ** 39n - 1n, -(10n ** 39n), 10n ** 19n),
    )
    .chain((units) => fc.constantFrom(0, 1, 18, 19).map((scale) => [units, scale] as const))
    .map(([units, scale]) =>
      Decimal.fromInteger(units).dividedBy(Decimal.fromInteger(10n ** BigInt(scale)), { scale: 24, rounding: 'down' }),
    );
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const texts = fc.constantFrom('k', '', 'a b', 'k'.repeat(100), 'k'.repeat(101), 'a|b', 'a@b', 'a\\', 'é', 'a\n');
  const trades = fc.constantFrom(randomUUID(), randomUUID());
  const names = fc.constantFrom('paper', '', 'BTC/USD');
  const common = { key: texts, actor: texts };
  const commands = fc.oneof(
    fc.record({ kind: fc.constantFrom('deposit', 'withdraw'), ...common, amount: decimals }),
    fc.record({
      kind: fc.constant('reserve'),
      ...common,
      ...{ tradeId: trades, amount: decimals, quantity: decimals, venue: names, symbol: names },
    }),
    fc.record({ kind: fc.constant('release'), ...common, tradeId: trades, amount: optional(decimals) }),
    fc.record({
      kind: fc.constant('fill'),
      ...common,
      ...{ tradeId: trades, amount: decimals, quantity: decimals, fee: optional(decimals) },
    }),
    fc.record({
      kind: fc.constant('close'),
      ...common,
      ...{ tradeId: trades, quantity: decimals, pnl: decimals, fee: optional(decimals) },
    }),
  );

  it('is what the database would refuse, for the same reason', async () => {
    const { admin, profileId } = await setup();
    const sample = fc.sample(commands, 4_000).map((command) => ({ ...command, profileId }));
    const { rows } = await admin.query<{ verdict: string | null; detail: string | null }>(
      `select f.verdict, f.detail
         from jsonb_array_elements($1::jsonb) with ordinality as c(command, position),
              jsonb_to_record(c.command) as r(kind text, "tradeId" uuid, key text, actor text, amount numeric,
                quantity numeric, fee numeric, pnl numeric, venue text, symbol text),
              fn_ledger_input_fault(jsonb_populate_record(null::ledger_task, jsonb_build_object('kind', r.kind,
                'trade_id', r."tradeId", 'key', r.key, 'actor', r.actor, 'amount', r.amount, 'quantity', r.quantity,
                'fee', r.fee, 'pnl', r.pnl, 'venue', r.venue, 'symbol', r.symbol))) f
        order by c.position`,
      [JSON.stringify(sample)],
    );
    const seen = new Set<string>();
    for (const [index, command] of sample.entries()) {
      const fault = inputFault(command);
      const said = fault?.outcome === 'refused' ? { verdict: fault.code, detail: fault.detail ?? null } : undefined;
      expect({ command, said: said ?? { verdict: null, detail: null } }).toEqual({ command, said: rows[index] });
      seen.add(said?.verdict ?? 'clean');
    }
    expect(seen.size).toBeGreaterThanOrEqual(6);
  });
});
