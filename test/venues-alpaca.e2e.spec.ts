import { describeVenue } from './harness/venue-contract.js';

describeVenue({ adapter: 'alpaca', symbol: 'BTC/USD', otherSymbol: 'ETH/USD' });
