import { Controller, type Type } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { workerRequestPattern, WorkerRequest, type WorkerState } from '#libs/fleet';
import type { Logger } from '#libs/telemetry';

interface Worker {
  readonly id: string;
  readonly prefix: string;
  readonly logger: Logger;
  drain(): void;
  report(): WorkerState;
}

/** Answers what the orchestrator asks this worker. The pattern holds the worker's id, so each has a class of its own. */
export function workerRequestsController(worker: Worker): Type {
  @Controller()
  class WorkerRequestsController {
    @MessagePattern(workerRequestPattern(worker.prefix, worker.id))
    answer(@Payload() payload: unknown): WorkerState {
      const request = WorkerRequest.parse(payload);
      switch (request.type) {
        case 'status':
          break;
        case 'drain':
          worker.drain();
          worker.logger.info('Drained: no cycle starts until the worker is restarted');
          break;
        case 'log-level':
          worker.logger.level = request.level;
          break;
      }
      return worker.report();
    }
  }
  return WorkerRequestsController;
}
