import { z } from 'zod';
import { formatAge, formatDuration } from './duration.js';
import type { Color, Paint } from './paint.js';
import { formatTable, header, oneLine, type Cell } from './table.js';

/** What is shown of the API's answer. A worker that has not spoken yet lacks what it would say of itself. */
const WorkerStatus = z.object({
  process: z.string(),
  failures: z.number(),
  lastHeartbeat: z.iso.datetime().nullable(),
  status: z.string().optional(),
  lastDecision: z.string().nullish(),
  lastDecisionTs: z.iso.datetime().nullish(),
  errorMsg: z.string().nullish(),
});
export const FleetStatus = z.object({
  uptime: z.number(),
  statuses: z.record(z.string(), WorkerStatus),
});
type WorkerStatus = z.infer<typeof WorkerStatus>;

interface Seen {
  readonly address: string;
  readonly now: number;
  readonly paint: Paint;
}

/** The fleet at a glance: the orchestrator, then a line per worker. */
export function formatFleet(fleet: z.infer<typeof FleetStatus>, { address, now, paint }: Seen): string {
  const rows = Object.entries(fleet.statuses).map(([id, worker]) => workerRow(id, worker, now));
  const titles = header('WORKER', 'PROCESS', 'STATUS', 'DECISION', 'DECIDED', 'HEARTBEAT', 'FAILURES', 'ERROR');
  const count = `${rows.length} ${rows.length === 1 ? 'worker' : 'workers'}`;
  return [
    `${paint('bold', 'Orchestrator')} ${address}, up ${formatDuration(fleet.uptime * 1000)}, ${count}`,
    ...(rows.length > 0 ? formatTable([titles, ...rows], paint) : []),
  ].join('\n');
}

function workerRow(id: string, worker: WorkerStatus, now: number): Cell[] {
  const { lastDecision, lastDecisionTs, lastHeartbeat, errorMsg, failures } = worker;
  return [
    { text: id },
    { text: worker.process, color: PROCESS_COLORS[worker.process] },
    { text: worker.status ?? '-', color: worker.status === 'error' ? 'red' : undefined },
    { text: oneLine(lastDecision ?? '-') },
    { text: lastDecisionTs ? `${formatAge(lastDecisionTs, now)} ago` : '-' },
    {
      text: lastHeartbeat ? `${formatAge(lastHeartbeat, now)} ago` : 'none',
      color: lastHeartbeat ? undefined : 'yellow',
    },
    { text: String(failures), color: failures > 0 ? 'yellow' : undefined },
    { text: oneLine(errorMsg ?? '-'), color: errorMsg ? 'red' : undefined },
  ];
}

const PROCESS_COLORS: Record<string, Color> = {
  running: 'green',
  starting: 'yellow',
  stopping: 'yellow',
  waiting: 'yellow',
  'given-up': 'red',
};
