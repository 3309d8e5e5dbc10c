import type { Refusal } from '../engine/order-rules.js';
import type { OrderRequest } from '../engine/order.js';
import { WireError } from '../wire-error.js';

/** The body of every error of Alpaca's. */
export function alpacaError(
  status: number,
  body: { code: number; message: string } & Record<string, unknown>,
  headers?: Record<string, string>,
): WireError {
  return new WireError(status, body, headers);
}

export const unauthorized = (): WireError => alpacaError(401, { code: 40110000, message: 'request is not authorized' });

export const orderNotFound = (id: string): WireError =>
  alpacaError(404, { code: 40410000, message: `order not found for ${id}` });

export function invalidRequest(message: string): WireError {
  return alpacaError(422, { code: 40010001, message });
}

export function refused(refusal: Refusal, request: OrderRequest): WireError {
  switch (refusal.reason) {
    case 'duplicate-client-order-id':
      return invalidRequest('client_order_id must be unique');
    case 'quantity-missing':
      return invalidRequest('qty or notional is required');
    case 'quantity-range':
      return invalidRequest('qty must be > 0');
    case 'quantity-step':
      return invalidRequest(`qty increment must be a multiple of ${refusal.step.toString()}`);
    case 'price-tick':
      return alpacaError(422, {
        code: 42210000,
        message: 'invalid limit_price. sub-penny increment does not fulfill minimum pricing criteria',
      });
    case 'no-market':
      return alpacaError(422, { code: 42210000, message: `no market for ${request.instrument.names.alpaca}` });
    case 'notional-min':
      return alpacaError(403, {
        code: 40310000,
        message: `cost basis must be >= minimal amount of order ${refusal.min.toString()}`,
      });
    case 'insufficient-funds':
      return insufficient(refusal, request);
  }
}

function insufficient(
  { asset, needed, free }: Extract<Refusal, { reason: 'insufficient-funds' }>,
  { side, instrument }: OrderRequest,
): WireError {
  if (side === 'buy' && instrument.kind === 'stock') {
    const amounts = { buying_power: free.toString(), cost_basis: needed.toString() };
    return alpacaError(403, { code: 40310000, message: 'insufficient buying power', ...amounts });
  }
  const amounts = `(requested: ${needed.toString()}, available: ${free.toString()})`;
  const message =
    instrument.kind === 'crypto'
      ? `insufficient balance for ${asset} ${amounts}`
      : `insufficient qty available for order ${amounts}`;
  return alpacaError(403, {
    code: 40310000,
    message,
    available: free.toString(),
    balance: free.toString(),
    symbol: asset,
  });
}
