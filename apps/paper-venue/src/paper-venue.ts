import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '#libs/clock';
import { closeWithin, createHttpApp, listen, type HttpApp } from '#libs/http';
import { OperatorError } from '#libs/operator';
import { aborted, type ProcessContext } from '#libs/process';
import { serveAlpacaStream } from './alpaca/alpaca-stream.js';
import { describeApi } from './api-description.js';
import { serveMarketStream } from './binance/market-stream.js';
import { keepRawBodies } from './binance/raw-body.js';
import { serveUserStream } from './binance/user-stream.js';
import { buildVenue } from './build-venue.js';
import { FaultBox } from './faults/fault-box.js';
import { applyRequestFaults } from './faults/request-faults.js';
import { StreamFaults } from './faults/stream-faults.js';
import { applyLimits } from './limits/apply-limits.js';
import { RequestLimits } from './limits/request-limits.js';
import { MarketLoop } from './market-loop.js';
import { paperVenueModule } from './paper-venue.module.js';
import { Sockets, type Route } from './sockets/sockets.js';
import { openVenueFile } from './store/venue-file.js';
import type { Venue } from './venue.js';
import { VenueMetrics } from './venue-metrics.js';

const HOST = '127.0.0.1';

/** Serves the venue until it is told to stop. */
export async function runPaperVenue(context: ProcessContext): Promise<void> {
  const { config, clock, logger, stopping } = context;
  await using undo = new AsyncDisposableStack();
  const folder = join(resolve(config.DATA_DIR), 'paper-venue');
  const database = openVenueFile(folder);
  undo.defer(() => database.close());
  const metrics = new VenueMetrics();
  const failure = new AbortController();
  const venue = buildVenue(database, {
    seed: config.PAPER_SEED,
    clock,
    commits: {
      committed: (works) => metrics.batch.observe(works),
      // What memory holds may not be on the disk: end, and begin again from the disk.
      failed: (error) => failure.abort(error),
    },
  });
  const box = new FaultBox(config.PAPER_SEED, ({ fault }) => metrics.faults.inc({ fault }));
  const limits = new RequestLimits(clock);
  const sockets = new Sockets(clock, box);
  metrics.watch(venue, sockets);

  const app = await createHttpApp(paperVenueModule({ context, venue, box, limits, sockets, folder }), {
    bodyBytesMax: config.HTTP_BODY_BYTES_MAX,
  });
  undo.defer(() => closeWithin(app, { graceMs: config.SHUTDOWN_GRACE_MS, clock }));
  keepRawBodies(app);
  applyRequestFaults(app, box, clock);
  applyLimits(app, limits);
  describeApi(app);
  sockets.attach(app, streamRoutes({ venue, box, clock }));
  undo.defer(() => sockets.stop());
  const loop = new MarketLoop(venue, clock);
  loop.start();
  undo.defer(() => loop.stop());
  const address = await open(app, config.PAPER_PORT);
  undo.defer(announce(folder, address));
  // Said whatever the level of the log is: with PAPER_PORT=0 nobody else knows where we are.
  process.stdout.write(`Paper venue on ${address}, paper money only; control: ${address}/docs\n`);

  await aborted(AbortSignal.any([stopping, failure.signal]));
  if (failure.signal.aborted) {
    app.getHttpServer().closeAllConnections();
    throw failure.signal.reason;
  }
  venue.parts.commit.flush();
  logger.info('Stopped');
}

/** Tells whoever shares the folder which process serves it and where; returns how to take that back. */
function announce(folder: string, url: string): () => void {
  const path = join(folder, 'process.json');
  writeFileSync(`${path}.new`, JSON.stringify({ pid: process.pid, url }));
  renameSync(`${path}.new`, path);
  return () => rmSync(path, { force: true });
}

async function open(app: HttpApp, port: number): Promise<string> {
  try {
    return await listen(app, { host: HOST, port });
  } catch (error) {
    throw new OperatorError(
      `The paper venue cannot listen on ${HOST}:${port}. Stop the program that does, or set PAPER_PORT to another port.`,
      { cause: error },
    );
  }
}

function streamRoutes({ venue, box, clock }: { venue: Venue; box: FaultBox; clock: Clock }): Route[] {
  const faults = new StreamFaults(box, clock);
  return [
    { name: 'alpaca', path: /^\/alpaca\/stream$/, serve: (client) => serveAlpacaStream(client, venue, faults) },
    {
      name: 'binance-user',
      path: /^\/binance\/ws-api\/v3$/,
      serve: (client) => serveUserStream(client, venue, faults),
    },
    {
      name: 'binance-market',
      path: /^\/binance\/testnet\/ws(\/|$)/,
      serve: (client) => serveMarketStream(client, venue, clock),
    },
  ];
}
