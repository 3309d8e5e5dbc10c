/**
 * A process that takes an entry lock and writes under it, as a worker would. Told by lines: "acquire <ttlMs>" and
 * "write <tradeId> <token>". It can be stopped between the two, like any process.
 */
import { createInterface } from 'node:readline';
import { Database } from '#libs/database';
import { reserve } from '#libs/ledger';
import { EntryLocks } from '#libs/locks';
import { Decimal } from '#libs/money';

const [url = '', profileId = '', symbol = ''] = process.argv.slice(2);
const database = await Database.open(
  {
    ...{ url, applicationName: 'entry writer', poolSize: 2 },
    ...{ connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 },
  },
  { lost: () => undefined },
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [word, first = '', second = ''] = line.split(' ');
  if (word === 'acquire') {
    const lock = await new EntryLocks(database, { ttlMs: Number(first) }).tryAcquire({ profileId, symbol });
    say(`acquired ${lock ? lock.token : 'nothing'}`);
  } else {
    const command = { profileId, key: `by-${first}`, actor: 'writer', tradeId: first, venue: 'paper', symbol };
    const [amount, quantity] = [Decimal.fromInteger(1n), Decimal.fromInteger(1n)];
    const verdict = await database.transaction((tx) =>
      reserve(tx, { ...command, amount, quantity, lockToken: BigInt(second) }),
    );
    say(`wrote ${first} ${verdict.outcome} ${verdict.outcome === 'refused' ? verdict.code : ''}`);
  }
}
await database.close();
