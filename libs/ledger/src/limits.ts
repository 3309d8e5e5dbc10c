import { SQLSTATE, sqlStateOf, type Tx } from '#libs/database';
import { Decimal } from '#libs/money';
import { UnknownProfile } from './ledger-rows.js';

/** What a profile may risk. A limit that is not said is none. */
export interface ProfileLimits {
  /** The largest amount that one reservation may ask for. */
  readonly orderNotionalMax?: Decimal | undefined;
  /** How many trades may hold capital at the same time. */
  readonly openPositionsMax?: number | undefined;
  /** A loss of one day (UTC) from which on no new reservation is made. */
  readonly dailyLossMax?: Decimal | undefined;
}

/** Undefined for a profile whose limits nobody ever set. */
export async function findLimits(tx: Tx, profileId: string): Promise<ProfileLimits | undefined> {
  const [row] = await tx.query<LimitsRow[]>(
    `select order_notional_max, open_positions_max, daily_loss_max from profile_limits where profile_id = $1::uuid`,
    [profileId],
  );
  return row && toLimits(row);
}

/** Replaces all limits of a profile. The next reservation is judged by them. */
export async function putLimits(tx: Tx, profileId: string, limits: ProfileLimits): Promise<ProfileLimits> {
  try {
    const [row] = await tx.query<LimitsRow[]>(
      `insert into profile_limits (profile_id, order_notional_max, open_positions_max, daily_loss_max)
       values ($1::uuid, $2::numeric, $3::int, $4::numeric)
       on conflict (profile_id) do update
          set order_notional_max = excluded.order_notional_max, open_positions_max = excluded.open_positions_max,
              daily_loss_max = excluded.daily_loss_max, updated_at = now()
       returning order_notional_max, open_positions_max, daily_loss_max`,
      [
        profileId,
        limits.orderNotionalMax?.toString() ?? null,
        limits.openPositionsMax ?? null,
        limits.dailyLossMax?.toString() ?? null,
      ],
    );
    if (!row) throw new Error('Invariant: limits that were put are there.');
    return toLimits(row);
  } catch (error) {
    throw sqlStateOf(error) === SQLSTATE.foreignKeyViolation ? new UnknownProfile(profileId, error) : error;
  }
}

interface LimitsRow {
  readonly order_notional_max: string | null;
  readonly open_positions_max: number | null;
  readonly daily_loss_max: string | null;
}

function toLimits(row: LimitsRow): ProfileLimits {
  return {
    ...(row.order_notional_max !== null && { orderNotionalMax: Decimal.parse(row.order_notional_max) }),
    ...(row.open_positions_max !== null && { openPositionsMax: row.open_positions_max }),
    ...(row.daily_loss_max !== null && { dailyLossMax: Decimal.parse(row.daily_loss_max) }),
  };
}
