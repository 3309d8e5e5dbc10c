import { describe, expect, it } from 'vitest';
import { concerns, parseControlMessage } from './control-message.js';

describe('parseControlMessage', () => {
  it.each([
    ['{"type":"SHUTDOWN"}', { type: 'SHUTDOWN' }],
    ['{"type":"RESTART","pairId":"BTC-USD"}', { type: 'RESTART', pairId: 'BTC-USD' }],
    ['{"type":"CONFIG_CHANGED","pairId":"BTC-USD"}', { type: 'CONFIG_CHANGED', pairId: 'BTC-USD' }],
    ['SHUTDOWN', { type: 'SHUTDOWN' }],
    [' RESTART\n', { type: 'RESTART' }],
  ])('reads %j', (text, message) => {
    expect(parseControlMessage(text)).toEqual(message);
  });

  it.each(['', 'shutdown', 'SHUTDOWN BTC-USD', '{', '[]', 'null', '{"type":"BOOM"}', '{"type":"RESTART","pairId":7}'])(
    'makes nothing of %j',
    (text) => {
      expect(parseControlMessage(text)).toBeUndefined();
    },
  );
});

describe('concerns', () => {
  it('is true for everybody without a pair, and for the pair alone with one', () => {
    expect(concerns({ type: 'SHUTDOWN' }, 'BTC-USD')).toBe(true);
    expect(concerns({ type: 'SHUTDOWN', pairId: 'BTC-USD' }, 'BTC-USD')).toBe(true);
    expect(concerns({ type: 'SHUTDOWN', pairId: 'BTC-USD' }, 'ETH-USD')).toBe(false);
  });
});
