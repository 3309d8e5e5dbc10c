import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Decimal } from '#libs/money';
import { findInstrument, type Instrument } from '../market/instruments.js';
import { invalidParameter, invalidSymbol, mandatory } from './binance-error.js';
import { rawBodyOf } from './raw-body.js';

/** The parameters of a request to Binance, which may come in its query, its body or both. */
export class Parameters {
  constructor(private readonly values: URLSearchParams) {}

  find(name: string): string | undefined {
    const value = this.values.get(name);
    return value === null || value === '' ? undefined : value;
  }

  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw mandatory(name);
    return value;
  }

  getInstrument(): Instrument {
    const instrument = findInstrument('binance', this.get('symbol'));
    if (!instrument) throw invalidSymbol();
    return instrument;
  }

  findInstrument(): Instrument | undefined {
    return this.find('symbol') === undefined ? undefined : this.getInstrument();
  }

  findInteger(name: string): number | undefined {
    const text = this.find(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,15}$/.test(text)) throw invalidParameter(-1100, `Illegal characters found in parameter '${name}'.`);
    return Number(text);
  }

  findDecimal(name: string): Decimal | undefined {
    const text = this.find(name);
    if (text === undefined) return undefined;
    try {
      return Decimal.parse(text);
    } catch {
      throw invalidParameter(-1100, `Illegal characters found in parameter '${name}'.`);
    }
  }

  getOneOf<T extends string>(name: string, values: readonly T[], code: number): T {
    const text = this.get(name);
    const found = values.find((value) => value === text);
    if (found === undefined) throw invalidParameter(code, `Invalid ${name}.`);
    return found;
  }
}

export const BinanceParameters = createParamDecorator((_data: unknown, context: ExecutionContext): Parameters => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return new Parameters(new URLSearchParams(`${request.url.split('?')[1] ?? ''}&${rawBodyOf(request)}`));
});
