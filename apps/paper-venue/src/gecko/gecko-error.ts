import { WireError } from '../wire-error.js';

export function geckoError(status: number, title: string, headers?: Record<string, string>): WireError {
  return new WireError(status, { errors: [{ status: String(status), title }] }, headers);
}
