import { z } from 'zod';
import type { Command } from '../command.js';
import { formatLogLine } from '../log-line.js';

const LogLines = z.object({ items: z.array(z.string()) });

export const logs: Command = {
  name: 'logs',
  summary: 'the newest lines that the worker of a pair wrote, oldest first',
  takes: 'pair',
  options: ['lines', 'json'],
  async run({ api, paint, print }, { pair, lines, json }) {
    const path = `/api/orchestrator/workers/${encodeURIComponent(pair)}/logs?lines=${lines}`;
    const { items } = await api.get(path, LogLines);
    for (const item of items) print(json ? item : formatLogLine(item, paint));
  },
};
