import { Decimal } from '#libs/money';
import type { Balance } from '../engine/balances.js';
import { INSTRUMENTS, type Instrument } from '../market/instruments.js';
import type { Venue } from '../venue.js';
import { assetClass, assetId } from './order-json.js';

const DAY_MS = 86_400_000;
const PRICE_SCALE = 9;
const RATIO_SCALE = 6;

type Json = Record<string, unknown>;

interface Holding {
  readonly instrument: Instrument;
  readonly balance: Balance;
}

/** What is held of anything but money. */
export function holdingsOf(venue: Venue): Holding[] {
  return INSTRUMENTS.map((instrument) => ({
    instrument,
    balance: venue.parts.engine.balances.of(instrument.base),
  })).filter(({ balance }) => balance.free.plus(balance.locked).isPositive());
}

export function accountJson(venue: Venue): Json {
  const { free, locked } = venue.parts.engine.balances.of('USD');
  const cash = free.plus(locked);
  const value = holdingsOf(venue).reduce((sum, holding) => sum.plus(valueOf(holding, venue)), Decimal.zero);
  const equity = cash.plus(value).toString();
  const [spendable, worth] = [free.toString(), value.toString()];
  return {
    id: venue.parts.identifiers.uuid('account', 1),
    account_number: 'PAPER0001',
    status: 'ACTIVE',
    crypto_status: 'ACTIVE',
    currency: 'USD',
    cash: cash.toString(),
    buying_power: spendable,
    regt_buying_power: spendable,
    daytrading_buying_power: '0',
    effective_buying_power: spendable,
    non_marginable_buying_power: spendable,
    options_buying_power: '0',
    portfolio_value: equity,
    equity,
    last_equity: equity,
    long_market_value: worth,
    short_market_value: '0',
    position_market_value: worth,
    initial_margin: '0',
    maintenance_margin: '0',
    last_maintenance_margin: '0',
    sma: '0',
    multiplier: '1',
    accrued_fees: '0',
    daytrade_count: 0,
    pattern_day_trader: false,
    trading_blocked: false,
    transfers_blocked: false,
    account_blocked: false,
    shorting_enabled: false,
    trade_suspended_by_user: false,
    created_at: '2026-01-01T00:00:00Z',
  };
}

export function positionJson(holding: Holding, venue: Venue): Json {
  const { instrument, balance } = holding;
  const quantity = balance.free.plus(balance.locked);
  const price = venue.quote(instrument).last;
  const yesterday = venue.parts.market.quote(instrument, venue.parts.clock.now() - DAY_MS).last;
  const profit = valueOf(holding, venue).minus(balance.cost);
  const ratio = ratioOf(profit, balance.cost).toString();
  return {
    asset_id: assetId(venue.parts.identifiers, instrument),
    // Alpaca writes orders with a slash and positions without.
    symbol: instrument.names.alpaca.replace('/', ''),
    exchange: exchangeOf(instrument),
    asset_class: assetClass(instrument),
    asset_marginable: false,
    qty: quantity.toString(),
    qty_available: balance.free.toString(),
    avg_entry_price: balance.cost.dividedBy(quantity, { scale: PRICE_SCALE, rounding: 'half-even' }).toString(),
    side: 'long',
    market_value: valueOf(holding, venue).toString(),
    cost_basis: balance.cost.toString(),
    unrealized_pl: profit.toString(),
    unrealized_plpc: ratio,
    unrealized_intraday_pl: profit.toString(),
    unrealized_intraday_plpc: ratio,
    current_price: price.toString(),
    lastday_price: yesterday.toString(),
    change_today: ratioOf(price.minus(yesterday), yesterday).toString(),
  };
}

export function assetJson(instrument: Instrument, venue: Venue): Json {
  const { quantityStep, priceTick } = instrument.rules.alpaca;
  return {
    id: assetId(venue.parts.identifiers, instrument),
    class: assetClass(instrument),
    exchange: exchangeOf(instrument),
    symbol: instrument.names.alpaca,
    name: instrument.names.alpaca,
    status: 'active',
    tradable: true,
    marginable: false,
    shortable: false,
    easy_to_borrow: false,
    fractionable: true,
    min_order_size: quantityStep.toString(),
    min_trade_increment: quantityStep.toString(),
    price_increment: priceTick.toString(),
  };
}

function exchangeOf({ kind }: Instrument): string {
  return kind === 'crypto' ? 'CRYPTO' : 'NASDAQ';
}

function valueOf({ instrument, balance }: Holding, venue: Venue): Decimal {
  return balance.free.plus(balance.locked).times(venue.quote(instrument).last);
}

function ratioOf(part: Decimal, whole: Decimal): Decimal {
  return whole.isZero() ? Decimal.zero : part.dividedBy(whole, { scale: RATIO_SCALE, rounding: 'half-even' });
}
