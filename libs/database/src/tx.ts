import type { EntityManager } from 'typeorm';

/** An open transaction. Every verb that writes takes one as its first argument. */
export type Tx = EntityManager;
