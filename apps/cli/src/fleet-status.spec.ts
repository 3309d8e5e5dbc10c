import { describe, expect, it } from 'vitest';
import { FleetStatus, formatFleet } from './fleet-status.js';
import { plain, type Paint } from './paint.js';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const ADDRESS = 'http://127.0.0.1:3001';

function fleetOf(statuses: Record<string, object>) {
  return FleetStatus.parse({ workers: Object.keys(statuses), uptime: 192.5, statuses });
}

function format(statuses: Record<string, object>, paint: Paint = plain): string[] {
  return formatFleet(fleetOf(statuses), { address: ADDRESS, now: NOW, paint }).split('\n');
}

const RUNNING = {
  process: 'running',
  failures: 0,
  alive: true,
  lastHeartbeat: '2026-01-01T11:59:57.000Z',
  status: 'running',
  lastDecision: 'hold',
  lastDecisionTs: '2026-01-01T11:58:00.000Z',
  errorMsg: null,
};
const SILENT = { process: 'given-up', failures: 20, alive: false, lastHeartbeat: null };

describe('formatFleet', () => {
  it('tells of the orchestrator, then of each worker in a line', () => {
    expect(format({ 'BTC-USD': RUNNING, 'DOGE-USD': SILENT })).toEqual([
      'Orchestrator http://127.0.0.1:3001, up 3m 12s, 2 workers',
      'WORKER    PROCESS   STATUS   DECISION  DECIDED  HEARTBEAT  FAILURES  ERROR',
      'BTC-USD   running   running  hold      2m ago   3s ago     0         -',
      'DOGE-USD  given-up  -        -         -        none       20        -',
    ]);
  });

  it('keeps an error message in its line', () => {
    const lines = format({ 'BTC-USD': { ...RUNNING, status: 'error', errorMsg: 'no market\n    at decide' } });
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/ error .* no market {5}at decide$/);
  });

  it('says of an empty fleet that it is empty', () => {
    expect(format({})).toEqual(['Orchestrator http://127.0.0.1:3001, up 3m 12s, 0 workers']);
  });

  it('lets trouble stand out', () => {
    const shouted = format(
      { A: { ...RUNNING, errorMsg: 'no market' }, B: SILENT },
      (color, text) => `${color}(${text})`,
    );
    expect(shouted[2]).toMatch(/green\(running\).*red\(no market\)/);
    expect(shouted[3]).toMatch(/red\(given-up\).*yellow\(none\).*yellow\(20\)/);
  });
});
