/** The baseline: a Nest process on Fastify with everything imported that a pair worker imports, doing nothing. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const worker = new URL('../dist/apps/worker/src/pair-worker.js', import.meta.url);
await import(worker.href);
const { NestFactory } = await import('@nestjs/core');
const { FastifyAdapter } = await import('@nestjs/platform-fastify');
const app = await NestFactory.create({ module: class BareModule {} }, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
process.stdout.write('is up\n');
