/** The conditions that callers tell apart, under Postgres' own names. */
export const SQLSTATE = {
  foreignKeyViolation: '23503',
  insufficientPrivilege: '42501',
  invalidAuthorizationSpecification: '28000',
  invalidCatalogName: '3D000',
  invalidPassword: '28P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  tooManyConnections: '53300',
  uniqueViolation: '23505',
} as const;

/** Five characters, as Postgres sends them; undefined for an error that did not come from it. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = fieldOf(error, 'code');
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlStateOf(error) === SQLSTATE.uniqueViolation && fieldOf(error, 'constraint') === constraint;
}

function fieldOf(error: unknown, name: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}
