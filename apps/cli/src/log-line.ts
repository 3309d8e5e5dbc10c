import { z } from 'zod';
import type { Color, Paint } from './paint.js';
import { oneLine } from './table.js';

const LogLine = z.object({
  time: z.string(),
  level: z.string(),
  msg: z.string().default(''),
  err: z.object({ message: z.string() }).optional(),
});

/** Time, level and message. What is no line of our logger, such as the stack of a crash, stays as it was written. */
export function formatLogLine(line: string, paint: Paint): string {
  const parsed = parse(line);
  if (!parsed) return line.replaceAll(/[^\P{Cc}\t]/gu, '').trimEnd();
  const { time, level, msg, err } = parsed;
  const message = oneLine(err && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg);
  const name = oneLine(level).toUpperCase();
  const color = LEVEL_COLORS[level];
  return `${paint('dim', oneLine(time))} ${color ? paint(color, name) : name}${' '.repeat(Math.max(1, 6 - name.length))}${message}`;
}

const LEVEL_COLORS: Record<string, Color> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'dim',
  trace: 'dim',
};

function parse(line: string): z.infer<typeof LogLine> | undefined {
  try {
    return LogLine.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
