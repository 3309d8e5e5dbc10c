import { describeVenue } from './harness/venue-contract.js';

describeVenue({ adapter: 'ccxt', symbol: 'BTC/USDT', otherSymbol: 'ETH/USDT' });
