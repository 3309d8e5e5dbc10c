/** What is asked of the ledger: reserve a little for a new trade, and release it again. */
import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Operation } from './stage.ts';

const ACTOR = 'bench-1';
const ORDER = { amount: '12.5', quantity: '0.5', venue: 'paper', symbol: 'BTC/USD' };

export type Where = 'spread' | 'hot';

export function bareUpdate(rows: number, where: Where): Operation {
  return async (client) => {
    const id = where === 'hot' ? 1 : randomInt(1, rows + 1);
    await client.query({ name: 'bare', text: 'select bare_update($1)', values: [id] });
    return 1;
  };
}

/** (b): a call for each command. */
export function oneByOne(profiles: readonly string[], where: Where): Operation {
  return async (client) => {
    const profile = pick(profiles, where);
    const trade = randomUUID();
    const { amount, quantity, venue, symbol } = ORDER;
    await expectApplied(client, {
      name: 'reserve',
      text: 'select (f).verdict from (select fn_ledger_reserve($1, $2, $3, $4, $5, $6, $7, $8) as f) x',
      values: [profile, `reserve:${trade}`, trade, amount, quantity, venue, symbol, ACTOR],
    });
    await expectApplied(client, {
      name: 'release',
      text: 'select (f).verdict from (select fn_ledger_release($1, $2, $3, $4) as f) x',
      values: [profile, `release:${trade}`, trade, ACTOR],
    });
    return 2;
  };
}

/** (c): a call with many commands, each trade reserved and then released; or first a call with all reservations. */
export function inBatches(
  profiles: readonly string[],
  where: Where,
  { size, released }: { size: number; released: 'at once' | 'later' },
): Operation {
  return async (client) => {
    const count = released === 'at once' ? size / 2 : size;
    const trades = Array.from({ length: count }, () => ({ profile: pick(profiles, where), trade: randomUUID() }));
    if (released === 'at once') {
      await applyBatch(
        client,
        trades.map((trade) => `${reservation(trade)},${release(trade)}`),
      );
    } else {
      await applyBatch(client, trades.map(reservation));
      await applyBatch(client, trades.map(release));
    }
    return 2 * count;
  };
}

// Written as text, because the bench should cost little beside what it measures.
function reservation({ profile, trade }: { profile: string; trade: string }): string {
  const { amount, quantity, venue, symbol } = ORDER;
  return `{"kind":"reserve","profileId":"${profile}","tradeId":"${trade}","key":"reserve:${trade}","actor":"${ACTOR}","amount":"${amount}","quantity":"${quantity}","venue":"${venue}","symbol":"${symbol}"}`;
}

function release({ profile, trade }: { profile: string; trade: string }): string {
  return `{"kind":"release","profileId":"${profile}","tradeId":"${trade}","key":"release:${trade}","actor":"${ACTOR}"}`;
}

export function pick(profiles: readonly string[], where: Where): string {
  return profiles[where === 'hot' ? 0 : randomInt(profiles.length)] ?? '';
}

async function applyBatch(client: Client, commands: readonly string[]): Promise<void> {
  await expectApplied(client, {
    name: 'batch',
    text: 'select verdict from fn_ledger_apply_batch($1::jsonb)',
    values: [`[${commands.join(',')}]`],
  });
}

async function expectApplied(client: Client, query: { name: string; text: string; values: unknown[] }): Promise<void> {
  const { rows } = await client.query<{ verdict: string }>(query);
  const refused = rows.find(({ verdict }) => verdict !== 'applied');
  if (refused) throw new Error(`The ledger refused a command of the bench: ${JSON.stringify(refused)}`);
}
