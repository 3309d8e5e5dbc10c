import { Writable } from 'node:stream';
import { register } from 'prom-client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ManualClock } from '#libs/clock';
import { createLogger } from '#libs/telemetry';
import { asSuperuser } from '../../../test/harness/database.js';
import * as ledger from '../index.js';
import { LedgerWatchdog, LedgerWatchdogReport, type LedgerViolation } from '../index.js';
import { setupLedger } from './testing/setup.js';
import { deposit, fill, reserve } from './testing/steps.js';

async function setup() {
  const kit = await setupLedger();
  const clock = new ManualClock();
  const violations: LedgerViolation[] = [];
  const passes: { proved: number; violations: number }[] = [];
  const failures: unknown[] = [];
  const watchdog = new LedgerWatchdog({
    ...{ database: kit.database, clock, intervalMs: 10_000, fullIntervalMs: 3_600_000 },
    observer: {
      violated: (violation) => violations.push(violation),
      haltFailed: (_violation, error) => failures.push(error),
      passed: (result) => passes.push(result),
      failed: (error) => failures.push(error),
    },
  });
  onTestFinished(() => watchdog.stop());
  const profileId = await kit.newProfile();
  await kit.inTx((tx) => ledger.applyBatch(tx, [deposit('100')(profileId), deposit('1')(profileId)]));
  const tamper = async (sql: string) => {
    await kit.admin.query('set session_replication_role = replica');
    await kit.admin.query(sql);
    await kit.admin.query('set session_replication_role = origin');
  };
  const halts = () => kit.inTx((tx) => ledger.listHalts(tx, { profileId }));
  return { ...kit, clock, watchdog, violations, passes, failures, profileId, tamper, halts };
}

describe('LedgerWatchdog', () => {
  it('proves each journal when first seen, those that moved from then on, and all of them after the full interval', async () => {
    const { watchdog, passes, newProfile, inTx, profileId, clock } = await setup();
    const other = await newProfile();
    await watchdog.runOnce();
    await watchdog.runOnce();
    await inTx((tx) => ledger.applyBatch(tx, [deposit('1')(other)]));
    await watchdog.runOnce();
    await watchdog.runOnce();
    await clock.advance(3_600_000);
    await watchdog.runOnce();
    expect(passes.map(({ proved }) => proved)).toEqual([2, 0, 1, 0, 2]);
    expect(passes.every(({ violations }) => violations === 0)).toBe(true);
    expect(profileId).not.toBe(other);
  });

  it('names the profile and the entry of a problem once, and halts the profile', async () => {
    const { watchdog, violations, passes, inTx, profileId, tamper, halts } = await setup();
    await watchdog.runOnce();
    await inTx((tx) => ledger.applyBatch(tx, [deposit('1')(profileId)]));
    await tamper(`update ledger_entries set amount = 7 where sequence = 3`);
    await watchdog.runOnce();
    await watchdog.runOnce();
    expect(violations).toEqual([{ profileId, sequence: 3n, problem: expect.stringMatching(/^the chain breaks here/) }]);
    expect(passes.map((pass) => pass.violations)).toEqual([0, 1, 1]);
    expect(await halts()).toMatchObject([{ scope: 'profile', createdBy: 'watchdog', reason: violations[0]?.problem }]);
    const [verdict] = await inTx((tx) => ledger.applyBatch(tx, [reserve('a', '1')(profileId)]));
    expect(verdict).toMatchObject({ outcome: 'refused', code: 'halted' });
  });

  it('notices in the next pass a ledger row that was changed, and when it was mended', async () => {
    const { watchdog, violations, passes, profileId, tamper } = await setup();
    await watchdog.runOnce();
    await tamper(`update capital_ledger set allocated_capital = 5000`);
    await watchdog.runOnce();
    await tamper(`update capital_ledger set allocated_capital = 6000`);
    await watchdog.runOnce();
    expect(violations).toMatchObject([{ profileId, problem: expect.stringMatching(/not the fold of its journal/) }]);
    await tamper(`update capital_ledger set allocated_capital = 101`);
    await watchdog.runOnce();
    expect(passes.map((pass) => pass.violations)).toEqual([0, 1, 1, 0]);
    await tamper(`update capital_ledger set allocated_capital = 7000`);
    await watchdog.runOnce();
    expect(violations).toHaveLength(2);
  });

  it('finds what was altered behind its back at the latest with the next full proof', async () => {
    const { watchdog, violations, clock, tamper } = await setup();
    await watchdog.runOnce();
    await tamper(`update ledger_entries set actor = 'another' where sequence = 1`);
    await watchdog.runOnce();
    expect(violations).toEqual([]);
    await clock.advance(3_600_000);
    await watchdog.runOnce();
    expect(violations).toMatchObject([{ sequence: 1n }]);
  });

  it('notices a ledger row that is gone', async () => {
    const { watchdog, violations, profileId, tamper } = await setup();
    await watchdog.runOnce();
    await tamper(`delete from capital_ledger`);
    await watchdog.runOnce();
    expect(violations).toEqual([{ profileId, sequence: undefined, problem: 'there is no ledger row' }]);
  });

  it('counts a breach once, keeps its halt, and counts the next breach again', async () => {
    const { watchdog, violations, passes, inTx, profileId, halts } = await setup();
    const breach = [reserve('a', '101'), fill('a', { quantity: '10', amount: '200' })];
    await inTx((tx) =>
      ledger.applyBatch(
        tx,
        breach.map((step) => step(profileId)),
      ),
    );
    await watchdog.runOnce();
    await watchdog.runOnce();
    expect(violations).toEqual([{ profileId, sequence: undefined, problem: 'available capital is below zero' }]);
    expect(await halts()).toMatchObject([{ createdBy: 'ledger' }]);
    await inTx((tx) => ledger.applyBatch(tx, [deposit('100')(profileId)]));
    await watchdog.runOnce();
    await inTx((tx) => ledger.applyBatch(tx, [fill('a', { quantity: '1', amount: '2' })(profileId)]));
    await watchdog.runOnce();
    expect(violations).toHaveLength(2);
    expect(passes.map((pass) => pass.violations)).toEqual([1, 1, 0, 1]);
  });

  it('leaves a halt lifted that a person lifted while the problem stands', async () => {
    const { watchdog, inTx, tamper, halts } = await setup();
    await tamper(`update ledger_entries set amount = 7 where sequence = 1`);
    await watchdog.runOnce();
    const [halt] = await halts();
    await inTx((tx) => ledger.liftHalt(tx, halt?.haltId ?? ''));
    await watchdog.runOnce();
    expect(await halts()).toEqual([]);
  });

  it('survives a pass that fails, and goes on with the next', async () => {
    const { watchdog, passes, failures, name, clock } = await setup();
    watchdog.start();
    await clock.whenSleeping();
    expect(passes).toHaveLength(1);
    await asSuperuser(inject('superuserUrl'), `alter database ${name} allow_connections false`);
    await asSuperuser(
      inject('superuserUrl'),
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = '${name}'`,
    );
    await clock.advance(10_000);
    await clock.whenSleeping();
    expect(failures).toHaveLength(1);
    await asSuperuser(inject('superuserUrl'), `alter database ${name} allow_connections true`);
    await clock.advance(10_000);
    await clock.whenSleeping();
    expect([failures.length, passes.length]).toEqual([1, 2]);
    await watchdog.stop();
    await watchdog.stop();
  });
});

describe('LedgerWatchdogReport', () => {
  it('logs a violation as fatal, with the profile, the entry and what to do, and counts it', async () => {
    let written = '';
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString();
        done();
      },
    });
    const report = new LedgerWatchdogReport(
      createLogger({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { process: 'test' }, destination),
    );
    onTestFinished(() => register.clear());
    expect(await register.metrics()).toMatch(/^flotilla_ledger_violations_total 0$/m);
    report.violated({ profileId: 'p-1', sequence: 3n, problem: 'the chain breaks here' });
    report.passed({ proved: 4, violations: 1, violated: [] });
    report.failed(new Error('gone'));
    const [line] = written.split('\n').map((text) => JSON.parse(text || '{}') as Record<string, unknown>);
    expect(line).toMatchObject({ level: 'fatal', profileId: 'p-1', entry: '3', problem: 'the chain breaks here' });
    expect(line?.['msg']).toMatch(/profile p-1 is wrong at entry 3: the chain breaks here.*halted.*lift the halt/);
    const metrics = await register.metrics();
    expect(metrics).toMatch(/^flotilla_ledger_violations_total 1$/m);
    expect(metrics).toMatch(/^flotilla_ledger_violations 1$/m);
    expect(metrics).toMatch(/^flotilla_ledger_verify_failures_total 1$/m);
  });
});
