import { DataSource } from 'typeorm';
import { dataSourceOptions, type ConnectionSettings } from './connection.js';
import { DatabaseUnavailable } from './database-error.js';
import { GatheredCalls, type GatheredStatement } from './gathered-calls.js';
import { APP_ROLE } from './roles.js';
import type { Tx } from './tx.js';

/** The pool of one process, working as the application's role. Lost connections are replaced by new ones. */
export class Database {
  private readonly gathered = new Map<string, GatheredCalls>();

  private constructor(private readonly source: DataSource) {}

  static async open(
    settings: Omit<ConnectionSettings, 'role'>,
    observer: { lost(error: Error): void },
  ): Promise<Database> {
    const source = new DataSource(
      dataSourceOptions({ ...settings, role: APP_ROLE }, { poolErrorHandler: (error: Error) => observer.lost(error) }),
    );
    try {
      await source.initialize();
    } catch (error) {
      throw new DatabaseUnavailable(settings.url, error);
    }
    return new Database(source);
  }

  /**
   * The one way to open a transaction. It commits when the work resolves and rolls back when it rejects; a commit
   * whose answer is lost rejects too, so whatever the work does must be safe to do again.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.source.transaction('READ COMMITTED', work);
  }

  /** For one statement that is a transaction by itself: it costs one round trip, and holds its locks for no longer. */
  async statement<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await work(this.source.manager);
    } catch (error) {
      // The pool may have taken back a connection that is about to end. This finds out, and not the next caller.
      await this.ping().catch(() => undefined);
      throw error;
    }
  }

  /**
   * For one call that is a transaction by itself, and that many ask at the same moment: those travel together. A row of
   * nulls where there is none.
   */
  async gather<Row extends object>(
    statement: GatheredStatement,
    values: readonly (string | number | boolean | null)[],
  ): Promise<Row> {
    let calls = this.gathered.get(statement.name);
    if (!calls) {
      calls = new GatheredCalls(statement, (work) => this.statement(work));
      this.gathered.set(statement.name, calls);
    }
    return (await calls.ask(values)) as Row;
  }

  /** Resolves when Postgres answers. */
  async ping(): Promise<void> {
    await this.source.query('select 1');
  }

  async close(): Promise<void> {
    if (this.source.isInitialized) await this.source.destroy();
  }
}
