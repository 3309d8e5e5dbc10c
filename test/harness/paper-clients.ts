import { streaming, trading, marketData } from '@alpacahq/alpaca-trade-api';
import ccxt from 'ccxt';
import { onTestFinished } from 'vitest';
import { PAPER_CREDENTIALS, type PaperVenue } from './paper-venue.js';

type TradeUpdate = Parameters<Parameters<streaming.TradingStream['onTradeUpdate']>[0]>[0];

/** Alpaca's own client, pointed at the paper venue. */
export function alpacaClient({ url }: Pick<PaperVenue, 'url'>, credentials = PAPER_CREDENTIALS) {
  const settings = { basePath: `${url}/alpaca`, keyId: credentials.key, secret: credentials.secret, timeoutMs: 5_000 };
  const configuration = new trading.Configuration(settings);
  const dataConfiguration = new marketData.Configuration(settings);
  const orders = new trading.OrdersApi(configuration);
  return {
    orders,
    submit: (order: trading.PostOrderRequest) => orders.postOrder({ postOrderRequest: order }),
    account: new trading.AccountsApi(configuration),
    activities: new trading.AccountActivitiesApi(configuration),
    positions: new trading.PositionsApi(configuration),
    assets: new trading.AssetsApi(configuration),
    crypto: new marketData.CryptoApi(dataConfiguration),
    stocks: new marketData.StockApi(dataConfiguration),
  };
}

/** Everything the stream tells, from the moment it listens; it connects again by itself. */
export async function alpacaUpdates({ url }: Pick<PaperVenue, 'url'>): Promise<TradeUpdate[]> {
  const updates: TradeUpdate[] = [];
  const stream = new streaming.TradingStream({
    url: `${url.replace('http', 'ws')}/alpaca/stream`,
    credentials: { keyId: PAPER_CREDENTIALS.key, secret: PAPER_CREDENTIALS.secret },
  });
  onTestFinished(() => stream.disconnect());
  stream.onTradeUpdate((update) => updates.push(update));
  stream.subscribeTradeUpdates();
  await new Promise<void>((listening) => {
    stream.on(streaming.EVENT.SUBSCRIPTION, () => listening());
    stream.connect();
  });
  return updates;
}

/** ccxt's client for Binance, pointed at the paper venue. */
export async function binanceClient({ url }: Pick<PaperVenue, 'url'>, credentials = PAPER_CREDENTIALS) {
  const sockets = url.replace('http', 'ws');
  const exchange = new ccxt.pro.binance({
    apiKey: credentials.key,
    secret: credentials.secret,
    enableRateLimit: false,
    timeout: 5_000,
    urls: {
      api: {
        public: `${url}/binance/api/v3`,
        private: `${url}/binance/api/v3`,
        ws: { spot: `${sockets}/binance/testnet/ws`, 'ws-api': { spot: `${sockets}/binance/ws-api/v3` } },
      },
    },
    options: {
      defaultType: 'spot',
      fetchMarkets: { types: ['spot'] },
      fetchMargins: false,
      warnOnFetchOpenOrdersWithoutSymbol: false,
    },
  });
  exchange.has['fetchCurrencies'] = false;
  // Without it ccxt opens no plain ws:// socket.
  await exchange.loadHttpProxyAgent();
  await exchange.loadMarkets();
  onTestFinished(() => exchange.close());
  return exchange;
}
