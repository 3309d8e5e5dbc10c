import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Postgres lets everybody execute a new function; ours are closed until a migration grants them. */
export class LeastPrivilege implements MigrationInterface {
  readonly name = 'LeastPrivilege0000000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter default privileges revoke execute on functions from public;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}
