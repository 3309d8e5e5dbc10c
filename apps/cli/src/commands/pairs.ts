import type { Command } from '../command.js';
import { formatPairs, PairList } from '../pair-list.js';

const PATH = '/api/config/pairs';

export const pairs: Command = {
  name: 'pairs',
  summary: 'the configured pairs',
  takes: 'nothing',
  options: ['json'],
  async run({ api, paint, print }, { json }) {
    if (json) return print(await api.getText(PATH));
    print(formatPairs(await api.get(PATH, PairList), paint));
  },
};
