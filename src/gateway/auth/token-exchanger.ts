import { createHash } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { Problem } from '#base/problems.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepContext } from '../pipeline/step.ts';
import type { VariableServices } from '../variables/variables.ts';
import type { AuthServices } from './services.ts';
import {
  type ClientAuthServices,
  createClientAuthentication,
  createRequestBuilder,
  type ExchangeProvider,
  type ExchangeRequest,
  type ExchangeTarget,
} from './token-exchange-request.ts';

/** The exchanged token, or why there is none. */
export type ExchangeResult = { readonly token: string; readonly isNew: boolean } | 'refused' | 'failed';

const maxCachedTokens = 5000;
const maxResponseBytes = 64 * 1024;
const defaultTimeoutMs = 15_000;
/** Negative caching, by outcome. */
const negativeTtlMs = { refused: 2000, failed: 1000 };
/** Error codes about the client's token; others are about the gateway. */
const tokenErrors = new Set(['invalid_grant', 'invalid_target', 'invalid_scope', 'access_denied']);

class ExchangeFailed extends Error {
  readonly outcome: 'refused' | 'failed';
  constructor(outcome: 'refused' | 'failed', message: string) {
    super(message);
    this.outcome = outcome;
  }
}

interface TokenResponse {
  readonly token: string;
  /** Undefined without `expires_in`. */
  readonly expiresInMs: number | undefined;
}

interface CachedResult {
  readonly found: string | 'refused' | 'failed';
  readonly isToken: boolean;
  readonly untilMs: number;
}

export type ExchangeServices = Pick<AuthServices, 'log' | 'outbound'> & ClientAuthServices & VariableServices;

/** Token exchange with one provider: cached, and coalesced for concurrent requests. */
export function createTokenExchanger(
  provider: ExchangeProvider,
  context: StepContext<ExchangeServices>,
): (call: Exchange, target: ExchangeTarget) => MaybePromise<ExchangeResult> {
  const { clock, log } = context.services;
  const apiId = context.model.identity.id;
  const buildRequest = createRequestBuilder(provider, context.services);
  const requestToken = createTokenClient(provider, context);
  const cache = new Lru<string, CachedResult>(maxCachedTokens);
  const inFlight = new Map<string, Promise<ExchangeResult>>();

  async function exchange(name: string, question: ExchangeRequest, endsAtMs: number): Promise<ExchangeResult> {
    try {
      const { token, expiresInMs: lastsMs } = await requestToken(question);
      const untilMs = Math.min(clock.now() + computeCacheMs(provider, lastsMs), endsAtMs);
      if (untilMs > clock.now()) cache.set(name, { found: token, isToken: true, untilMs });
      return { token, isNew: true };
    } catch (error) {
      if (!(error instanceof ExchangeFailed || error instanceof Problem)) throw error;
      const outcome = error instanceof ExchangeFailed ? error.outcome : 'failed';
      log.warn({ api: apiId, provider: provider.name, reason: error.message }, 'token exchange failed');
      cache.set(name, { found: outcome, isToken: false, untilMs: clock.now() + negativeTtlMs[outcome] });
      return outcome;
    }
  }

  return (call, target) => {
    const question = buildRequest(call, target);
    const name = toCacheKey(question);
    const cached = cache.get(name);
    if (cached && clock.now() < cached.untilMs)
      return cached.isToken ? { token: cached.found, isNew: false } : (cached.found as 'refused' | 'failed');
    const running = inFlight.get(name);
    if (running) return running;
    const { exp } = call.verifiedToken?.claims ?? {};
    const endsAtMs = typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY;
    const request = exchange(name, question, endsAtMs).finally(() => inFlight.delete(name));
    inFlight.set(name, request);
    return request;
  };
}

/** Length prefixes keep the parts apart. */
const toCacheKey = ({ url, form }: ExchangeRequest) =>
  createHash('sha256')
    .update([url, ...form.flat()].map(it => `${it.length}:${it}`).join(''))
    .digest('base64');

/** At most the token's lifetime less the safety margin. */
function computeCacheMs(provider: ExchangeProvider, lastsMs: number | undefined): number {
  const { cacheEnabled, cacheMode, cacheMs, cacheMostMs, safetyMarginMs } = provider;
  if (!cacheEnabled) return 0;
  const left = lastsMs === undefined ? undefined : lastsMs - safetyMarginMs;
  if (cacheMode === 'static') return Math.min(cacheMs, left ?? cacheMs);
  return Math.min(left ?? 0, cacheMostMs > 0 ? cacheMostMs : Number.POSITIVE_INFINITY);
}

function createTokenClient(
  provider: ExchangeProvider,
  context: StepContext<ExchangeServices>,
): (question: ExchangeRequest) => Promise<TokenResponse> {
  const { outbound } = context.services;
  const authenticateClient = createClientAuthentication(provider, context);
  return async ({ url, form }) => {
    const credentials = await authenticateClient(url);
    const { status, body } = await outbound.fetch({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...credentials.headers,
      },
      body: new URLSearchParams([...form, ...credentials.form].map(([name, value]) => [name, value])).toString(),
      audience: 'operator',
      timeoutMs: provider.timeoutMs || defaultTimeoutMs,
      maxBytes: maxResponseBytes,
    });
    const members = parseJsonObject(body.toString());
    if (status === 200) return parseTokenResponse(members);
    const isAboutToken = typeof members.error === 'string' && tokenErrors.has(members.error);
    throw new ExchangeFailed(isAboutToken ? 'refused' : 'failed', `the provider responded with status ${status}`);
  };
}

/** Errors quote nothing of the response: it may contain a secret. */
function parseTokenResponse({
  access_token: token,
  token_type: type,
  expires_in: expires,
}: Record<string, unknown>): TokenResponse {
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token))
    throw new ExchangeFailed('failed', 'the response has no token');
  if (type !== undefined && !/^(?:bearer|n_a)$/i.test(String(type)))
    throw new ExchangeFailed('failed', 'the response has a token that is not a bearer token');
  const seconds = Number(expires);
  // RFC 6749, section 5.1: a lifetime in seconds. One of 0 or less has passed, so that token serves this call alone.
  const isGiven = expires !== undefined && expires !== null && !Number.isNaN(seconds);
  return { token, expiresInMs: isGiven ? Math.max(0, seconds) * 1000 : undefined };
}

function parseJsonObject(text: string): Record<string, unknown> {
  const value = tryParseJson(text);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
