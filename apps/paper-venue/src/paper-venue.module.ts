import type { DynamicModule } from '@nestjs/common';
import { diskProbe, eventLoopProbe, healthModule } from '#libs/http';
import type { ProcessContext } from '#libs/process';
import { loggerModule, metricsModule } from '#libs/telemetry';
import { AlpacaAccountController } from './alpaca/account.controller.js';
import { AlpacaActivitiesController } from './alpaca/activities.controller.js';
import { AlpacaMarketDataController } from './alpaca/market-data.controller.js';
import { AlpacaOrdersController } from './alpaca/orders.controller.js';
import { BinanceAccountController } from './binance/account.controller.js';
import { BinanceMarketController } from './binance/market.controller.js';
import { BinanceOrdersController } from './binance/orders.controller.js';
import { FaultsController } from './control/faults.controller.js';
import { PaperMarketController } from './control/market.controller.js';
import { PaperOrdersController } from './control/orders.controller.js';
import { PaperVenueController } from './control/venue.controller.js';
import { FaultBox } from './faults/fault-box.js';
import { OpenList } from './faults/open-list.js';
import { GeckoController } from './gecko/gecko.controller.js';
import { RequestLimits } from './limits/request-limits.js';
import { Sockets } from './sockets/sockets.js';
import { UnknownRouteController } from './unknown-route.controller.js';
import { Venue } from './venue.js';
import { VenueClock } from './venue-clock.js';

export function paperVenueModule(parts: {
  context: ProcessContext;
  venue: Venue;
  box: FaultBox;
  limits: RequestLimits;
  sockets: Sockets;
  folder: string;
}): DynamicModule {
  const { config, logger, clock } = parts.context;
  const probes = [eventLoopProbe(config.EVENT_LOOP_LAG_MS_MAX), diskProbe(parts.folder, config.DISK_FREE_BYTES_MIN)];
  return {
    module: class PaperVenueModule {},
    imports: [loggerModule(logger), metricsModule(), healthModule({ probes, clock, drainMs: config.DRAIN_MS })],
    controllers: [
      AlpacaOrdersController,
      AlpacaActivitiesController,
      AlpacaAccountController,
      AlpacaMarketDataController,
      BinanceOrdersController,
      BinanceAccountController,
      BinanceMarketController,
      GeckoController,
      UnknownRouteController,
      PaperOrdersController,
      PaperMarketController,
      PaperVenueController,
      FaultsController,
    ],
    providers: [
      { provide: Venue, useValue: parts.venue },
      { provide: VenueClock, useValue: parts.venue.parts.clock },
      { provide: FaultBox, useValue: parts.box },
      { provide: OpenList, useValue: new OpenList(parts.box, parts.venue) },
      { provide: RequestLimits, useValue: parts.limits },
      { provide: Sockets, useValue: parts.sockets },
    ],
  };
}
