import type { Balance, CallOptions, Fill, Order, Position, Venue } from '#libs/venues';

/** What a venue says of one account, read to the last page; a part of it is never given. */
export interface VenueAccount {
  readonly openOrders: readonly Order[];
  /** Those that ended, of what was created since. */
  readonly closedOrders: readonly Order[];
  readonly positions: readonly Position[];
  readonly balances: readonly Balance[];
  /** Read last, so that whatever moved while the rest was read shows here. */
  readonly fills: readonly Fill[];
  readonly since: Date;
  readonly symbols: ReadonlySet<string>;
}

/** Throws VenueUnavailable unless every list was read whole: an empty answer is never taken for an empty account. */
export async function readVenueAccount(
  venue: Venue,
  wanted: { readonly since: Date; readonly symbols: readonly string[] },
  options: CallOptions,
): Promise<VenueAccount> {
  const openOrders = await venue.openOrders(options);
  const symbols = [...new Set([...wanted.symbols, ...openOrders.map(({ symbol }) => symbol)])].toSorted();
  const isIdle = symbols.length === 0;
  const closedOrders = isIdle ? [] : await venue.closedOrders({ since: wanted.since, symbols }, options);
  const positions = venue.capabilities.hasPositions ? await venue.positions(options) : [];
  const balances = await venue.balances(options);
  const fills = isIdle ? [] : (await venue.fills({ symbols, start: { since: wanted.since } }, options)).fills;
  return { openOrders, closedOrders, positions, balances, fills, since: wanted.since, symbols: new Set(symbols) };
}
