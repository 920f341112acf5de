import { Problem } from '#base/problems.ts';
import { CallFailed, client } from '#operations/client.ts';
import type { catalogue } from '../catalogue.ts';
import { problem } from './problems.ts';

/** The control interface of a gateway, over HTTP and nothing else. */
/** The operations of the control interface alone: the types of all of them together are more than the checker takes. */
type ControlOperations = readonly Extract<(typeof catalogue)[number], { path: `/gw/${string}` }>[];
export type Control = ReturnType<typeof client<ControlOperations>>;

export interface Reached {
  readonly url: string;
  readonly secret: string;
}

/** Longer than the gateway itself takes for anything. */
const patienceMs = 60_000;

export function reach({ url, secret }: Reached): Control {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw problem.bad_url({ detail: { url } });
  if (secret === '') throw problem.no_secret();
  const base = url.replace(/\/+$/, '');
  const call = client<ControlOperations>({
    url: base,
    headers: { 'x-gw-authorization': secret },
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(patienceMs) }),
  });
  const explained: Control = async (route, asked) => {
    try {
      return answered(await call(route, asked), base);
    } catch (error) {
      throw explain(error, base);
    }
  };
  return explained;
}

/** Pages that greet whoever comes by are no answer. */
function answered<T>(value: T, url: string): T {
  if (typeof value === 'object' && value !== null) return value;
  throw problem.not_control({ detail: { url, status: 'with something else' } });
}

/** What a person reads of a call that failed. The status stays, for those who want to know whether a thing is there. */
function explain(error: unknown, url: string): unknown {
  if (error instanceof Problem) return error;
  if (!(error instanceof CallFailed)) return problem.unreachable({ detail: { url, reason: reasonOf(error) } });
  const { status, body } = error;
  const message = (body as { message?: unknown } | undefined)?.message;
  if (typeof message !== 'string') return problem.not_control({ detail: { url, status } });
  if (status === 403) return problem.wrong_secret({ detail: { url } });
  return new Problem(problem.refused.code, { status, message });
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `not within ${patienceMs / 1000} seconds`;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

/** Undefined where there is no such thing. */
export async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.code === problem.refused.code && error.status === 404) return undefined;
    throw error;
  }
}
