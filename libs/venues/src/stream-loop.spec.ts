import { describe, expect, it } from 'vitest';
import { ManualClock } from '#libs/clock';
import { keepStreaming, type Session } from './stream-loop.js';
import type { StreamEvent } from './venue.js';

/** A stream whose connections live and die as the test says. */
function setup() {
  const clock = new ManualClock(0);
  const events: StreamEvent[] = [];
  const told: string[] = [];
  const stop = new AbortController();
  const connections: { session: Session; die: (reason: string) => void }[] = [];
  const running = keepStreaming(
    {
      clock,
      backoffMs: { base: 100, max: 400 },
      observer: {
        reconnected: () => told.push('reconnected'),
        gap: () => told.push('gap'),
        lost: (reason) => told.push(`lost: ${reason}`),
      },
      connect: (session, signal) =>
        new Promise((resolve, reject) => {
          connections.push({ session, die: (reason) => reject(new Error(reason)) });
          signal.addEventListener('abort', () => resolve());
        }),
    },
    (event) => events.push(event),
    stop.signal,
  );
  return { clock, events, told, stop, connections, running };
}

describe('keepStreaming', () => {
  it('tells from when to when events may be missing', async () => {
    const { clock, events, told, stop, connections, running } = setup();
    connections[0]?.session.live();
    await clock.advance(1_000);
    connections[0]?.die('reset');
    await clock.whenSleeping();
    await clock.advance(100);
    connections[1]?.session.live();
    expect(events).toEqual([
      { kind: 'gap', to: new Date(0) },
      { kind: 'gap', from: new Date(0), to: new Date(1_100) },
    ]);
    expect(told).toEqual(['lost: reset', 'reconnected', 'gap']);
    stop.abort();
    await running;
  });

  it('waits longer after each failure in a row, up to a bound, and anew after a success', async () => {
    const { clock, connections, stop, running } = setup();
    const waits: number[] = [];
    const fail = async (): Promise<void> => {
      const before = connections.length;
      const startedAt = clock.monotonic();
      connections.at(-1)?.die('refused');
      await clock.whenSleeping();
      while (connections.length === before) await clock.advance(50);
      waits.push(clock.monotonic() - startedAt);
    };
    for (let failure = 0; failure < 5; failure += 1) await fail();
    connections.at(-1)?.session.live();
    await fail();
    expect(waits).toEqual([100, 200, 400, 400, 400, 100]);
    stop.abort();
    await running;
  });

  it('takes what nobody can read for a gap', async () => {
    const { clock, events, told, stop, connections, running } = setup();
    connections[0]?.session.live();
    await clock.advance(10);
    connections[0]?.session.unreadable('qty: not a number');
    expect(events.at(-1)).toEqual({ kind: 'gap', from: new Date(0), to: new Date(10) });
    expect(told).toEqual(['lost: unreadable event: qty: not a number', 'gap']);
    stop.abort();
    await running;
  });

  it('ends when told to, also while it waits', async () => {
    const { clock, stop, connections, running } = setup();
    connections[0]?.die('refused');
    await clock.whenSleeping();
    stop.abort();
    await running;
    expect(connections).toHaveLength(1);
  });
});
