import { Counter, Gauge, Histogram } from 'prom-client';
import type { Sockets } from './sockets/sockets.js';
import type { Venue } from './venue.js';

const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export class VenueMetrics {
  readonly batch = new Histogram({
    name: 'flotilla_paper_commit_size',
    help: 'Changes that one commit of the paper venue wrote to the disk.',
    buckets: BATCH_BUCKETS,
  });
  readonly faults = new Counter({
    name: 'flotilla_paper_faults_total',
    help: 'Faults that befell a request or an event, by kind.',
    labelNames: ['fault'],
  });
  private readonly events = new Counter({
    name: 'flotilla_paper_order_events_total',
    help: 'Events of orders at the paper venue, by kind.',
    labelNames: ['kind'],
  });

  watch(venue: Venue, sockets: Sockets): void {
    venue.listen((events) => {
      for (const { kind } of events) this.events.inc({ kind });
    });
    new Gauge({
      name: 'flotilla_paper_open_orders',
      help: 'Orders that are open at the paper venue.',
      collect() {
        this.set([...venue.parts.engine.openOrders()].length);
      },
    });
    new Gauge({
      name: 'flotilla_paper_stream_listeners',
      help: 'Clients that listen to the streams of the paper venue, by stream.',
      labelNames: ['stream'],
      collect() {
        for (const stream of ['alpaca', 'binance-market', 'binance-user']) {
          this.set({ stream }, sockets.countListeners(stream));
        }
      },
    });
  }
}
