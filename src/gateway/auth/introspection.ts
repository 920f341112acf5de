import { createHash } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { Members } from './jwt-token.ts';

/** What the server that issued a token says of it: who holds it, or why it is worth nothing. */
export type Reply = Members | 'failed' | 'inactive' | 'expired';
export const isProblem = (reply: Reply): reply is Exclude<Reply, Members> => typeof reply === 'string';

export interface IntrospectionWritten {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly cacheEnabled: boolean;
  readonly cacheSeconds: number;
}

const repliesKept = 5000;
/** A token that was refused may become good, but asking again for each repetition would let anybody make us ask. */
const refusedForMs = 2000;
const replyBytes = 64 * 1024;
const askTimeoutMs = 5000;
/** Anybody can send tokens nobody knows: where a server is slow, the calls of other APIs must not wait behind its own. */
const questionsAtOnce = 100;

interface Kept {
  readonly reply: Members | 'inactive';
  readonly untilMs: number;
}

/** Asks the server that issued a token, once for callers who come together, and again when its word has grown old. */
export function introspection(
  written: IntrospectionWritten,
  apiId: string,
  { outbound, clock, log }: Pick<StepServices, 'outbound' | 'clock' | 'log'>,
): (token: string) => MaybePromise<Reply> {
  const kept = new Lru<string, Kept>(repliesKept);
  const asking = new Map<string, Promise<Reply>>();
  const rememberMs = written.cacheSeconds === 0 ? Number.POSITIVE_INFINITY : written.cacheSeconds * 1000;
  /** Lengths keep the parts apart: no two questions share a name. */
  const nameOf = (token: string) =>
    createHash('sha256')
      .update([apiId, written.url, written.clientId, token].map(it => `${it.length}:${it}`).join(''))
      .digest('base64');

  async function asked(token: string): Promise<Members | 'failed' | 'inactive'> {
    const { url, clientId, clientSecret } = written;
    try {
      const { status, body } = await outbound.fetch({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }).toString(),
        audience: 'operator',
        timeoutMs: askTimeoutMs,
        maxBytes: replyBytes,
      });
      const reply: unknown = status === 200 ? JSON.parse(body.toString()) : undefined;
      if (typeof reply === 'object' && reply !== null && 'active' in reply && typeof reply.active === 'boolean')
        return reply.active ? (reply as Members & object) : 'inactive';
      log.warn({ api: apiId, status }, 'a token introspection gave no answer that can be used');
    } catch (error) {
      // The words of a JSON fault repeat what could not be read.
      const reason = error instanceof SyntaxError ? 'the answer is not JSON' : (error as Error).message;
      log.warn({ api: apiId, reason }, 'a token introspection failed');
    }
    return 'failed';
  }

  async function askedOnce(name: string, token: string): Promise<Reply> {
    const reply = await asked(token);
    if (reply === 'failed') return reply;
    if (written.cacheEnabled) {
      const forMs = reply === 'inactive' ? Math.min(rememberMs, refusedForMs) : rememberMs;
      kept.set(name, { reply, untilMs: clock.now() + forMs });
    }
    return inTime(reply);
  }

  const inTime = (reply: Members | 'inactive'): Reply => {
    if (reply === 'inactive') return reply;
    const { exp } = reply;
    return exp !== undefined && !(clock.now() < Number(exp) * 1000) ? 'expired' : reply;
  };

  return token => {
    const name = nameOf(token);
    const known = kept.get(name);
    if (known && clock.now() < known.untilMs) return inTime(known.reply);
    const running = asking.get(name);
    if (running) return running;
    if (asking.size >= questionsAtOnce) return 'failed';
    const begun = askedOnce(name, token).finally(() => asking.delete(name));
    asking.set(name, begun);
    return begun;
  };
}
