import { RequestMethod, type DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { pino, type Logger } from 'pino';
import { NestLogger } from './nest-logger.js';
import { pretty } from './pretty.js';

export type { Logger };

/** Wherever one of these stands in a logged object, up to two levels deep, its value is replaced. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'apiKey',
  'adminToken',
  'databaseUrl',
  'redisUrl',
];

interface LogSettings {
  readonly LOG_LEVEL: string;
  readonly LOG_FORMAT: 'auto' | 'json' | 'pretty';
}

/** The process' one logger. What it is told about the process stands in every line. */
export function createLogger(
  settings: LogSettings,
  about: { process: string; worker?: string },
  destination: NodeJS.WritableStream & { isTTY?: boolean } = process.stdout,
): Logger {
  const options = {
    level: settings.LOG_LEVEL,
    base: { ...about, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
  };
  return pino(options, isPretty(settings, destination) ? pretty(destination) : destination);
}

/** Whether a person reads along. */
export function isPretty(
  settings: Pick<LogSettings, 'LOG_FORMAT'>,
  destination: { isTTY?: boolean } = process.stdout,
): boolean {
  return settings.LOG_FORMAT === 'auto' ? destination.isTTY === true : settings.LOG_FORMAT === 'pretty';
}

/** Nest's own messages and one line per request go through the same logger. */
export function loggerModule(logger: Logger): DynamicModule {
  return {
    module: class LoggingModule {},
    imports: [requestLogging(logger)],
    providers: [NestLogger],
    exports: [NestLogger],
  };
}

function requestLogging(logger: Logger): DynamicModule {
  return LoggerModule.forRoot({
    // The module's own pattern for "everything" matches nothing on Fastify.
    forRoutes: [{ path: '*path', method: RequestMethod.ALL }],
    pinoHttp: {
      logger,
      // Probes and scrapes come every few seconds and say nothing.
      autoLogging: { ignore: (request) => /^\/(internal\/|metrics)/.test(pathOf(request)) },
      customLogLevel: (_request, response, error) =>
        error || response.statusCode >= 500 ? 'error' : response.statusCode >= 400 ? 'warn' : 'info',
      quietReqLogger: true,
      customAttributeKeys: { reqId: 'requestId' },
      serializers: {
        req: ({ method, url }: { method: string; url: string }) => ({ method, url }),
        res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
      },
    },
  });
}

/** Middleware on Fastify sees the address without what matched; the whole one is kept beside it. */
function pathOf(request: { url?: string | undefined; originalUrl?: string }): string {
  return request.originalUrl ?? request.url ?? '';
}
