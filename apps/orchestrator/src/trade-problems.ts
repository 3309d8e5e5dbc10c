import { z } from 'zod';
import type { Tx } from '#libs/database';
import { Refusal } from '#libs/http';
import { findTrade, UnknownTrade, type Trade, type TradeRef } from '#libs/lifecycle';
import type { Principal } from '#libs/tenancy';
import { UnknownVenue } from '#libs/venues';
import { getProfile } from './profile-problems.js';

const UUID = z.guid();

export const PROBLEMS_OF_TRADES = {
  404: '`unknown_profile`: there is no such profile, or it is not yours · `unknown_trade`: it has no such trade',
  422: '`unknown_venue`: no venue of this name is configured',
};

export const PROBLEMS_OF_DECISIONS = {
  400: 'a field is missing, unknown or unreadable: "errors" names each',
  403: '`admin_only`: the trade is yours, but this is for an admin to decide',
};

/** For what neither a venue nor our books can decide; asked after the trade was found, which others may not learn of. */
export function assertAdmin({ kind }: Principal): void {
  if (kind !== 'admin') {
    throw new Refusal(403, 'admin_only', 'Only an admin decides what venue and books leave open; ask one.');
  }
}

/** The trade of a profile that the caller may see. */
export async function getTrade(tx: Tx, { profileId: id, tradeId }: TradeRef): Promise<Trade> {
  const { id: profileId } = await getProfile(tx, id);
  const trade = UUID.safeParse(tradeId).success ? await findTrade(tx, { profileId, tradeId }) : undefined;
  if (!trade) throw unknownTrade({ profileId, tradeId });
  return trade;
}

/** Does something with a trade at its venue; what the caller named wrongly becomes a problem of the request. */
export async function withVenue<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownVenue) throw new Refusal(422, 'unknown_venue', error.message);
    if (error instanceof UnknownTrade) throw unknownTrade(error.ref);
    throw error;
  }
}

function unknownTrade({ profileId, tradeId }: TradeRef): Refusal {
  return new Refusal(
    404,
    'unknown_trade',
    `There is no trade ${JSON.stringify(tradeId)}. GET /api/profiles/${profileId}/trades lists those of the profile.`,
  );
}
