import type { Tx } from '#libs/database';
import { Decimal } from '#libs/money';

/** What all trades of an account hold of a symbol together; negative when short. */
export interface NetPosition {
  readonly symbol: string;
  readonly quantity: Decimal;
}

export async function listNetPositions(tx: Tx, of: { readonly venue: string }): Promise<NetPosition[]> {
  const rows = await tx.query<{ symbol: string; quantity: string }[]>(
    `select symbol, sum(case side when 'long' then quantity else -quantity end) as quantity
       from positions where venue = $1 and quantity > 0 group by symbol order by symbol`,
    [of.venue],
  );
  return rows.map(({ symbol, quantity }) => ({ symbol, quantity: Decimal.parse(quantity) }));
}

/** What our fills brought in of an asset, or took out, since the time that is named with it. */
export interface AssetFlow {
  readonly asset: string;
  readonly amount: Decimal;
  /** All that moved in either direction; what a venue's rounding is measured by. */
  readonly turnover: Decimal;
  /** Bought or earned by fills that told no fee, which the venue may have taken all the same. */
  readonly inflowWithoutFee: Decimal;
  readonly fills: number;
}

/** By the assets that are asked about; one that nothing moved is left out. */
export async function listAssetFlows(
  tx: Tx,
  of: { readonly venue: string; readonly since: readonly { readonly asset: string; readonly at: Date }[] },
): Promise<AssetFlow[]> {
  const rows = await tx.query<FlowRow[]>(
    `with asked as (select * from unnest($2::text[], $3::timestamptz[]) as a(asset, at)),
          moved as (
            select f.recorded_at, f.fee_amount, nullif(f.fee_asset, '') as fee_asset,
                   split_part(o.symbol, '/', 1) as base, coalesce(nullif(split_part(o.symbol, '/', 2), ''), 'USD') as quote,
                   case o.side when 'buy' then f.quantity else -f.quantity end as quantity, f.price
              from fills f join orders o on o.venue = f.venue and o.order_id = f.order_id
             where f.venue = $1 and f.recorded_at > (select min(at) from asked)),
          leg as (
            select recorded_at, base as asset, quantity as amount, fee_amount = 0 as is_free, 1 as fills from moved
            union all select recorded_at, quote, -quantity * price, fee_amount = 0, 1 from moved
            union all select recorded_at, fee_asset, -fee_amount, false, 0 from moved where fee_amount > 0)
     select a.asset, sum(l.amount) as amount, sum(abs(l.amount)) as turnover,
            coalesce(sum(l.amount) filter (where l.is_free and l.amount > 0), 0) as inflow_without_fee,
            sum(l.fills)::integer as fills
       from asked a join leg l on l.asset = a.asset and l.recorded_at > a.at group by a.asset order by a.asset`,
    [of.venue, of.since.map(({ asset }) => asset), of.since.map(({ at }) => at)],
  );
  return rows.map((row) => ({
    asset: row.asset,
    amount: Decimal.parse(row.amount),
    turnover: Decimal.parse(row.turnover),
    inflowWithoutFee: Decimal.parse(row.inflow_without_fee),
    fills: row.fills,
  }));
}

interface FlowRow {
  readonly asset: string;
  readonly amount: string;
  readonly turnover: string;
  readonly inflow_without_fee: string;
  readonly fills: number;
}
