import { Problem } from '#base/problems.ts';
import type { Model } from '#definition/model.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';

type Client = Model['upstreamClientCredentials'];
export type GrantType = 'client_credentials' | 'password';

/** A token for the upstream, as its authorisation server gave it. */
export interface UpstreamToken {
  /** The value of the header that carries it. */
  readonly value: string;
  /** The whole reply. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly obtainedAtMs: number;
  readonly expiresAtMs: number;
}

export interface UpstreamTokens {
  /** One token for all calls, fetched once when several need it. Undefined where none can be had now. */
  get(): MaybePromise<UpstreamToken | undefined>;
  /** The upstream did not take it. */
  invalidate(): void;
}

const maxResponseBytes = 64 * 1024;
const requestTimeoutMs = 10_000;
/** A token whose server does not say how long it lasts. */
const defaultTtlMs = 300_000;
/** A token is given up before its end, so that it does not end on its way. */
const expiryLeewayMs = 10_000;
/** How long a server that gave no token, or one that was not taken, is left alone. */
const minRetryIntervalMs = 1000;

class TokenUnavailable extends Error {}

export function createUpstreamTokens(
  client: Client,
  grantType: GrantType,
  { outbound, clock, log }: Pick<StepServices, 'outbound' | 'clock' | 'log'>,
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
      if (status !== 200) throw new TokenUnavailable(`the authorisation server answers ${status}`);
      cached = parseToken(body.toString(), clock.now());
    } catch (error) {
      if (!(error instanceof TokenUnavailable || error instanceof Problem)) throw error;
      failedAtMs = clock.now();
      cached = undefined;
      log.warn({ api: apiId, reason: error.message }, 'no token for the upstream');
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

/** The words of a fault repeat nothing of the reply: there may be a secret in it. */
function parseToken(text: string, nowMs: number): UpstreamToken {
  const members = parseObject(text);
  const { access_token: token, expires_in: expires } = members;
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) throw new TokenUnavailable('the reply has no token');
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
    throw new TokenUnavailable('the reply is not JSON');
  }
  throw new TokenUnavailable('the reply is not an object');
}
