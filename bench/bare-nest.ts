/** The baseline: a Nest process on Fastify that listens and does nothing else. */
import 'reflect-metadata';
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { NestFactory } = await import('@nestjs/core');
const { FastifyAdapter } = await import('@nestjs/platform-fastify');
const app = await NestFactory.create({ module: class BareModule {} }, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
process.stdout.write('is up\n');
