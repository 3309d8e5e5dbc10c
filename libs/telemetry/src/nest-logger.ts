import { Injectable } from '@nestjs/common';
import { Logger } from 'nestjs-pino';

/** Where Nest tells how it builds itself: many lines at each start that help only whoever works on the modules. */
const BUILDING = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
  'Server',
]);

@Injectable()
export class NestLogger extends Logger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (BUILDING.has(String(rest.at(-1)))) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }
}
