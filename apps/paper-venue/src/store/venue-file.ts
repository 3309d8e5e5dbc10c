import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '#libs/operator';

const BUSY_TIMEOUT_MS = 2_000;
const CACHE_KIB = 65_536;

/** Ids of clients are random and dirty a page each; folding the log back less often writes each such page once. */
const CHECKPOINT_PAGES = 8_000;

/**
 * Each entry brings a file from the version that is its index to the next one. A released entry stays as it is: files
 * that have passed it never come back to it.
 */
const MIGRATIONS = [
  `create table venue (
     id integer primary key constraint venue_has_one_row check (id = 1),
     -- Part of every identifier that Alpaca's clients see, so that two venues never share one.
     identity text not null,
     next_order integer not null,
     next_fill integer not null,
     next_event integer not null,
     is_matching integer not null,
     fees text not null
   ) strict;
   create table orders (
     seq integer primary key,
     protocol text not null,
     client_order_id text not null,
     instrument text not null,
     side text not null,
     type text not null,
     time_in_force text not null,
     quantity text not null,
     notional text,
     limit_price text,
     stop_price text,
     lock_price text not null,
     filled_quantity text not null,
     filled_notional text not null,
     status text not null,
     is_triggered integer not null,
     created_at integer not null,
     updated_at integer not null,
     -- Set when the venue's answers no longer know it.
     purged_at integer
   ) strict;
   create index orders_by_client_order_id on orders (client_order_id);
   create index orders_by_instrument on orders (instrument, seq);
   create index orders_by_time on orders (created_at);
   create index orders_open on orders (seq) where status in ('new', 'partially_filled');
   create table fills (
     seq integer primary key,
     order_seq integer not null,
     instrument text not null,
     side text not null,
     price text not null,
     quantity text not null,
     fee text not null,
     fee_asset text not null,
     is_maker integer not null,
     at integer not null
   ) strict;
   create index fills_by_order on fills (order_seq);
   create index fills_by_time on fills (at);
   create index fills_by_instrument on fills (instrument, seq);
   create table balances (
     asset text primary key,
     free text not null,
     locked text not null,
     cost text not null
   ) strict, without rowid;
   create table pins (
     instrument text primary key,
     bid text not null,
     ask text not null,
     bid_size text,
     ask_size text
   ) strict, without rowid;
   -- What was asked of the venue, whether it took it or not.
   create table submissions (
     seq integer primary key,
     at integer not null,
     protocol text not null,
     client_order_id text not null,
     symbol text not null,
     side text not null,
     type text not null,
     quantity text,
     refusal text,
     order_seq integer
   ) strict;`,
];

/** Opens the venue's file in this folder, made and migrated as needed. */
export function openVenueFile(folder: string): DatabaseSync {
  const path = join(folder, 'venue.db');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    // Full: a commit is on the disk before the order it holds is acknowledged. Exclusive: one venue per folder.
    database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full');
    database.exec(`pragma cache_size = -${CACHE_KIB}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    migrate(database, path);
    return database;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `The paper venue's store ${path} cannot be opened (${String(error)}). See that no other paper venue runs on this DATA_DIR, that this user may write there and that the disk has space; or move the folder away to start afresh.`,
      { cause: error },
    );
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare('pragma user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    throw new OperatorError(
      `The paper venue's store ${path} was written by a newer Flotilla. Start that one, or move the folder away.`,
    );
  }
  database.exec('begin immediate');
  for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
  database.exec(`pragma user_version = ${MIGRATIONS.length}; commit`);
}
