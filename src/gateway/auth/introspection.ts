import { createHash } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { JwtMembers } from './jwt-verifier.ts';
import type { AuthServices } from './services.ts';

/** What the server that issued a token says of it: who holds it, or why it is worth nothing. */
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
/** A token that was refused may become good, but asking again for each repetition would let anybody make us ask. */
const inactiveTtlMs = 2000;
const maxResponseBytes = 64 * 1024;
const requestTimeoutMs = 5000;
/** Anybody can send tokens nobody knows: where a server is slow, the calls of other APIs must not wait behind its own. */
const maxConcurrentRequests = 100;

interface CachedIntrospection {
  readonly reply: JwtMembers | 'inactive';
  readonly untilMs: number;
}

/** Asks the server that issued a token, once for callers who come together, and again when its word has grown old. */
export function createIntrospector(
  settings: IntrospectionSettings,
  apiId: string,
  { outbound, clock, log }: Pick<AuthServices, 'outbound' | 'clock' | 'log'>,
): (token: string) => MaybePromise<IntrospectionResult> {
  const cache = new Lru<string, CachedIntrospection>(maxCachedResults);
  const inFlight = new Map<string, Promise<IntrospectionResult>>();
  const cacheMs = settings.cacheSeconds === 0 ? Number.POSITIVE_INFINITY : settings.cacheSeconds * 1000;
  /** Lengths keep the parts apart: no two questions share a name. */
  const toCacheKey = (token: string) =>
    createHash('sha256')
      .update([apiId, settings.url, settings.clientId, token].map(it => `${it.length}:${it}`).join(''))
      .digest('base64');

  async function introspect(token: string): Promise<JwtMembers | 'failed' | 'inactive'> {
    const { url, clientId, clientSecret } = settings;
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
      log.warn({ api: apiId, status }, 'a token introspection gave no answer that can be used');
    } catch (error) {
      // The words of a JSON fault repeat what could not be read.
      const reason = error instanceof SyntaxError ? 'the answer is not JSON' : (error as Error).message;
      log.warn({ api: apiId, reason }, 'a token introspection failed');
    }
    return 'failed';
  }

  async function introspectAndCache(name: string, token: string): Promise<IntrospectionResult> {
    const reply = await introspect(token);
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
    const known = cache.get(name);
    if (known && clock.now() < known.untilMs) return checkExpiry(known.reply);
    const running = inFlight.get(name);
    if (running) return running;
    if (inFlight.size >= maxConcurrentRequests) return 'failed';
    const begun = introspectAndCache(name, token).finally(() => inFlight.delete(name));
    inFlight.set(name, begun);
    return begun;
  };
}
