import { createHash } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import { Problem } from '#base/problems.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { MaybePromise, StepContext } from '../pipeline/step.ts';
import { type Provider, type Question, questions, signInOf, type Target } from './token-exchange-request.ts';

/** A token for the upstream in place of the caller's, or why there is none. */
export type Exchanged = { readonly token: string; readonly isNew: boolean } | 'refused' | 'failed';

const tokensKept = 5000;
const replyBytes = 64 * 1024;
const usualTimeoutMs = 15_000;
/** How long a provider that gave none is not asked again for the same. */
const pausesMs = { refused: 2000, failed: 1000 };
/** What a provider says of the caller's token; anything else it says is about the gateway. */
const aboutToken = new Set(['invalid_grant', 'invalid_target', 'invalid_scope', 'access_denied']);

class NoToken extends Error {
  readonly outcome: 'refused' | 'failed';
  constructor(outcome: 'refused' | 'failed', message: string) {
    super(message);
    this.outcome = outcome;
  }
}

interface Reply {
  readonly token: string;
  /** Undefined where the provider does not say. */
  readonly lastsMs: number | undefined;
}

interface Kept {
  readonly found: string | 'refused' | 'failed';
  readonly isToken: boolean;
  readonly untilMs: number;
}

/** Asks one provider, once for calls that come together, and keeps what it said as long as the definition says. */
export function exchangedTokens(
  provider: Provider,
  context: StepContext,
): (call: Exchange, target: Target) => MaybePromise<Exchanged> {
  const { clock, log } = context.services;
  const apiId = context.model.identity.id;
  const questionOf = questions(provider, context.services);
  const ask = asking(provider, context);
  const kept = new Lru<string, Kept>(tokensKept);
  const underWay = new Map<string, Promise<Exchanged>>();

  async function asked(name: string, question: Question, endsAtMs: number): Promise<Exchanged> {
    try {
      const { token, lastsMs } = await ask(question);
      const untilMs = Math.min(clock.now() + keepMs(provider, lastsMs), endsAtMs);
      if (untilMs > clock.now()) kept.set(name, { found: token, isToken: true, untilMs });
      return { token, isNew: true };
    } catch (error) {
      if (!(error instanceof NoToken || error instanceof Problem)) throw error;
      const outcome = error instanceof NoToken ? error.outcome : 'failed';
      log.warn({ api: apiId, provider: provider.name, reason: error.message }, 'a token was not exchanged');
      kept.set(name, { found: outcome, isToken: false, untilMs: clock.now() + pausesMs[outcome] });
      return outcome;
    }
  }

  return (call, target) => {
    const question = questionOf(call, target);
    const name = nameOf(question);
    const known = kept.get(name);
    if (known && clock.now() < known.untilMs)
      return known.isToken ? { token: known.found, isNew: false } : (known.found as 'refused' | 'failed');
    const running = underWay.get(name);
    if (running) return running;
    const { exp } = call.verifiedToken?.claims ?? {};
    const endsAtMs = typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY;
    const begun = asked(name, question, endsAtMs).finally(() => underWay.delete(name));
    underWay.set(name, begun);
    return begun;
  };
}

/** Lengths keep the parts apart: no two questions share a name. */
const nameOf = ({ url, form }: Question) =>
  createHash('sha256')
    .update([url, ...form.flat()].map(it => `${it.length}:${it}`).join(''))
    .digest('base64');

/** Never longer than the token lasts, less a margin for its way. */
function keepMs(provider: Provider, lastsMs: number | undefined): number {
  const { cacheEnabled, cacheMode, cacheMs, cacheMostMs, safetyMarginMs } = provider;
  if (!cacheEnabled) return 0;
  const left = lastsMs === undefined ? undefined : lastsMs - safetyMarginMs;
  if (cacheMode === 'static') return Math.min(cacheMs, left ?? cacheMs);
  return Math.min(left ?? 0, cacheMostMs > 0 ? cacheMostMs : Number.POSITIVE_INFINITY);
}

function asking(provider: Provider, context: StepContext): (question: Question) => Promise<Reply> {
  const { outbound } = context.services;
  const signIn = signInOf(provider, context);
  return async ({ url, form }) => {
    const credentials = await signIn(url);
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
      timeoutMs: provider.timeoutMs || usualTimeoutMs,
      maxBytes: replyBytes,
    });
    const members = membersOf(body.toString());
    if (status === 200) return replyOf(members);
    const isAboutToken = typeof members.error === 'string' && aboutToken.has(members.error);
    throw new NoToken(isAboutToken ? 'refused' : 'failed', `the provider answers ${status}`);
  };
}

/** The words of a fault repeat nothing of the reply: there may be a secret in it. */
function replyOf({ access_token: token, token_type: type, expires_in: expires }: Record<string, unknown>): Reply {
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) throw new NoToken('failed', 'the reply has no token');
  if (type !== undefined && !/^(?:bearer|n_a)$/i.test(String(type)))
    throw new NoToken('failed', 'the reply has a token that is not sent as a bearer token');
  const seconds = Number(expires);
  // RFC 6749, section 5.1: a lifetime in seconds. One of 0 or less has passed, so that token serves this call alone.
  const isTold = expires !== undefined && expires !== null && !Number.isNaN(seconds);
  return { token, lastsMs: isTold ? Math.max(0, seconds) * 1000 : undefined };
}

function membersOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    return {};
  }
  return {};
}
