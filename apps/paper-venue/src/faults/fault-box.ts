import { noise, noiseSource } from '../market/noise.js';
import { isEventFault, isListFault, type Fault, type Operation } from './fault.js';

/** The faults that wait to happen, oldest first. They are not kept through a restart. */
export class FaultBox {
  private faults: Fault[] = [];
  private nextId = 1;
  private draws = 0;
  private readonly source: number;

  constructor(
    seed: number,
    private readonly applied: (fault: Fault) => void = () => undefined,
  ) {
    this.source = noiseSource(seed, 'faults');
  }

  add(fault: Omit<Fault, 'id'>): Fault {
    const added = { ...fault, id: this.nextId++ };
    this.faults.push(added);
    return added;
  }

  list(): readonly Fault[] {
    return this.faults;
  }

  clear(): void {
    this.faults = [];
  }

  /** The fault that befalls a request of this operation, if any; undefined stands for operations without a name. */
  drawForRequest(operation: Operation | undefined): Fault | undefined {
    return this.draw((fault) => !isEventFault(fault.fault) && !isListFault(fault.fault) && concerns(fault, operation));
  }

  /** The fault that befalls what a list of open orders says, if any. */
  drawForList(): Fault | undefined {
    return this.draw((fault) => isListFault(fault.fault));
  }

  /** The fault that befalls an event on a stream, if any. */
  drawForEvent(): Fault | undefined {
    return this.draw((fault) => {
      const isForEvents = isEventFault(fault.fault) || fault.fault === 'delay' || fault.fault === 'reset';
      return isForEvents && concerns(fault, 'stream') && !(fault.operation === 'any' && !isEventFault(fault.fault));
    });
  }

  /** The fault that befalls somebody who wants to open a stream, if any. */
  drawForUpgrade(): Fault | undefined {
    const refusals = ['drop-request', 'drop-response', 'http-500', 'http-429'];
    return this.draw((fault) => refusals.includes(fault.fault) && concerns(fault, 'stream'));
  }

  private draw(fits: (fault: Fault) => boolean): Fault | undefined {
    const drawn = this.faults.find((fault) => fits(fault) && noise(this.source, this.draws++) < fault.probability);
    if (!drawn) return undefined;
    this.spend(drawn);
    this.applied(drawn);
    return drawn;
  }

  private spend(drawn: Fault): void {
    if (drawn.times === undefined) return;
    const left = drawn.times - 1;
    this.faults = this.faults.flatMap((fault) => {
      if (fault !== drawn) return [fault];
      return left > 0 ? [{ ...fault, times: left }] : [];
    });
  }
}

function concerns(fault: Fault, operation: Operation | undefined): boolean {
  return fault.operation === 'any' || fault.operation === operation;
}
