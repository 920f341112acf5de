import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';
import { type BothFormats, type Published, publishBoth } from './both-formats.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Upstream responses to the requests of one case. */
export interface Says {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Without saying how long the body is. */
  chunked?: boolean;
  trailers?: Record<string, string>;
}

export interface Ask {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Upstream response from here on. */
  says?: Says;
}

export interface ReceivedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An upstream with the responses of each case, which counts its requests. */
export async function startOrigin() {
  const upstream = await startUpstream();
  const says = new Map<string, Says>();
  const counts = new Map<string, number>();
  upstream.answer = (received, response) => {
    const id = /\bcase=(\w+)/.exec(received.url!)?.[1] ?? '';
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    const { status = 200, headers = {}, body = `${id} ${count}`, chunked, trailers } = says.get(id) ?? {};
    if (!chunked && status !== 204 && status !== 304) response.setHeader('content-length', Buffer.byteLength(body));
    response.writeHead(status, headers);
    if (trailers) response.addTrailers(trailers);
    if (chunked) response.write(body);
    response.end(chunked ? undefined : body);
  };
  return { upstream, says, count: (id: string) => counts.get(id) ?? 0 };
}

export type Origin = Awaited<ReturnType<typeof startOrigin>>;

export const agent = new Agent({ keepAlive: true });

/** Sends exactly what it is given: `fetch` has opinions of its own about caching. */
export const sendRequest = (url: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const asked = request(url, { method, headers: { ...length, ...headers }, agent }, reply => {
      const chunks: Buffer[] = [];
      reply.on('data', chunk => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({ status: reply.statusCode!, headers: reply.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });

export interface Endpoint {
  path: string;
  method: string;
  timeout?: number;
  cacheByRegex?: string;
  cacheResponseCodes?: number[];
}

export interface Options {
  cache: Record<string, unknown>;
  endpoints?: readonly Endpoint[];
}

const classicNames: Readonly<Record<string, string>> = {
  enabled: 'enable_cache',
  mode: 'mode',
  timeout: 'cache_timeout',
  cacheAllSafeRequests: 'cache_all_safe_requests',
  cacheResponseCodes: 'cache_response_codes',
  cacheByHeaders: 'cache_by_headers',
  cacheByRegex: 'cache_key_regex',
  enableUpstreamCacheControl: 'enable_upstream_cache_control',
  controlTTLHeaderName: 'cache_control_ttl_header',
};

const toClassicNames = (from: object) =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [classicNames[name] ?? name, value]));

/** Caching options in both formats. */
export function toDefinitions({ cache, endpoints = [] }: Options): BothFormats {
  const advanced = endpoints.map(({ timeout = 0, ...it }) => ({
    ...toClassicNames(it),
    timeout,
  }));
  const operations = endpoints.map(({ path, method, ...it }) => [
    `${method}${path}`.replaceAll(/\W/g, ''),
    { cache: { enabled: true, timeout: 0, ...it } },
  ]);
  const paths: Record<string, Record<string, object>> = {};
  for (const { path, method } of endpoints)
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        operationId: `${method}${path}`.replaceAll(/\W/g, ''),
        responses: { 200: { description: '' } },
      },
    };
  const version = { name: 'Default', use_extended_paths: true, extended_paths: { advance_cache_config: advanced } };
  return {
    classic: {
      cache_options: toClassicNames(cache),
      version_data: { not_versioned: true, versions: { Default: version } },
    },
    oas: { middleware: { global: { cache }, operations: Object.fromEntries(operations) } },
    document: { paths },
  };
}

/** Publishes each set of options once, in both formats. */
export function publisher(app: () => TestApp, upstream: () => Upstream) {
  const known = new Map<Options, Promise<Published[]>>();
  return (options: Options): Promise<Published[]> => {
    const made = known.get(options) ?? publishBoth(app(), upstream(), toDefinitions(options));
    known.set(options, made);
    return made;
  };
}

export interface Case {
  title: string;
  options: Options;
  says?: Says;
  asks: readonly Ask[];
  /** A letter for each call: M came from the upstream, H was kept, 3 was kept and is the caller's already. */
  expected: string;
}

/** Sends the calls of a case one after the other, and returns the origin of each response. */
export async function outcomeOf(url: string, origin: Origin, { says, asks }: Case): Promise<string> {
  const id = createPublicId();
  if (says) origin.says.set(id, says);
  const fetched: ReceivedResponse[] = [];
  let outcome = '';
  for (const ask of asks) {
    if (ask.says) origin.says.set(id, ask.says);
    const before = origin.count(id);
    const received = await sendRequest(`${url}${ask.path ?? '/a'}?case=${id}${ask.query ?? ''}`, ask);
    const isCached = received.headers['x-gw-cached-response'] === '1';
    assert.equal(origin.count(id) - before, isCached ? 0 : 1, 'an answer says where it came from');
    outcome += isCached ? (received.status === 304 ? '3' : 'H') : 'M';
    if (isCached) checkCached(received, fetched, ask);
    else fetched.push(received);
  }
  return outcome;
}

/** A kept answer is one that came, in all but what belongs to a call. */
function checkCached(received: ReceivedResponse, fetched: readonly ReceivedResponse[], { method }: Ask): void {
  assert.match(String(received.headers.age), /^\d+$/);
  assert.equal(received.headers['set-cookie'], undefined);
  if (received.status === 304) {
    assert.equal(received.body.length, 0);
    assert.equal(received.headers['content-length'], undefined);
    return;
  }
  const same = fetched.find(
    it =>
      it.status === received.status &&
      it.headers['content-type'] === received.headers['content-type'] &&
      (method === 'HEAD' || it.body.equals(received.body)),
  );
  assert.ok(same, 'what is kept is what came');
  if (same.headers['content-length']) assert.equal(received.headers['content-length'], same.headers['content-length']);
}
