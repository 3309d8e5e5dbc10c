import type { Command } from '../command.js';

export const reload: Command = {
  name: 'reload',
  summary: 'reads the configured pairs again; workers start, restart and stop accordingly',
  takes: 'nothing',
  options: [],
  async run({ api, note }) {
    await api.post('/api/orchestrator/reload');
    note('The configured pairs were read again; "flotilla pairs" lists them.');
  },
};
