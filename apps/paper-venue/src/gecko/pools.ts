import { createHash } from 'node:crypto';
import { INSTRUMENTS, type Instrument } from '../market/instruments.js';

/** A liquidity pool of a decentralised exchange. */
export interface Pool {
  readonly network: string;
  readonly address: string;
  readonly instrument: Instrument;
  readonly feePercent: string;
}

export const NETWORKS = ['eth', 'bsc', 'polygon_pos', 'base', 'arbitrum', 'avax', 'hyperevm'];
const FEES_PERCENT = ['0.05', '0.3', '1'];
const CRYPTOS = INSTRUMENTS.filter(({ kind }) => kind === 'crypto');

/** One for each network, crypto and fee. Their addresses grow from their names, and are the same everywhere. */
export const POOLS: readonly Pool[] = NETWORKS.flatMap((network) =>
  CRYPTOS.flatMap((instrument) =>
    FEES_PERCENT.map((feePercent) => ({
      network,
      instrument,
      feePercent,
      address: addressOf(`${network} ${instrument.id} ${feePercent}`),
    })),
  ),
);

const BY_ADDRESS = new Map(POOLS.map((pool) => [`${pool.network} ${pool.address}`, pool]));

export function findPool(network: string, address: string): Pool | undefined {
  return BY_ADDRESS.get(`${network} ${address.toLowerCase()}`);
}

/** The address of something that a pool is made of, or of the pool itself. */
export function addressOf(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}
