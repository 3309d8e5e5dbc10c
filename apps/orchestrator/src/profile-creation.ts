import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Tx } from '#libs/database';
import { deposit, openLedger, putLimits } from '#libs/ledger';
import { Decimal } from '#libs/money';
import {
  actorOf,
  createProfile,
  findFirstAct,
  isStoredAsGiven,
  ProfileIdTaken,
  recordAct,
  TenantId,
  type Principal,
  type Profile,
} from '#libs/tenancy';
import { Amount } from './amount.js';
import { limitsAnswer, LimitsBody, limitsOf } from './profile-limits.js';
import { assertMoved } from './profile-problems.js';

const OPENING_KEY = 'opening';
const ACTION = 'profile.create';

export const NewProfile = z.strictObject({
  id: z.guid().toLowerCase().optional().describe('choose one to be able to send the request again without harm'),
  name: z
    .string()
    .max(100)
    .refine((name) => name.trim() !== '' && isStoredAsGiven(name), { error: 'expected a readable name' })
    .meta({ examples: ['Alice, main account'] }),
  ownerId: TenantId.describe('the tenant that it belongs to: the "sub" of its tokens'),
  allocatedCapital: Amount.describe('the opening deposit; "0" for none'),
  limits: LimitsBody.optional(),
});
export type NewProfile = z.infer<typeof NewProfile>;

/** A profile with its ledger, its opening deposit, its limits and the record of all this; or nothing of it. */
export async function makeProfile(
  tx: Tx,
  body: NewProfile,
  principal: Principal,
): Promise<{ profile: Profile; isNew: boolean }> {
  const { id, name, ownerId } = body;
  const { profile, isNew } = await createProfile(tx, { id, name, ownerId });
  const amount = Decimal.parse(body.allocatedCapital);
  const limits = body.limits && limitsOf(body.limits);
  const detail = { name, ownerId, allocatedCapital: amount.toString(), limits: limitsAnswer(limits) };
  if (!isNew) {
    await assertMadeOf(tx, profile, detail);
    return { profile, isNew };
  }
  const actor = actorOf(principal);
  await openLedger(tx, profile.id);
  if (!amount.isZero()) {
    assertMoved(await deposit(tx, { profileId: profile.id, key: OPENING_KEY, actor, amount }), profile.id);
  }
  if (limits) await putLimits(tx, profile.id, limits);
  await recordAct(tx, { actor, action: ACTION, profileId: profile.id, subject: profile.id, detail });
  return { profile, isNew };
}

/** Capital and limits may have changed since; what the profile was made of stands in the audit log. */
async function assertMadeOf(tx: Tx, profile: Profile, detail: Record<string, unknown>): Promise<void> {
  const made = await findFirstAct(tx, { profileId: profile.id, action: ACTION });
  if (!isDeepStrictEqual(made?.detail, detail)) throw new ProfileIdTaken(profile.id);
}
