import { z } from 'zod';
import { formatDuration } from './duration.js';
import type { Paint } from './paint.js';
import { formatTable, header, oneLine, type Cell } from './table.js';

const Pair = z.object({
  id: z.string(),
  venue: z.string(),
  symbol: z.string(),
  strategy: z.object({ name: z.string() }),
  intervalSec: z.number(),
  profiles: z.array(z.string()),
  enabled: z.boolean(),
});
export const PairList = z.object({ items: z.array(Pair) });

export function formatPairs({ items }: z.infer<typeof PairList>, paint: Paint): string {
  const titles = header('PAIR', 'VENUE', 'SYMBOL', 'STRATEGY', 'EVERY', 'PROFILES', 'ENABLED');
  return formatTable([titles, ...items.map(pairRow)], paint).join('\n');
}

function pairRow(pair: z.infer<typeof Pair>): Cell[] {
  return [
    { text: pair.id },
    { text: oneLine(pair.venue) },
    { text: oneLine(pair.symbol) },
    { text: pair.strategy.name },
    { text: formatDuration(pair.intervalSec * 1000) },
    { text: oneLine(pair.profiles.join(', ')) || '-' },
    pair.enabled ? { text: 'yes' } : { text: 'no', color: 'yellow' },
  ];
}
