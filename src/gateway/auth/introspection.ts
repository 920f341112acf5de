import { createHash } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { JwtMembers } from './jwt-verifier.ts';
import type { AuthServices } from './services.ts';

/** Introspection response (RFC 7662): the claims of an active token, or why it is refused. */
export type IntrospectionResult = JwtMembers | 'failed' | 'inactive' | 'expired';
export const isIntrospectionFailure = (reply: IntrospectionResult): reply is Exclude<IntrospectionResult, JwtMembers> =>
  typeof reply === 'string';

export interface IntrospectionSettings {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly cacheEnabled: boolean;
  readonly cacheSeconds: number;
}

const maxCachedResults = 5000;
/** Negative caching: a refused token may become active, but each repetition must not cause a request. */
const inactiveTtlMs = 2000;
const maxResponseBytes = 64 * 1024;
const requestTimeoutMs = 5000;
/** Per API: unknown tokens sent to one API with a slow server must not exhaust the connections of others. */
const maxConcurrentRequests = 100;

interface CachedIntrospection {
  readonly reply: JwtMembers | 'inactive';
  readonly untilMs: number;
}

/** Token introspection with a cache; concurrent requests for one token are coalesced. */
export function createIntrospector(
  settings: IntrospectionSettings,
  apiId: string,
  services: Pick<AuthServices, 'outbound' | 'clock' | 'log'>,
): (token: string) => MaybePromise<IntrospectionResult> {
  const { clock } = services;
  const cache = new Lru<string, CachedIntrospection>(maxCachedResults);
  const inFlight = new Map<string, Promise<IntrospectionResult>>();
  const cacheMs = settings.cacheSeconds === 0 ? Number.POSITIVE_INFINITY : settings.cacheSeconds * 1000;
  /** Length prefixes keep the parts apart. */
  const toCacheKey = (token: string) =>
    createHash('sha256')
      .update([apiId, settings.url, settings.clientId, token].map(it => `${it.length}:${it}`).join(''))
      .digest('base64');

  async function introspectAndCache(name: string, token: string): Promise<IntrospectionResult> {
    const reply = await introspect(settings, apiId, services, token);
    if (reply === 'failed') return reply;
    if (settings.cacheEnabled) {
      const forMs = reply === 'inactive' ? Math.min(cacheMs, inactiveTtlMs) : cacheMs;
      cache.set(name, { reply, untilMs: clock.now() + forMs });
    }
    return checkExpiry(reply);
  }

  const checkExpiry = (reply: JwtMembers | 'inactive'): IntrospectionResult => {
    if (reply === 'inactive') return reply;
    const { exp } = reply;
    return exp !== undefined && !(clock.now() < Number(exp) * 1000) ? 'expired' : reply;
  };

  return token => {
    const name = toCacheKey(token);
    const cached = cache.get(name);
    if (cached && clock.now() < cached.untilMs) return checkExpiry(cached.reply);
    const running = inFlight.get(name);
    if (running) return running;
    if (inFlight.size >= maxConcurrentRequests) return 'failed';
    const request = introspectAndCache(name, token).finally(() => inFlight.delete(name));
    inFlight.set(name, request);
    return request;
  };
}

async function introspect(
  { url, clientId, clientSecret }: IntrospectionSettings,
  apiId: string,
  { outbound, log }: Pick<AuthServices, 'outbound' | 'log'>,
  token: string,
): Promise<JwtMembers | 'failed' | 'inactive'> {
  try {
    const { status, body } = await outbound.fetch({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }).toString(),
      audience: 'operator',
      timeoutMs: requestTimeoutMs,
      maxBytes: maxResponseBytes,
    });
    const reply: unknown = status === 200 ? JSON.parse(body.toString()) : undefined;
    if (typeof reply === 'object' && reply !== null && 'active' in reply && typeof reply.active === 'boolean')
      return reply.active ? (reply as JwtMembers & object) : 'inactive';
    log.warn({ api: apiId, status }, 'token introspection response unusable');
  } catch (error) {
    // The message of a JSON error quotes the response.
    const reason = error instanceof SyntaxError ? 'the response is not JSON' : (error as Error).message;
    log.warn({ api: apiId, reason }, 'token introspection failed');
  }
  return 'failed';
}
