import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '#libs/clock';
import type { Config } from '#libs/config';
import { OperatorError } from '#libs/operator';
import { KeysUnavailable, RemoteKeySet } from './key-set.js';
import { TenantId } from './tenant-id.js';

const TOKEN_CHARS_MAX = 8_192;
/** By how much the issuer's clock and ours may differ. */
const CLOCK_TOLERANCE_SEC = 5;

export type TokenCheck =
  | { readonly outcome: 'valid'; readonly tenantId: string }
  | { readonly outcome: 'refused'; readonly reason: string }
  /** Nobody can tell at the moment. */
  | { readonly outcome: 'unavailable'; readonly reason: string; readonly retryAfterMs: number };

interface Trust {
  readonly algorithms: string[];
  readonly findKey: JWTVerifyGetKey;
  readonly issuer: string | undefined;
  readonly audience: string;
}

type TokenSettings = Pick<Config, 'JWT_SECRET' | 'JWKS_URL' | 'JWT_ISSUER' | 'JWT_AUDIENCE'>;

/** Tells which tenant a token speaks for. What it may be signed with follows from the settings, never from the token. */
export class TenantTokens {
  private readonly trust: Trust | undefined;

  constructor(
    settings: TokenSettings,
    private readonly clock: Clock,
    observer: { failed(error: Error): void },
  ) {
    this.trust = trustOf(settings, (url) => new RemoteKeySet(url, clock, observer));
  }

  async check(token: string): Promise<TokenCheck> {
    if (!this.trust) return refused('tenants cannot enter here until JWT_SECRET or JWKS_URL is set');
    if (token.length > TOKEN_CHARS_MAX) return refused(`it is longer than ${TOKEN_CHARS_MAX} characters`);
    const { findKey, algorithms, issuer, audience } = this.trust;
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms,
        audience,
        ...(issuer !== undefined && { issuer }),
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SEC,
        currentDate: new Date(this.clock.now()),
      });
      const tenant = TenantId.safeParse(payload.sub);
      return tenant.success
        ? { outcome: 'valid', tenantId: tenant.data }
        : refused('its claim "sub" names no tenant: 1 to 200 characters, none of them a control character');
    } catch (error) {
      if (error instanceof KeysUnavailable) {
        return { outcome: 'unavailable', reason: error.message, retryAfterMs: error.retryAfterMs };
      }
      if (error instanceof errors.JOSEError) return refused(reasonOf(error, algorithms));
      throw error;
    }
  }
}

function trustOf(settings: TokenSettings, openKeySet: (url: string) => RemoteKeySet): Trust | undefined {
  const { JWT_SECRET: secret, JWKS_URL: url, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = settings;
  if (secret !== undefined && url !== undefined) {
    throw new OperatorError(
      "Both JWT_SECRET and JWKS_URL are set. Tenants' tokens are signed in one way only: unset one of them.",
    );
  }
  if (secret !== undefined) {
    const key = Buffer.from(secret);
    return { algorithms: ['HS256'], findKey: () => key, issuer, audience };
  }
  if (url === undefined) return undefined;
  if (issuer === undefined) {
    throw new OperatorError(
      'JWKS_URL is set without JWT_ISSUER. Keys may be shared by many issuers: name the one whose tokens are meant, as their "iss" does.',
    );
  }
  return { algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'], findKey: openKeySet(url).find, issuer, audience };
}

function refused(reason: string): TokenCheck {
  return { outcome: 'refused', reason };
}

function reasonOf(error: errors.JOSEError, algorithms: readonly string[]): string {
  if (error instanceof errors.JWTExpired) return 'it has expired; get a new one';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return `it lacks the claim "${error.claim}"`;
    return error.claim === 'nbf' ? 'it is not valid yet' : `its claim "${error.claim}" is not the expected one`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return `it is not signed with ${algorithms.join(', ')}`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature does not fit';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return 'its header names none, or not one alone, of the keys at JWKS_URL';
  }
  return 'it is no signed token that can be read';
}
