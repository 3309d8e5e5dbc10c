import type { QueryResult } from 'pg';
import type { Tx } from './tx.js';

/**
 * A statement that is asked so often that each connection should read and plan it but once. One name, one text: Postgres
 * refuses a second text under a name.
 */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** As node-postgres has it: TypeORM's own query has no place for a name. */
interface Connection {
  query(statement: Prepared & { values: unknown[] }): Promise<QueryResult>;
}

export async function ask<Row>(tx: Tx, { name, text }: Prepared, values: readonly unknown[]): Promise<Row[]> {
  const connection = await connectionOf(tx);
  const { rows } = await connection.query({ name, text, values: [...values] });
  return rows as Row[];
}

/** That of the transaction, or any of the pool for a statement that stands alone. */
async function connectionOf({ queryRunner, dataSource }: Tx): Promise<Connection> {
  if (queryRunner) return (await queryRunner.connect()) as Connection;
  const { master: pool } = dataSource.driver as unknown as { readonly master: Connection };
  return pool;
}
