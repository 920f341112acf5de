import type { z } from 'zod';

/** Typed client: calls operations by route, with the types of their declarations. Needs no code of the server. */
type Declared = { method: string; path: string; params?: unknown; query?: unknown; body?: unknown; returns: unknown };

/** The operations of a list by route: `GET /api/keys/{keyId}`. */
export type Routes<List extends readonly unknown[]> = {
  [Each in List[number] as Each extends Declared ? `${Each['method']} ${Each['path']}` : never]: Each;
};

type In<S> = S extends z.ZodType ? z.input<S> : undefined;
type Part<Name extends string, S> = S extends z.ZodType ? { [N in Name]: In<S> } : { [N in Name]?: undefined };
type Member<Op, Name extends string> = Op extends { [N in Name]?: infer S } ? OrNone<Exclude<S, undefined>> : undefined;
type OrNone<S> = [S] extends [never] ? undefined : S;

export type CallArguments<Op> = Part<'params', Member<Op, 'params'>> &
  Partial<Part<'query', Member<Op, 'query'>>> &
  Part<'body', Member<Op, 'body'>> & { readonly contentType?: string };
export type CallResult<Op> = Op extends { returns: infer R extends z.ZodType } ? z.output<R> : never;

export class CallFailed extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(route: string, status: number, body: unknown) {
    super(`${route} answered ${status}`);
    this.name = 'CallFailed';
    this.status = status;
    this.body = body;
  }
}

export interface ClientOptions {
  readonly url: string;
  /** Sent with every request: the credential of the surface. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export function createOperationClient<List extends readonly unknown[]>({
  url,
  headers,
  fetch: send = fetch,
}: ClientOptions) {
  type All = Routes<List>;
  return async function call<Route extends keyof All & string>(
    route: Route,
    callArguments: CallArguments<All[Route]>,
  ): Promise<CallResult<All[Route]>> {
    const [method, path] = route.split(' ') as [string, string];
    const { params, query, body, contentType } = callArguments as RawArguments;
    const response = await send(url + buildPath(path, params ?? {}) + formatQuery(query ?? {}), {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': contentType ?? contentTypeFor(body) }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const value = text === '' ? undefined : parseBody(text);
    if (!response.ok) throw new CallFailed(route, response.status, value);
    return value as CallResult<All[Route]>;
  };
}

type Values = Record<string, unknown>;

interface RawArguments {
  readonly params?: Values;
  readonly query?: Values;
  readonly body?: unknown;
  /** Media type of the body; default: by the type of its value. */
  readonly contentType?: string;
}

const contentTypeFor = (body: unknown) => (typeof body === 'string' ? 'text/plain' : 'application/json');

const buildPath = (path: string, params: Values) =>
  path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(params[name.replaceAll('-', '_')])),
  );

function formatQuery(query: Values): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
