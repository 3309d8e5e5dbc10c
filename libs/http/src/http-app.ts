import helmet from '@fastify/helmet';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestLogger } from '#libs/telemetry';
import { ProblemFilter } from './problem.filter.js';
import { requestIdOf } from './request-id.js';
import { validationPipe } from './validation.js';

export type HttpApp = NestFastifyApplication;

const REQUEST_TIMEOUT_MS = 30_000;

/** A Nest application with the edge that all our processes share; not yet listening. */
export async function createHttpApp(module: Type | DynamicModule, options: { bodyBytesMax: number }): Promise<HttpApp> {
  const adapter = new FastifyAdapter({
    bodyLimit: options.bodyBytesMax,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestIdOf,
    return503OnClosing: false,
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bufferLogs: true,
    abortOnError: false,
  });
  app.useLogger(app.get(NestLogger));
  app.useGlobalFilters(new ProblemFilter());
  app.useGlobalPipes(validationPipe());
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      // Strict enough for an API; images and styles as Swagger's page needs them.
      directives: {
        'default-src': ["'self'"],
        'style-src': ["'self'", "'unsafe-inline'"],
        'img-src': ["'self'", 'data:'],
        'object-src': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    // We speak plain HTTP on loopback; whoever puts TLS in front of us sets this header there.
    strictTransportSecurity: false,
  });
  adapter.getInstance().addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
  });
  return app;
}
