import { lookup } from 'node:dns/promises';
import type { AddressPolicies } from '../address-policies.ts';
import type { AddressPolicy } from '../address-policy.ts';
import { Problem } from '../problems.ts';
import { connections, type OutboundTls } from './pool.ts';
import { outboundProblem } from './problems.ts';
import { type OutboundAnswer, readAnswer } from './response.ts';
import {
  type Audience,
  type AudienceRules,
  checkTarget,
  defaultRules,
  type Resolve,
  readTarget,
  type Target,
} from './target.ts';

/**
 * The one way out for calls that are not proxied traffic: webhooks, key sets, introspection, imports by URL, bundles,
 * service discovery, the portal's try-it. It sends the headers it is given and no others of the request at hand.
 */
export interface Outbound {
  fetch(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly audience: Audience;
  /** The organisation whose record asks for the call: its networks decide. Absent or empty for the operator's. */
  readonly orgId?: string | undefined;
  /** Where the call may go, for those who know the networks of the organisation already. */
  readonly policy?: AddressPolicy | undefined;
  /** The management listeners of this process may be called: for what the operator alone configures. */
  readonly reachesManagement?: true;
  /** For everything: resolving, connecting, redirects, the whole answer. */
  readonly timeoutMs?: number;
  /** Of the answer's body, as it came and unfolded. */
  readonly maxBytes?: number;
  /** How many redirects to follow, each checked like the first URL; by default none, and the redirect is the answer. */
  readonly maxRedirects?: number;
  readonly tls?: OutboundTls;
  readonly signal?: AbortSignal;
}

export interface OutboundOptions {
  readonly rules?: Partial<Record<Audience, Partial<AudienceRules>>>;
  readonly addresses?: AddressPolicies;
  /** Networks of an organisation. */
  readonly networksOf?: (orgId: string) => Promise<readonly string[]>;
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Calls at once, for each audience: visitors cannot use up what operators need. */
  readonly maxAtOnce?: number;
}

export const defaultBounds = { timeoutMs: 10_000, maxBytes: 1024 * 1024, maxAtOnce: 100 };
export const maxTimeoutMs = 300_000;
export const maxRedirectsAllowed = 10;

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Headers that frame a message or steer a connection are ours to write; `host` decides what TLS checks. */
const ownHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-authorization', 'proxy-connection', 'accept-encoding'],
]);
/** What may follow a redirect to another origin: nothing that could be a credential. */
const harmlessHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);
const redirects = new Set([301, 302, 303, 307, 308]);

const askSystem: Resolve = async host => (await lookup(host, { all: true })).map(({ address }) => address);

/** One hop of a call: what is sent, and where to. */
interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly tls: OutboundTls | undefined;
}

export function outbound(options: OutboundOptions = {}): Outbound {
  const bounds = { ...defaultBounds, ...options };
  const resolve = options.resolve ?? askSystem;
  const rulesOf = (audience: Audience) => ({ ...defaultRules[audience], ...options.rules?.[audience] });
  const open = connections();
  const underWay: Record<Audience, number> = { operator: 0, visitor: 0 };
  const closing = new AbortController();

  async function walk(request: OutboundRequest, first: Hop, signal: AbortSignal): Promise<OutboundAnswer> {
    const { audience, maxBytes = bounds.maxBytes } = request;
    const maxRedirects = Math.min(request.maxRedirects ?? 0, maxRedirectsAllowed);
    const policy = await findPolicy(request, options);
    let hop = first;
    for (let followed = 0; ; followed++) {
      const target = await unless(signal, checkTarget(hop.url, audience, rulesOf(audience), resolve, policy));
      const answer = await open.use(`${audience} ${policy?.key ?? ''}`, target, hop.tls, async to => {
        const { method, headers, body } = hop;
        const path = hop.url.pathname + hop.url.search;
        const received = await to.request({ path, method, headers, body: body ?? null, signal });
        return readAnswer(received, target.host, maxBytes);
      });
      const next = maxRedirects > 0 ? nextHop(hop, answer, target) : undefined;
      if (!next) return answer;
      if (followed === maxRedirects)
        throw outboundProblem.too_many_redirects({ detail: { host: target.host, maxRedirects } });
      hop = next;
    }
  }

  return {
    async fetch(request) {
      const { audience } = request;
      const first = firstHop(request);
      const host = first.url.hostname;
      if (closing.signal.aborted) throw outboundProblem.closed();
      if (underWay[audience] >= bounds.maxAtOnce) throw outboundProblem.too_busy();
      const timeoutMs = Math.min(request.timeoutMs ?? bounds.timeoutMs, maxTimeoutMs);
      const clock = new AbortController();
      const timer = setTimeout(
        () => clock.abort(outboundProblem.timed_out({ detail: { host, timeoutMs } })),
        timeoutMs,
      );
      const signal = AbortSignal.any([clock.signal, closing.signal, ...(request.signal ? [request.signal] : [])]);
      underWay[audience] += 1;
      try {
        return await walk(request, first, signal);
      } catch (error) {
        throw signal.aborted ? signal.reason : foreseen(error, host);
      } finally {
        underWay[audience] -= 1;
        clearTimeout(timer);
      }
    },
    async close() {
      closing.abort(outboundProblem.closed());
      await open.close();
    },
  };
}

async function findPolicy(request: OutboundRequest, options: OutboundOptions): Promise<AddressPolicy | undefined> {
  const { addresses, networksOf } = options;
  if (request.reachesManagement) return undefined;
  if (request.policy) return request.policy;
  if (request.orgId && addresses && networksOf) return addresses.withNetworks(await networksOf(request.orgId));
  return addresses?.operator;
}

function firstHop(request: OutboundRequest): Hop {
  const method = (request.method ?? 'GET').toUpperCase();
  if (!methods.has(method)) throw outboundProblem.bad_method({ detail: { method: method.slice(0, 40) } });
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const headers = {
    'user-agent': 'gatewright',
    ...Object.fromEntries(given.filter(([name]) => !ownHeaders.has(name))),
    'accept-encoding': 'identity',
  };
  return { url: readTarget(request.url), method, headers, body: request.body, tls: request.tls };
}

/** Where an answer sends us next, if it does. Secrets stay with the origin they were meant for. */
function nextHop(hop: Hop, answer: OutboundAnswer, { host }: Target): Hop | undefined {
  const { location } = answer.headers;
  if (!redirects.has(answer.status) || typeof location !== 'string') return undefined;
  const refused = (reason: string) => outboundProblem.refused_redirect({ detail: { host, reason } });
  if (!URL.canParse(location, hop.url.href)) throw refused('its location is not a URL');
  const url = readTarget(new URL(location, hop.url.href).href);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') throw refused('it leaves https');
  const becomesGet = answer.status === 303 || (answer.status < 303 && hop.method === 'POST');
  const method = becomesGet && hop.method !== 'HEAD' ? 'GET' : hop.method;
  const body = becomesGet ? undefined : hop.body;
  if (url.origin === hop.url.origin) {
    const kept = Object.entries(hop.headers).filter(([name]) => body !== undefined || !name.startsWith('content-'));
    return { url, method, headers: Object.fromEntries(kept), body, tls: hop.tls };
  }
  if (body !== undefined) throw refused('it would send the body to another origin');
  const headers = Object.entries(hop.headers).filter(([name]) => harmlessHeaders.has(name));
  const { cert: _cert, key: _key, ...trust } = hop.tls ?? {};
  return { url, method, headers: Object.fromEntries(headers), body, tls: hop.tls && trust };
}

/** A resolver cannot be told to stop, but its answer need not be waited for. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
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

/** Whatever a connection or the other side can do wrong is foreseen; what is left is a mistake in how we asked. */
function foreseen(error: unknown, host: string): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const make = code === 'UND_ERR_INVALID_ARG' ? outboundProblem.bad_request : outboundProblem.unreachable;
  return make({ detail: { host, reason: error.message || code }, cause: error });
}
