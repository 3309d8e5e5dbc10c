import { join, relative } from 'node:path';
import type { Config } from '#libs/config';
import { buildInfo, isPretty, type Logger } from '#libs/telemetry';

interface Running {
  readonly config: Config;
  readonly dataDir: string;
  readonly address: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly workers: number;
  readonly venues: readonly string[];
  /** Where the paper venue is, when no other is configured. */
  readonly paperVenue: string | undefined;
}

/** Tells a newcomer what runs where: a block on a terminal, a log line each elsewhere. */
export function firstScreen(running: Running, logger: Logger): void {
  const lines = describeRunning(running);
  if (isPretty(running.config)) process.stdout.write(`\n${lines.join('\n')}\n\n`);
  else for (const line of lines) logger.info(line.trim());
}

function describeRunning(running: Running): string[] {
  const { config, dataDir, address, databaseUrl, redisUrl, workers } = running;
  const tokenPath = relative('.', join(dataDir, 'admin-token'));
  const token = config.ADMIN_TOKEN ? 'token: ADMIN_TOKEN' : `token in ${tokenPath}`;
  return [
    `Flotilla ${buildInfo().version} is up`,
    `  Admin API  ${address}/api  (${token})`,
    `  Swagger    ${address}/docs`,
    `  Health     ${address}/internal/health`,
    `  Metrics    ${address}/metrics`,
    `  Workers    ${workers}, what they say lies in ${relative('.', join(dataDir, 'logs'))}`,
    `  ${venueLine(running)}`,
    `  Postgres   ${where(databaseUrl, config.DATABASE_URL)}`,
    `  Redis      ${where(redisUrl, config.REDIS_URL)}`,
    '  Ctrl-C stops everything',
  ];
}

function venueLine({ venues, paperVenue }: Running): string {
  if (paperVenue === undefined) return `Venues     ${venues.join(', ')}  (VENUES_FILE)`;
  return `Venue      ${paperVenue}  (simulated, PAPER MONEY; set VENUES_FILE to trade elsewhere)`;
}

function where(url: string, configured: string | undefined): string {
  return `${new URL(url).host}  (${configured ? 'yours' : 'private'})`;
}
