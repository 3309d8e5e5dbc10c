import type { Clock } from '#libs/clock';
import type { StreamEvent } from './venue.js';

export interface StreamObserver {
  /** A new connection took over from one that was lost. */
  reconnected(): void;
  gap(): void;
  lost(reason: string): void;
}

/** What one connection reports while it lasts. */
export interface Session {
  /** The venue confirmed that it tells us everything from now on. */
  live(): void;
  event(event: StreamEvent): void;
  /** Something came that nobody can read; it may have been an event. */
  unreadable(detail: string): void;
}

export interface StreamParts {
  readonly clock: Clock;
  readonly observer: StreamObserver;
  /** One connection, from opening to its end. Ends when the signal is aborted; throws when it is lost. */
  readonly connect: (session: Session, signal: AbortSignal) => Promise<void>;
  readonly backoffMs: { readonly base: number; readonly max: number };
}

/** Connects again and again until told to stop. Whatever may have been missed is told as a gap, never passed over. */
export async function keepStreaming(
  parts: StreamParts,
  listener: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { clock, observer, backoffMs } = parts;
  let failures = 0;
  let heardAt: Date | undefined;
  const gapTillNow = (): void => {
    const to = new Date(clock.now());
    if (heardAt) observer.gap();
    listener({ kind: 'gap', ...(heardAt && { from: heardAt }), to });
    heardAt = to;
  };
  const session: Session = {
    live: () => {
      failures = 0;
      if (heardAt) observer.reconnected();
      gapTillNow();
    },
    event: (event) => {
      heardAt = new Date(clock.now());
      listener(event);
    },
    unreadable: (detail) => {
      observer.lost(`unreadable event: ${detail}`);
      gapTillNow();
    },
  };
  while (!signal.aborted) {
    try {
      await parts.connect(session, signal);
    } catch (error) {
      observer.lost(error instanceof Error ? error.message : String(error));
    }
    failures += 1;
    await clock.sleep(Math.min(backoffMs.base * 2 ** (failures - 1), backoffMs.max), signal);
  }
}
