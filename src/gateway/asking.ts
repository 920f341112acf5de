import { problems } from '#base/problems.ts';

/** How one thread of the process has another one do something, and waits for what came of it. */
export const problem = problems('asking', {
  too_busy: { status: 503, message: 'Too many requests are waiting for another thread' },
  timed_out: { status: 503, message: 'Another thread did not answer within {timeoutMs} ms' },
  failed: { status: 500, message: 'Another thread failed: {reason}' },
  unknown: { status: 500, message: 'Another thread cannot do {what}' },
});

/** `given` and the result travel as copies. */
export type Ask = (what: string, given: unknown) => Promise<unknown>;
/** What a thread does when it is asked, by name. */
export type Asked = Readonly<Record<string, (given: never) => Promise<unknown>>>;

export interface Question {
  readonly kind: 'ask';
  readonly id: number;
  readonly what: string;
  readonly given: unknown;
}

export interface Reply {
  readonly kind: 'reply';
  readonly id: number;
  readonly value?: unknown;
  readonly fault?: string;
}

/** Questions of one thread to another at once. */
export const questionsAtOnce = 1000;
export const answerTimeoutMs = 15_000;

/** The end that asks. */
export function asker(post: (question: Question) => void, timeoutMs: number = answerTimeoutMs) {
  const waiting = new Map<number, (reply: Reply) => void>();
  let last = 0;

  const ask: Ask = (what, given) =>
    new Promise((resolve, reject) => {
      if (waiting.size >= questionsAtOnce) return reject(problem.too_busy());
      const id = ++last;
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(problem.timed_out({ detail: { timeoutMs } }));
      }, timeoutMs);
      waiting.set(id, ({ value, fault }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (fault === undefined) resolve(value);
        else reject(problem.failed({ detail: { reason: fault } }));
      });
      post({ kind: 'ask', id, what, given });
    });

  /** A reply that comes too late is nobody's any more. */
  return { ask, replied: (reply: Reply) => waiting.get(reply.id)?.(reply) };
}

/** The end that does what is asked; a failure is told, with its cause in the log of this end. */
export async function replyTo(
  asked: Asked,
  { id, what, given }: Question,
  onFault: (error: unknown) => void,
): Promise<Reply> {
  try {
    if (!Object.hasOwn(asked, what)) throw problem.unknown({ detail: { what } });
    return { kind: 'reply', id, value: await asked[what]!(given as never) };
  } catch (error) {
    onFault(error);
    return { kind: 'reply', id, fault: (error as Error).message };
  }
}
