import type { Database } from '#libs/database';
import { DEMONSTRATION_PROFILE } from '#libs/fleet';
import { makeProfile } from './profile-creation.js';

/** The profile of the demonstration, with paper money of its own. Made once, whatever became of it since. */
export async function fundDemonstration(database: Database): Promise<void> {
  const body = {
    id: DEMONSTRATION_PROFILE,
    name: 'Demonstration (paper money)',
    ownerId: 'demonstration',
    allocatedCapital: '10000',
  };
  await database.transaction((tx) => makeProfile(tx, body, { kind: 'admin' }));
}
