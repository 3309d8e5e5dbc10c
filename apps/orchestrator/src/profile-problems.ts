import { z } from 'zod';
import type { Tx } from '#libs/database';
import { Refusal } from '#libs/http';
import { explainRefusal, type RefusalCode, type Verdict } from '#libs/ledger';
import { findProfile, type Profile } from '#libs/tenancy';

const UUID = z.guid();

/** The one answer for a profile that is not there, and for one that is not the caller's: nothing tells them apart. */
export function unknownProfile(id: string): Refusal {
  return new Refusal(
    404,
    'unknown_profile',
    `There is no profile ${JSON.stringify(id)}. GET /api/profiles lists those that you may see.`,
  );
}

/** Which profiles there are for whoever asks, the database decides. */
export async function getProfile(tx: Tx, id: string): Promise<Profile> {
  const profile = UUID.safeParse(id).success ? await findProfile(tx, id) : undefined;
  if (!profile) throw unknownProfile(id);
  return profile;
}

/** What the request says may be right at another time, or never. */
const CONFLICTS: readonly RefusalCode[] = ['key_reused', 'insufficient_capital'];
const FAULTS: readonly RefusalCode[] = [
  'amount_not_positive',
  'amount_too_large',
  'amount_too_precise',
  'amount_not_finite',
];

export const REFUSALS_OF_MOVES = {
  400: 'a field is missing, unknown or unreadable: "errors" names each',
  404: '`unknown_profile`: there is no such profile, or it is not yours',
  409: '`key_reused`: the key belongs to another command · `insufficient_capital`: a withdrawal of more than is available',
  422: '`amount_not_positive` · `amount_too_large`: 10^20 or more · `amount_too_precise`: more than 18 decimals',
};

/** A verdict that moved capital, or did before. */
export type Movement = Exclude<Verdict, { outcome: 'refused' }>;

export function assertMoved(verdict: Verdict, profileId: string): asserts verdict is Movement {
  if (verdict.outcome !== 'refused') return;
  const { code, detail } = verdict;
  if (code === 'unknown_profile') throw unknownProfile(profileId);
  if (CONFLICTS.includes(code)) throw new Refusal(409, code, explainRefusal(code, detail));
  if (FAULTS.includes(code)) throw new Refusal(422, code, explainRefusal(code, detail));
  throw new Refusal(400, code, explainRefusal(code, detail));
}
