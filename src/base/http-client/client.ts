import { lookup } from 'node:dns/promises';
import type { AddressPolicies } from '../address-policies.ts';
import type { AddressPolicy } from '../address-policy.ts';
import { Problem } from '../problems.ts';
import { createConnectionPools, type OutboundTls } from './pool.ts';
import { outboundProblem } from './problems.ts';
import { type OutboundResponse, readResponse } from './response.ts';
import {
  type Audience,
  type AudienceRules,
  defaultAudienceRules,
  type OutboundTarget,
  parseTargetUrl,
  type ResolveHost,
  resolveTarget,
} from './target.ts';

/**
 * Guarded HTTP client for all requests that are not proxied traffic: webhooks, JWKS, introspection, imports by URL,
 * bundles, service discovery, the portal's try-it. It sends only the headers passed to it.
 */
export interface OutboundClient {
  fetch(request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly audience: Audience;
  /** Organisation that configured the request: its networks apply. Absent or empty for the operator's own. */
  readonly orgId?: string | undefined;
  /** Address policy, for callers that have looked it up already. */
  readonly policy?: AddressPolicy | undefined;
  /** Allows the management listeners of this process: for targets that only the operator configures. */
  readonly reachesManagement?: true;
  /** Total time: DNS, connecting, redirects and the whole body. */
  readonly timeoutMs?: number;
  /** Size of the response body, both encoded and decoded. */
  readonly maxBytes?: number;
  /** Redirects to follow, each checked like the first URL; 0, the default, returns the redirect itself. */
  readonly maxRedirects?: number;
  readonly tls?: OutboundTls;
  readonly signal?: AbortSignal;
}

export interface OutboundClientOptions {
  readonly rules?: Partial<Record<Audience, Partial<AudienceRules>>>;
  readonly addresses?: AddressPolicies;
  /** Networks of an organisation. */
  readonly networksOf?: (orgId: string) => Promise<readonly string[]>;
  readonly resolve?: ResolveHost;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Concurrent requests of each audience: visitors cannot exhaust the operator's share. */
  readonly maxConcurrent?: number;
}

export const defaultOutboundBounds = { timeoutMs: 10_000, maxBytes: 1024 * 1024, maxConcurrent: 100 };
const maxOutboundTimeoutMs = 300_000;
const maxRedirectsAllowed = 10;

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Headers the client sets itself: message framing, connection management, and `host`, which TLS verifies. */
const managedHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-authorization', 'proxy-connection', 'accept-encoding'],
]);
/** Headers that follow a redirect to another origin: none that can hold a credential. */
const crossOriginHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

const resolveWithSystem: ResolveHost = async host => (await lookup(host, { all: true })).map(({ address }) => address);

/** One request of a redirect chain. */
interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly tls: OutboundTls | undefined;
}

export function createOutboundClient(options: OutboundClientOptions = {}): OutboundClient {
  const bounds = { ...defaultOutboundBounds, ...options };
  const resolve = options.resolve ?? resolveWithSystem;
  const rulesFor = (audience: Audience) => ({ ...defaultAudienceRules[audience], ...options.rules?.[audience] });
  const pools = createConnectionPools();
  const inFlight: Record<Audience, number> = { operator: 0, visitor: 0 };
  const closing = new AbortController();

  async function followRedirects(request: OutboundRequest, first: Hop, signal: AbortSignal): Promise<OutboundResponse> {
    const { audience, maxBytes = bounds.maxBytes } = request;
    const maxRedirects = Math.min(request.maxRedirects ?? 0, maxRedirectsAllowed);
    const policy = await findPolicy(request, options);
    let hop = first;
    for (let followed = 0; ; followed++) {
      const target = await rejectOnAbort(signal, resolveTarget(hop.url, audience, rulesFor(audience), resolve, policy));
      const answer = await pools.use(`${audience} ${policy?.key ?? ''}`, target, hop.tls, async to => {
        const { method, headers, body } = hop;
        const path = hop.url.pathname + hop.url.search;
        const received = await to.request({ path, method, headers, body: body ?? null, signal });
        return readResponse(received, target.host, maxBytes);
      });
      const next = maxRedirects > 0 ? buildRedirectHop(hop, answer, target) : undefined;
      if (!next) return answer;
      if (followed === maxRedirects)
        throw outboundProblem.too_many_redirects({ detail: { host: target.host, maxRedirects } });
      hop = next;
    }
  }

  return {
    async fetch(request) {
      const { audience } = request;
      const first = buildFirstHop(request);
      const host = first.url.hostname;
      if (closing.signal.aborted) throw outboundProblem.closed();
      if (inFlight[audience] >= bounds.maxConcurrent) throw outboundProblem.too_busy();
      const timeoutMs = Math.min(request.timeoutMs ?? bounds.timeoutMs, maxOutboundTimeoutMs);
      const timeout = new AbortController();
      const timer = setTimeout(
        () => timeout.abort(outboundProblem.timed_out({ detail: { host, timeoutMs } })),
        timeoutMs,
      );
      const signal = AbortSignal.any([timeout.signal, closing.signal, ...(request.signal ? [request.signal] : [])]);
      inFlight[audience] += 1;
      try {
        return await followRedirects(request, first, signal);
      } catch (error) {
        throw signal.aborted ? signal.reason : toOutboundProblem(error, host);
      } finally {
        inFlight[audience] -= 1;
        clearTimeout(timer);
      }
    },
    async close() {
      closing.abort(outboundProblem.closed());
      await pools.close();
    },
  };
}

async function findPolicy(
  request: OutboundRequest,
  options: OutboundClientOptions,
): Promise<AddressPolicy | undefined> {
  const { addresses, networksOf } = options;
  if (request.reachesManagement) return undefined;
  if (request.policy) return request.policy;
  if (request.orgId && addresses && networksOf) return addresses.withNetworks(await networksOf(request.orgId));
  return addresses?.operator;
}

function buildFirstHop(request: OutboundRequest): Hop {
  const method = (request.method ?? 'GET').toUpperCase();
  if (!methods.has(method)) throw outboundProblem.bad_method({ detail: { method: method.slice(0, 40) } });
  const requestHeaders = Object.entries(request.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const headers = {
    'user-agent': 'gatewright',
    ...Object.fromEntries(requestHeaders.filter(([name]) => !managedHeaders.has(name))),
    'accept-encoding': 'identity',
  };
  return { url: parseTargetUrl(request.url), method, headers, body: request.body, tls: request.tls };
}

/** Next request of a redirect (RFC 9110, 15.4). Credentials are dropped when the origin changes. */
function buildRedirectHop(hop: Hop, answer: OutboundResponse, { host }: OutboundTarget): Hop | undefined {
  const { location } = answer.headers;
  if (!redirectStatuses.has(answer.status) || typeof location !== 'string') return undefined;
  const refuseRedirect = (reason: string) => outboundProblem.refused_redirect({ detail: { host, reason } });
  if (!URL.canParse(location, hop.url.href)) throw refuseRedirect('the Location header is not a URL');
  const url = parseTargetUrl(new URL(location, hop.url.href).href);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') throw refuseRedirect('it leads from https to http');
  const becomesGet = answer.status === 303 || (answer.status < 303 && hop.method === 'POST');
  const method = becomesGet && hop.method !== 'HEAD' ? 'GET' : hop.method;
  const body = becomesGet ? undefined : hop.body;
  if (url.origin === hop.url.origin) {
    const kept = Object.entries(hop.headers).filter(([name]) => body !== undefined || !name.startsWith('content-'));
    return { url, method, headers: Object.fromEntries(kept), body, tls: hop.tls };
  }
  if (body !== undefined) throw refuseRedirect('it would send the body to another origin');
  const headers = Object.entries(hop.headers).filter(([name]) => crossOriginHeaders.has(name));
  const { cert: _cert, key: _key, secureContext: _context, ...trust } = hop.tls ?? {};
  return { url, method, headers: Object.fromEntries(headers), body, tls: hop.tls && trust };
}

/** Rejects when the signal aborts: DNS lookups cannot be cancelled, but need not be awaited. */
async function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Maps errors of undici and the network to problems; errors without a code are bugs and pass through. */
function toOutboundProblem(error: unknown, host: string): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const make = code === 'UND_ERR_INVALID_ARG' ? outboundProblem.bad_request : outboundProblem.unreachable;
  return make({ detail: { host, reason: error.message || code }, cause: error });
}
