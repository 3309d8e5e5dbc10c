import type { Tx } from '#libs/database';
import * as ledger from '../../index.js';
import { LedgerService, type LedgerCommand, type Verdict } from '../../index.js';
import { setupLedger } from './setup.js';

/** allocated, orders, positions, pnl, available */
export type Balances = readonly [string, string, string, string, string];

/** The same command through each of the doors. All must say and do the same. */
type Door = (command: LedgerCommand) => Promise<Verdict>;

function applyAlone(tx: Tx, { kind, ...command }: LedgerCommand): Promise<Verdict> {
  return (ledger[kind] as (tx: Tx, command: object) => Promise<Verdict>)(tx, command);
}

export async function setupDoors() {
  const { inTx, database, newProfile, admin } = await setupLedger();
  const service = new LedgerService(database);
  const doors: Record<string, Door> = {
    'function of its own': (command) => inTx((tx) => applyAlone(tx, command)),
    batch: (command) => inTx(async (tx) => (await ledger.applyBatch(tx, [command]))[0] as Verdict),
    service: (command) => service.apply(command),
  };
  const balances = async (profileId: string): Promise<{ balances: Balances; openTrades: number }> => {
    const row = await inTx((tx) => ledger.findLedger(tx, profileId));
    if (!row) throw new Error('Expected a ledger.');
    const figures = [
      row.allocatedCapital,
      row.reservedForOrders,
      row.reservedForPositions,
      row.realizedPnl,
      row.availableCapital,
    ];
    return { balances: figures.map(String) as unknown as Balances, openTrades: row.openTrades };
  };
  return { inTx, admin, newProfile, doors, balances };
}
