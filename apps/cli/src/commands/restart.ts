import type { Command } from '../command.js';

export const restart: Command = {
  name: 'restart',
  summary: 'stops the worker of a pair and starts it at once, even one that was given up',
  takes: 'pair',
  options: [],
  async run({ api, note }, { pair }) {
    await api.post(`/api/orchestrator/workers/${encodeURIComponent(pair)}/restart`);
    note(`The worker of ${pair} is being restarted; "flotilla status" shows how it fares.`);
  },
};
