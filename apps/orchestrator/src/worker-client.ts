import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { firstValueFrom, timeout } from 'rxjs';
import { workerRequestPattern, WorkerState, type WorkerRequest } from '#libs/fleet';
import { transportOptions } from '#libs/redis';

const ANSWER_TIMEOUT_MS = 3_000;

/** Asks one worker and waits for its answer. */
export class WorkerClient {
  private readonly client: ClientProxy;

  constructor(
    redisUrl: string,
    private readonly prefix: string,
  ) {
    this.client = ClientProxyFactory.create({ transport: Transport.REDIS, options: transportOptions(redisUrl) });
  }

  /** Undefined when no worker answers in time. */
  async ask(id: string, request: WorkerRequest): Promise<WorkerState | undefined> {
    try {
      const answer = this.client.send<unknown>(workerRequestPattern(this.prefix, id), request);
      return WorkerState.parse(await firstValueFrom(answer.pipe(timeout(ANSWER_TIMEOUT_MS))));
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
