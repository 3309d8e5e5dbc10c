import { describe, expect, it } from 'vitest';
import { FaultBody, phaseOf } from './fault.js';
import { FaultBox } from './fault-box.js';
import { operationOf } from './operation.js';

const fault = (body: object) => FaultBody.parse({ operation: 'submit', fault: 'reset', ...body });

describe('FaultBox', () => {
  it('gives a fault as often as it was told, the oldest first', () => {
    const box = new FaultBox(1);
    box.add(fault({ fault: 'http-500', times: 2 }));
    box.add(fault({ fault: 'reset', times: 1 }));
    const drawn = Array.from({ length: 4 }, () => box.drawForRequest('submit')?.fault);
    expect(drawn).toEqual(['http-500', 'http-500', 'reset', undefined]);
    expect(box.list()).toEqual([]);
  });

  it('keeps the faults of one operation from the others', () => {
    const box = new FaultBox(1);
    box.add(fault({ operation: 'cancel' }));
    expect([box.drawForRequest('submit'), box.drawForRequest(undefined), box.drawForEvent()]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(box.drawForRequest('cancel')).toBeDefined();
    box.clear();
    expect(box.drawForRequest('cancel')).toBeUndefined();
  });

  it('throws the same dice for the same seed', () => {
    const outcomes = (seed: number): boolean[] => {
      const box = new FaultBox(seed);
      box.add(fault({ probability: 0.3 }));
      return Array.from({ length: 200 }, () => box.drawForRequest('submit') !== undefined);
    };
    expect(outcomes(1)).toEqual(outcomes(1));
    expect(outcomes(1)).not.toEqual(outcomes(2));
    const share = outcomes(1).filter(Boolean).length / 200;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.4);
  });

  it('has faults of events for streams, and others for whoever opens one', () => {
    const box = new FaultBox(1);
    box.add(fault({ operation: 'stream', fault: 'http-500' }));
    expect(box.drawForEvent()).toBeUndefined();
    expect(box.drawForUpgrade()?.fault).toBe('http-500');
    box.clear();
    box.add(fault({ operation: 'any', fault: 'drop-event' }));
    expect([box.drawForUpgrade(), box.drawForRequest('submit')]).toEqual([undefined, undefined]);
    expect(box.drawForEvent()?.fault).toBe('drop-event');
  });
});

describe('a fault of lists', () => {
  it('befalls what a list says and no request as such', () => {
    const box = new FaultBox(1);
    box.add(fault({ operation: 'open-orders', fault: 'truncated-list', times: 1 }));
    expect([box.drawForRequest('open-orders'), box.drawForEvent(), box.drawForUpgrade()]).toEqual(
      Array.from({ length: 3 }, () => undefined),
    );
    expect([box.drawForList()?.fault, box.drawForList()]).toEqual(['truncated-list', undefined]);
  });
});

describe('the phase of a fault', () => {
  it.each([
    [{ fault: 'drop-request', phase: 'response' }, 'request'],
    [{ fault: 'drop-response', phase: 'request' }, 'response'],
    [{ fault: 'delay' }, 'response'],
    [{ fault: 'http-500' }, 'request'],
    [{ fault: 'http-500', phase: 'response' }, 'response'],
  ] as const)('of %j is %s', (body, phase) => {
    expect(phaseOf(fault(body))).toBe(phase);
  });
});

describe('operationOf', () => {
  it.each([
    ['POST', '/alpaca/v2/orders', 'submit'],
    ['GET', '/alpaca/v2/orders', 'open-orders'],
    ['GET', '/alpaca/v2/orders:by_client_order_id', 'lookup'],
    ['GET', '/alpaca/v2/orders/1', 'lookup'],
    ['DELETE', '/alpaca/v2/orders/1', 'cancel'],
    ['GET', '/alpaca/v2/account', undefined],
    ['POST', '/binance/api/v3/order', 'submit'],
    ['DELETE', '/binance/api/v3/openOrders', 'cancel'],
    ['GET', '/binance/api/v3/account', undefined],
  ])('calls %s %s %s', (method, path, operation) => {
    expect(operationOf(method, path)).toBe(operation);
  });
});
