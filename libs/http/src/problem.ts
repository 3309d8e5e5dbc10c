import { STATUS_CODES } from 'node:http';

/** The body of every error, as RFC 9457 describes it. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Finds the lines of this request in the log. */
  readonly requestId: string;
  /** Which refusal it is, for a program to decide on, where there are several with one status. */
  readonly code?: string;
  /** One entry per faulty field of the request. */
  readonly errors?: readonly FieldError[];
}

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export function problem(fault: {
  status: number;
  detail: string;
  requestId: string;
  code?: string | undefined;
  errors?: readonly FieldError[] | undefined;
}): Problem {
  const { status, detail, requestId, code, errors } = fault;
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: 'about:blank', title, status, detail, requestId, ...(code && { code }), ...(errors && { errors }) };
}
