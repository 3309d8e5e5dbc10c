import { All, Controller, Req, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { WireErrorFilter } from './wire-error.js';
import { notFoundOf, protocolOf } from './wire-protocol.js';

/** Whatever is not served under the name of a venue is refused in its words. */
@ApiExcludeController()
@Controller(['alpaca', 'binance', 'gecko'])
@UseFilters(WireErrorFilter)
export class UnknownRouteController {
  @All('*')
  refuse(@Req() request: FastifyRequest): never {
    throw notFoundOf(protocolOf(request.url) ?? 'alpaca');
  }
}
