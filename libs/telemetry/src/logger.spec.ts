import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../index.js';

function setup(settings: { LOG_LEVEL?: string; LOG_FORMAT?: 'auto' | 'json' | 'pretty' } = {}) {
  let written = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  const logger = createLogger(
    { LOG_LEVEL: 'info', LOG_FORMAT: 'auto', ...settings },
    { process: 'worker', worker: 'pair BTC-USD' },
    destination,
  );
  return {
    logger,
    text: () => written,
    lines: () =>
      written
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('createLogger', () => {
  it('writes JSON where nobody watches, with the process, the worker and an ISO time in every line', () => {
    const { logger, lines } = setup();
    logger.child({ tradeId: 't-1' }).info('filled');
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        process: 'worker',
        worker: 'pair BTC-USD',
        pid: process.pid,
        tradeId: 't-1',
        msg: 'filled',
      },
    ]);
  });

  it('writes plain lines when asked to', () => {
    const { logger, text } = setup({ LOG_FORMAT: 'pretty' });
    logger.info('filled');
    expect(text()).toMatch(/INFO.*filled/);
  });

  it('leaves out what is below its level', () => {
    const { logger, text } = setup({ LOG_LEVEL: 'warn' });
    logger.info('chatter');
    expect(text()).toBe('');
  });

  it('never writes a secret, wherever it stands', () => {
    const { logger, text } = setup();
    logger.info(
      {
        token: 's3cret',
        req: { headers: { authorization: 'Bearer s3cret' } },
        venue: { apiKey: 's3cret', password: 's3cret' },
      },
      'calling',
    );
    expect(text()).toContain('[redacted]');
    expect(text()).not.toContain('s3cret');
  });
});
