import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from '#libs/http';

const bodies = new WeakMap<FastifyRequest, string>();

/** Keeps the text of bodies sent to Binance's routes: the signature is over that text, not over what it means. */
export function keepRawBodies(app: HttpApp): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('preParsing', async (request, _reply, payload) => {
      if (!request.url.startsWith('/binance/')) return payload;
      const chunks: Buffer[] = [];
      for await (const chunk of payload) chunks.push(chunk as Buffer);
      const whole = Buffer.concat(chunks);
      bodies.set(request, whole.toString());
      return Readable.from(whole.length > 0 ? [whole] : []);
    });
}

export function rawBodyOf(request: FastifyRequest): string {
  return bodies.get(request) ?? '';
}
