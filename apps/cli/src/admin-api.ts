import { z } from 'zod';
import { OperatorError } from '#libs/operator';
import type { Token } from './access.js';

const ANSWER_WAIT_MS_MAX = 30_000;

const Problem = z.object({
  detail: z.string(),
  requestId: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

/** The admin API of one orchestrator. Whatever goes wrong becomes one sentence for the operator. */
export class AdminApi {
  constructor(
    readonly address: string,
    private readonly token: Token,
  ) {}

  /** The answer as it is, for programs. */
  getText(path: string): Promise<string> {
    return this.request('GET', path);
  }

  async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> {
    const answer = schema.safeParse(parseJson(await this.request('GET', path)));
    if (answer.success) return answer.data;
    throw new OperatorError(
      `${this.address} answers ${path} in a way that this version does not understand; correct --url, or run "npm run build".`,
    );
  }

  async post(path: string): Promise<void> {
    await this.request('POST', path);
  }

  private async request(method: 'GET' | 'POST', path: string): Promise<string> {
    const { status, text } = await this.send(method, path);
    if (status >= 200 && status < 300) return text;
    if (status === 401) throw new OperatorError(this.explainRefusal());
    throw new OperatorError(explainProblem(status, text) ?? this.explainStranger(status));
  }

  private async send(method: string, path: string): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(`${this.address}${path}`, {
        method,
        headers: this.token.value === undefined ? {} : { authorization: `Bearer ${this.token.value}` },
        // The token is meant for this address alone.
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_WAIT_MS_MAX),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw new OperatorError(
        `No orchestrator answers at ${this.address} (${reasonOf(error)}). Start it with "npm start", or correct PORT or --url.`,
        { cause: error },
      );
    }
  }

  private explainRefusal(): string {
    const { value, source } = this.token;
    return value === undefined
      ? `The orchestrator at ${this.address} wants a token, and there is none: ADMIN_TOKEN is not set and ${source} does not exist. Set ADMIN_TOKEN, or DATA_DIR to the orchestrator's folder.`
      : `The orchestrator at ${this.address} refuses the token from ${source}. Set ADMIN_TOKEN, or DATA_DIR to the orchestrator's folder.`;
  }

  private explainStranger(status: number): string {
    return `${this.address} answers with status ${status} and is no orchestrator of Flotilla; correct PORT or --url.`;
  }
}

/** The API's own words, with what it says of each faulty field, or with what finds a failure of its own in its log. */
function explainProblem(status: number, text: string): string | undefined {
  const { data } = Problem.safeParse(parseJson(text));
  if (!data) return undefined;
  const fields = data.errors?.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (fields?.length) return `${data.detail} (${fields.join('; ')})`;
  return status >= 500 ? `${data.detail} (request id ${data.requestId})` : data.detail;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch says only that it failed; the reason stands behind it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_WAIT_MS_MAX / 1000} s`;
  const cause: unknown = error.cause;
  if (!(cause instanceof Error)) return error.message;
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}
