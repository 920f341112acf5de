import { Problem } from '#base/problems.ts';
import { CallFailed, createOperationClient } from '#operations/client.ts';
import type { catalogue } from '../catalogue.ts';
import { problem } from './problems.ts';

/** Client of the control API of a gateway, over HTTP only. */
/** Control operations only: the types of the whole catalogue exceed the compiler's limits. */
type ControlOperations = readonly Extract<(typeof catalogue)[number], { path: `/gw/${string}` }>[];
export type ControlClient = ReturnType<typeof createOperationClient<ControlOperations>>;

/** Result of one write. */
export interface ApplyResult {
  readonly key: string;
  readonly action: string;
  /** Members accepted without effect. */
  readonly warnings?: readonly string[];
}

export interface ControlClientOptions {
  readonly url: string;
  readonly secret: string;
}

const requestTimeoutMs = 60_000;

export function createControlClient({ url, secret }: ControlClientOptions): ControlClient {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw problem.bad_url({ detail: { url } });
  if (secret === '') throw problem.no_secret();
  const base = url.replace(/\/+$/, '');
  const call = createOperationClient<ControlOperations>({
    url: base,
    headers: { 'x-gw-authorization': secret },
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) }),
  });
  const callWithProblems: ControlClient = async (route, options) => {
    try {
      return requireObject(await call(route, options), base);
    } catch (error) {
      throw toProblem(error, base);
    }
  };
  return callWithProblems;
}

/** Rejects HTML and other non-JSON responses: the URL is not a control API. */
function requireObject<T>(value: T, url: string): T {
  if (typeof value === 'object' && value !== null) return value;
  throw problem.not_control({ detail: { url, status: 'with something else' } });
}

/** Problem for a failed call. It keeps the status, so that callers can recognise 404. */
function toProblem(error: unknown, url: string): unknown {
  if (error instanceof Problem) return error;
  if (!(error instanceof CallFailed)) return problem.unreachable({ detail: { url, reason: describeReason(error) } });
  const { status, body } = error;
  const message = (body as { message?: unknown } | undefined)?.message;
  if (typeof message !== 'string') return problem.not_control({ detail: { url, status } });
  if (status === 403) return problem.wrong_secret({ detail: { url } });
  return new Problem(problem.refused.code, { status, message });
}

function describeReason(error: unknown): string {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no response within ${requestTimeoutMs / 1000} seconds`;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

/** Maps 404 to undefined. */
export async function findOrUndefined<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof Problem && error.code === problem.refused.code && error.status === 404) return undefined;
    throw error;
  }
}
