import type { MaybePromise } from '#base/maybe-promise.ts';
import { Problem } from '#base/problems.ts';
import type { Model } from '#definition/model.ts';
import type { ProxyServices } from './services.ts';

type Client = Model['upstreamClientCredentials'];
export type GrantType = 'client_credentials' | 'password';

/** Access token for the upstream. */
export interface UpstreamToken {
  /** Header value. */
  readonly value: string;
  /** Members of the token response. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly obtainedAtMs: number;
  readonly expiresAtMs: number;
}

export interface UpstreamTokens {
  /** Cached token; concurrent requests share one fetch. Undefined when none is available. */
  get(): MaybePromise<UpstreamToken | undefined>;
  /** The upstream rejected the token. */
  invalidate(): void;
}

const maxResponseBytes = 64 * 1024;
const requestTimeoutMs = 10_000;
/** TTL of a token without `expires_in`. */
const defaultTtlMs = 300_000;
/** Refreshed before expiry, so that it does not expire in flight. */
const expiryLeewayMs = 10_000;
/** Minimum interval between token requests after a failure or rejection. */
const minRetryIntervalMs = 1000;

class TokenUnavailable extends Error {}

export function createUpstreamTokens(
  client: Client,
  grantType: GrantType,
  { outbound, clock, log }: Pick<ProxyServices, 'outbound' | 'clock' | 'log'>,
  apiId: string,
): UpstreamTokens {
  let cached: UpstreamToken | undefined;
  let pending: Promise<UpstreamToken | undefined> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  const request = buildTokenRequest(client, grantType);

  async function fetchToken(): Promise<UpstreamToken | undefined> {
    try {
      const { status, body } = await outbound.fetch({
        ...request,
        audience: 'operator',
        timeoutMs: requestTimeoutMs,
        maxBytes: maxResponseBytes,
      });
      if (status !== 200) throw new TokenUnavailable(`the authorisation server responded with status ${status}`);
      cached = parseToken(body.toString(), clock.now());
    } catch (error) {
      if (!(error instanceof TokenUnavailable || error instanceof Problem)) throw error;
      failedAtMs = clock.now();
      cached = undefined;
      log.warn({ api: apiId, reason: error.message }, 'upstream token request failed');
    }
    return cached;
  }

  return {
    get() {
      const now = clock.now();
      if (cached && now < cached.expiresAtMs) return cached;
      if (pending) return pending;
      if (now - failedAtMs < minRetryIntervalMs) return undefined;
      pending = fetchToken().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    invalidate() {
      if (cached && clock.now() - cached.obtainedAtMs >= minRetryIntervalMs) cached = undefined;
    },
  };
}

function buildTokenRequest(
  { clientId, clientSecret, tokenUrl, method, scopes, username, password }: Client,
  grant: GrantType,
) {
  const inBody = method === 'client_secret_post';
  const form = new URLSearchParams({ grant_type: grant });
  if (grant === 'password') {
    form.set('username', username);
    form.set('password', password);
  }
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  if (inBody || clientSecret === '') form.set('client_id', clientId);
  if (inBody && clientSecret !== '') form.set('client_secret', clientSecret);
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (!inBody && clientSecret !== '') headers.authorization = `Basic ${credentials.toString('base64')}`;
  return { url: tokenUrl, method: 'POST', headers, body: form.toString() };
}

/** Errors repeat nothing of the token response: it may contain a secret. */
function parseToken(text: string, nowMs: number): UpstreamToken {
  const members = parseObject(text);
  const { access_token: token, expires_in: expires } = members;
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) throw new TokenUnavailable('the response has no token');
  const seconds = Number(expires);
  const ttlMs = expires !== undefined && seconds > 0 ? seconds * 1000 : defaultTtlMs;
  const untilMs = nowMs + Math.max(ttlMs - expiryLeewayMs, ttlMs / 2);
  return { value: `Bearer ${token}`, members, obtainedAtMs: nowMs, expiresAtMs: untilMs };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    throw new TokenUnavailable('the response is not JSON');
  }
  throw new TokenUnavailable('the response is not an object');
}
