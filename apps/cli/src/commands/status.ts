import type { Command } from '../command.js';
import { FleetStatus, formatFleet } from '../fleet-status.js';

const PATH = '/api/orchestrator/status';

export const status: Command = {
  name: 'status',
  summary: 'the orchestrator and every worker at a glance',
  takes: 'nothing',
  options: ['json'],
  async run({ api, clock, paint, print }, { json }) {
    if (json) return print(await api.getText(PATH));
    const fleet = await api.get(PATH, FleetStatus);
    print(formatFleet(fleet, { address: api.address, now: clock.now(), paint }));
  },
};
