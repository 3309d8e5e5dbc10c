import { describe, expect, it } from 'vitest';
import * as ledger from '../index.js';
import { CapitalWatchdog, type CapitalViolation } from '../index.js';
import { setupLedger } from './testing/setup.js';
import { close, deposit, fill, release, reserve } from './testing/steps.js';

async function setup(options: { poolSize?: number } = {}) {
  const kit = await setupLedger(options);
  const profileId = await kit.newProfile();
  const apply = (steps: ReturnType<typeof deposit>[], profile = profileId) =>
    kit.inTx((tx) =>
      ledger.applyBatch(
        tx,
        steps.map((step) => step(profile)),
      ),
    );
  await apply([deposit('1000'), reserve('a', '100'), fill('a', { quantity: '4', amount: '40' })]);
  const told: CapitalViolation[] = [];
  const failures: unknown[] = [];
  const newWatchdog = (profiles: readonly string[] = [profileId]) =>
    new CapitalWatchdog({
      ...{ database: kit.database, profiles },
      observer: { violated: (violation) => told.push(violation), haltFailed: (_, error) => failures.push(error) },
    });
  const tamper = async (sql: string) => {
    await kit.admin.query('set session_replication_role = replica');
    await kit.admin.query(sql);
    await kit.admin.query('set session_replication_role = origin');
  };
  const halts = () => kit.inTx((tx) => ledger.listHalts(tx, { profileId }));
  return { ...kit, profileId, apply, told, failures, newWatchdog, watchdog: newWatchdog(), tamper, halts };
}

describe('CapitalWatchdog', () => {
  it('finds nothing in a ledger that only its own functions have written', async () => {
    const { watchdog, told } = await setup();
    expect([await watchdog.runOnce(), told]).toEqual([[], []]);
  });

  it.each([
    [
      'what is reserved for orders',
      'update capital_ledger set reserved_for_orders = 61',
      'what is reserved for orders is not the sum of the reservations',
      'the row says 61, the reservations add up to 60',
    ],
    [
      'what is reserved for positions',
      'update reservations set reserved_for_positions = 39',
      'what is reserved for positions is not the sum of the reservations',
      'the row says 40, the reservations add up to 39',
    ],
    [
      'the available capital',
      'alter table capital_ledger alter column available_capital set expression as (1)',
      'available capital is not what the formula says',
      'available 1, allocated 1000, reserved 60 and 40, realized 0',
    ],
    [
      'the record of a breach',
      'update capital_ledger set allocated_capital = 50',
      'available capital is below zero, and no breach is recorded',
      'available -50',
    ],
  ])('finds that %s was changed, tells it once, and halts the profile', async (_what, sql, problem, detail) => {
    const { watchdog, tamper, told, profileId, halts, apply } = await setup();
    await watchdog.runOnce();
    await tamper(sql);
    expect(await watchdog.runOnce()).toEqual([{ profileId, problem, detail }]);
    await watchdog.runOnce();
    expect(told).toHaveLength(1);
    expect(await halts()).toMatchObject([{ scope: 'profile', createdBy: 'watchdog', reason: problem }]);
    expect(await apply([reserve('b', '1')])).toMatchObject([{ outcome: 'refused', code: 'halted' }]);
  });

  it('counts a breach that a venue caused, and leaves the halt that the ledger made as the only one', async () => {
    const { watchdog, apply, told, halts, profileId } = await setup();
    await apply([fill('a', { quantity: '6', amount: '2000' })]);
    const [violation] = await watchdog.runOnce();
    expect(violation).toMatchObject({ profileId, problem: 'available capital is below zero' });
    expect(await halts()).toMatchObject([{ createdBy: 'ledger' }]);
    await apply([deposit('5000')]);
    expect(await watchdog.runOnce()).toEqual([]);
    await apply([fill('a', { quantity: '1', amount: '9000' })]);
    await watchdog.runOnce();
    expect(told).toHaveLength(2);
  });

  it('notices that a problem was mended, and tells it again when it comes back', async () => {
    const { watchdog, tamper, told } = await setup();
    await tamper('update capital_ledger set reserved_for_orders = 61');
    await watchdog.runOnce();
    await tamper('update capital_ledger set reserved_for_orders = 62');
    await watchdog.runOnce();
    await tamper('update capital_ledger set reserved_for_orders = 60');
    expect(await watchdog.runOnce()).toEqual([]);
    await tamper('update capital_ledger set reserved_for_orders = 61');
    await watchdog.runOnce();
    expect(told).toHaveLength(2);
  });

  it('leaves a halt lifted that a person lifted while the problem stands', async () => {
    const { watchdog, tamper, halts, inTx } = await setup();
    await tamper('update capital_ledger set reserved_for_orders = 61');
    await watchdog.runOnce();
    const [halt] = await halts();
    await inTx((tx) => ledger.liftHalt(tx, halt?.haltId ?? ''));
    expect(await watchdog.runOnce()).toHaveLength(1);
    expect(await halts()).toEqual([]);
  });

  it('tries again to halt when that failed', async () => {
    const { watchdog, tamper, halts, failures, admin } = await setup();
    await tamper('update capital_ledger set reserved_for_orders = 61');
    await admin.query('revoke insert on halts from flotilla_app');
    await watchdog.runOnce();
    expect([failures.length, await halts()]).toEqual([1, []]);
    await admin.query('grant insert on halts to flotilla_app');
    await watchdog.runOnce();
    expect(await halts()).toHaveLength(1);
  });

  it('looks at its own profiles only', async () => {
    const { tamper, newWatchdog, newProfile } = await setup();
    const other = await newProfile();
    await tamper('update capital_ledger set reserved_for_orders = 61 where reserved_for_orders > 0');
    expect(await newWatchdog([other]).runOnce()).toEqual([]);
  });

  it('raises nothing while many write at once: what it compares was committed together', async () => {
    const { apply, newWatchdog, newProfile, told } = await setup({ poolSize: 12 });
    const profiles = [await newProfile(), await newProfile()] as const;
    for (const profile of profiles) await apply([deposit('100000')], profile);
    const watchdog = newWatchdog(profiles);
    let isOver = false;
    const look = async () => {
      let looks = 0;
      for (; !isOver; looks += 1) expect(await watchdog.runOnce()).toEqual([]);
      return looks;
    };
    const trade = async (writer: number) => {
      const profile = writer % 2 === 0 ? profiles[0] : profiles[1];
      for (let round = 0; round < 40; round += 1) {
        const name = `${writer}-${round}`;
        await apply([reserve(name, '100'), fill(name, { quantity: '4', amount: '41' })], profile);
        await apply([fill(name, { quantity: '3', amount: '30' }, { fee: '0.1' })], profile);
        await apply([close(name, { quantity: '3', pnl: '-1' }), release(name)], profile);
      }
    };
    const looking = [look(), look()];
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(trade));
    isOver = true;
    for (const looks of await Promise.all(looking)) expect(looks).toBeGreaterThan(50);
    expect(told).toEqual([]);
  });
});

describe('sumLedgers', () => {
  it('adds up what all profiles have', async () => {
    const { inTx, newProfile, apply } = await setup();
    await apply([deposit('0.5')], await newProfile());
    const totals = await inTx((tx) => ledger.sumLedgers(tx));
    expect(Object.fromEntries(Object.entries(totals).map(([key, value]) => [key, String(value)]))).toEqual({
      ...{ profiles: '2', allocated: '1000.5', orders: '60', positions: '40', pnl: '0', available: '900.5' },
    });
  });
});

describe('listHaltsInForce', () => {
  it('names what refuses an entry of a profile in a symbol at a venue, whatever its scope', async () => {
    const { inTx, profileId, newProfile } = await setup();
    const other = await newProfile();
    const by = { createdBy: 'admin' };
    await inTx(async (tx) => {
      for (const request of [
        { scope: 'global', reason: 'g' },
        { scope: 'venue', venue: 'paper', reason: 'v' },
        { scope: 'venue', venue: 'other', reason: 'no' },
        { scope: 'profile', profileId, reason: 'p' },
        { scope: 'profile', profileId: other, reason: 'no' },
        { scope: 'symbol', symbol: 'btc/usd', profileId, venue: 'paper', reason: 's' },
        { scope: 'symbol', symbol: 'ETH/USD', reason: 'no' },
      ] as const) {
        await ledger.createHalt(tx, { ...request, ...by });
      }
    });
    const halts = await inTx((tx) =>
      ledger.listHaltsInForce(tx, { venue: 'paper', symbol: 'BTC/USD', profiles: [profileId] }),
    );
    expect(halts.map(ledger.describeHalt)).toEqual([
      'halted: everything by admin: g',
      'halted: venue paper by admin: v',
      `halted: profile ${profileId} by admin: p`,
      `halted: symbol btc/usd, profile ${profileId}, venue paper by admin: s`,
    ]);
  });
});
