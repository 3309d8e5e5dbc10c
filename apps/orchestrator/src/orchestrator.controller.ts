import {
  Body,
  Controller,
  Get,
  HttpCode,
  Logger,
  NotFoundException,
  Param,
  Post,
  Put,
  Query,
  ServiceUnavailableException,
} from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { LogLevel, PairId, WorkerState, type WorkerRequest } from '#libs/fleet';
import { CallerOf } from '#libs/http';
import { actorOf, recordAct, type Act, type Principal } from '#libs/tenancy';
import { FleetKeeper } from './fleet-keeper.js';
import { redisAnswer } from './redis-answer.js';
import { WorkerClient } from './worker-client.js';
import { WorkerStatus, workerStatus } from './worker-status.js';

const LOG_LINES_DEFAULT = 200;
const LOG_LINES_MAX = 10_000;

const OrchestratorStatus = z.strictObject({
  workers: z.array(z.string()).meta({ examples: [['BTC-USD']] }),
  uptime: z.number().meta({ description: 'seconds since the start' }),
  statuses: z.record(z.string(), WorkerStatus),
});
const LogQuery = z.strictObject({
  lines: z.coerce.number().int().min(1).max(LOG_LINES_MAX).default(LOG_LINES_DEFAULT),
});
const LogLines = z.strictObject({ items: z.array(z.string()) });
const LogLevelBody = z.strictObject({ level: LogLevel });

interface Accepted {
  readonly accepted: true;
}

@ApiTags('orchestrator')
@ApiBearerAuth()
@Controller('api/orchestrator')
export class OrchestratorController {
  private readonly logger = new Logger(OrchestratorController.name);
  private readonly startedAt: number;

  constructor(
    private readonly keeper: FleetKeeper,
    private readonly workers: WorkerClient,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {
    this.startedAt = clock.monotonic();
  }

  @Get('status')
  @ApiOperation({ summary: 'Every worker: what the orchestrator knows of it and what it says of itself' })
  @ApiOkResponse({ standardSchema: OrchestratorStatus })
  async status(): Promise<z.infer<typeof OrchestratorStatus>> {
    const workers = this.keeper.fleet.list();
    const ids = workers.map(({ id }) => id);
    const reports = await redisAnswer(this.keeper.board.report(ids));
    return {
      workers: ids,
      uptime: (this.clock.monotonic() - this.startedAt) / 1000,
      statuses: Object.fromEntries(workers.map((worker) => [worker.id, workerStatus(worker, reports.get(worker.id))])),
    };
  }

  @Post('reload')
  @HttpCode(202)
  @ApiOperation({ summary: 'Reads the configuration of the pairs again, like SIGHUP' })
  async reload(@CallerOf() principal: Principal): Promise<Accepted> {
    await this.keeper.reload();
    await this.record(principal, { action: 'pairs.reload', subject: 'pairs' });
    return { accepted: true };
  }

  @Post('workers/:id/restart')
  @HttpCode(202)
  @ApiOperation({ summary: 'Stops a worker and starts it at once; revives one that was given up' })
  async restart(@CallerOf() principal: Principal, @Param('id', { schema: PairId }) id: string): Promise<Accepted> {
    if (!(await redisAnswer(this.keeper.fleet.restart(id)))) throw unknownWorker(id);
    await this.record(principal, { action: 'worker.restart', subject: id });
    return { accepted: true };
  }

  @Get('workers/:id')
  @ApiOperation({ summary: 'Asks the worker itself for its state' })
  @ApiOkResponse({ standardSchema: WorkerState })
  read(@Param('id', { schema: PairId }) id: string): Promise<WorkerState> {
    return this.ask(id, { type: 'status' });
  }

  @Post('workers/:id/drain')
  @HttpCode(200)
  @ApiOperation({ summary: 'Lets the worker start no further cycle until it is restarted' })
  @ApiOkResponse({ standardSchema: WorkerState })
  async drain(@CallerOf() principal: Principal, @Param('id', { schema: PairId }) id: string): Promise<WorkerState> {
    const state = await this.ask(id, { type: 'drain' });
    await this.record(principal, { action: 'worker.drain', subject: id });
    return state;
  }

  @Put('workers/:id/log-level')
  @ApiOperation({ summary: 'Changes what the worker logs, until it is restarted' })
  @ApiOkResponse({ standardSchema: WorkerState })
  async logLevel(
    @CallerOf() principal: Principal,
    @Param('id', { schema: PairId }) id: string,
    @Body({ schema: LogLevelBody }) body: z.infer<typeof LogLevelBody>,
  ): Promise<WorkerState> {
    const state = await this.ask(id, { type: 'log-level', level: body.level });
    await this.record(principal, { action: 'worker.log-level', subject: id, detail: body });
    return state;
  }

  @Get('workers/:id/logs')
  @ApiOperation({ summary: 'The newest lines that the worker wrote, oldest first' })
  @ApiOkResponse({ standardSchema: LogLines })
  logs(
    @Param('id', { schema: PairId }) id: string,
    @Query({ schema: LogQuery }) { lines }: z.infer<typeof LogQuery>,
  ): z.infer<typeof LogLines> {
    this.refuseUnknown(id);
    return { items: this.keeper.logs.read(id, lines) };
  }

  private async ask(id: string, request: WorkerRequest): Promise<WorkerState> {
    this.refuseUnknown(id);
    const state = await this.workers.ask(id, request);
    if (!state) throw new ServiceUnavailableException(`Worker ${id} does not answer. Look at its logs, or restart it.`);
    return state;
  }

  /** The act is done and is no act of the database: while that is silent, workers must still obey. */
  private async record(
    principal: Principal,
    done: Pick<Act, 'action' | 'subject'> & Partial<Pick<Act, 'detail'>>,
  ): Promise<void> {
    const act = { actor: actorOf(principal), detail: {}, ...done };
    await this.database
      .transaction((tx) => recordAct(tx, act))
      .catch((error: unknown) => this.logger.error({ err: error, act }, 'An act was done but not recorded'));
  }

  private refuseUnknown(id: string): void {
    if (!this.keeper.fleet.list().some((worker) => worker.id === id)) throw unknownWorker(id);
  }
}

function unknownWorker(id: string): NotFoundException {
  return new NotFoundException(`There is no worker "${id}". GET /api/orchestrator/status lists them.`);
}
