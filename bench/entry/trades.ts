import type { Client } from 'pg';

const CHUNK = 50_000;

/**
 * Fills the tables until they hold so many trades that came to their end, around the functions: here only the number of
 * rows matters. Each has what a real one leaves behind: two intents, two orders, two fills, five events, four entries of
 * the journal.
 */
export async function finishTrades(admin: Client, count: number, progress: (left: number) => void): Promise<void> {
  for (;;) {
    const { rows } = await admin.query<{ count: string }>(
      `select count(*) from trade_lifecycle where state = 'closed'`,
    );
    const left = count - Number(rows[0]?.count);
    if (left <= 0) break;
    progress(left);
    await admin.query('begin');
    await admin.query(CHOOSE, [Math.min(left, CHUNK)]);
    for (const sql of FILL) await admin.query(sql);
    await admin.query('commit');
  }
  await admin.query('vacuum analyze');
  await admin.query('checkpoint');
}

const CHOOSE = `
  create temporary table finished on commit drop as
  select p.profile_id, gen_random_uuid() as trade_id, p.last_sequence, row_number() over (partition by p.profile_id) as n
    from generate_series(1, $1) g
    join (select profile_id, last_sequence, row_number() over () as position from capital_ledger) p
      on p.position = 1 + g % (select count(*) from capital_ledger)`;

const ORDER_COLUMNS = `venue, symbol, side, type, time_in_force, quantity, limit_price, client_order_id, actor, lock_token,
  state, is_active, decided_at`;
const orderValues = (side: string, purpose: string): string =>
  `'paper', 'BTC/USD', '${side}', 'limit', 'gtc', 1, 40000, '${purpose}:' || trade_id, 'bench', 1, 'confirmed', false, now()`;

const FILL = [
  `insert into entry_intents (profile_id, trade_id, strategy, signal_id, amount, ${ORDER_COLUMNS})
   select profile_id, trade_id, 'bench', trade_id::text, 40000, ${orderValues('buy', 'entry')} from finished`,
  `insert into exit_intents (profile_id, trade_id, generation, left_behind, ${ORDER_COLUMNS})
   select profile_id, trade_id, 0, 0, ${orderValues('sell', 'exit')} from finished`,
  `insert into trade_lifecycle (profile_id, trade_id, venue, symbol, side, strategy, signal_id, state, ended_at)
   select profile_id, trade_id, 'paper', 'BTC/USD', 'long', 'bench', trade_id::text, 'closed', now() from finished`,
  `insert into positions (profile_id, trade_id, venue, symbol, side, entry_quantity, exit_quantity, closed_at)
   select profile_id, trade_id, 'paper', 'BTC/USD', 'long', 1, 1, now() from finished`,
  `insert into orders (venue, order_id, profile_id, trade_id, purpose, client_order_id, symbol, side, type, quantity,
     limit_price, status, filled_quantity, booked_quantity, average_price, created_at, updated_at, settled_at)
   select 'paper', purpose || '-' || trade_id, profile_id, trade_id, purpose, purpose || ':' || trade_id, 'BTC/USD', side,
          'limit', 1, 40000, 'filled', 1, 1, 40000, now(), now(), now()
     from finished, (values ('entry', 'buy'), ('exit', 'sell')) as o(purpose, side)`,
  `insert into fills (venue, order_id, fill_id, profile_id, trade_id, quantity, price, fee_amount, moved_quantity,
     moved_amount, source, happened_at)
   select 'paper', purpose || '-' || trade_id, '1', profile_id, trade_id, 1, 40000, 0, 1, 40000, 'stream', now()
     from finished, (values ('entry'), ('exit')) as o(purpose)`,
  `insert into trade_history (profile_id, trade_id, event, happened_at)
   select profile_id, trade_id, event, now()
     from finished, (values ('entry-confirmed'), ('entry-filled'), ('exit-confirmed'), ('exit-filled'), ('closed')) as e(event)`,
  `insert into reservations select profile_id, trade_id, 0, 0, 0, 0, last_sequence + 4 * n from finished`,
  `insert into ledger_entries
   select profile_id, last_sequence + 4 * (n - 1) + k, now(), now(), 0, 'reserve', 'available', 'orders', 0, trade_id, 40000,
          k || ':' || trade_id, 'bench', sha256(uuid_send(trade_id))
     from finished, generate_series(1, 4) k`,
  `update capital_ledger l set last_sequence = l.last_sequence + 4 * f.trades
     from (select profile_id, count(*) as trades from finished group by profile_id) f where f.profile_id = l.profile_id`,
];
