import { problems } from '#base/problems.ts';

/**
 * Questions between the threads of a process. One side asks by name and waits, within a bound of time and number; the
 * other answers from a table of functions. What is sent and what comes back is copied, so both are plain data.
 */
export interface Question {
  readonly kind: 'ask';
  readonly id: number;
  readonly name: string;
  readonly given: unknown;
}

export interface Reply {
  readonly kind: 'reply';
  readonly id: number;
  readonly value?: unknown;
  /** In place of a value: what went wrong with answering. */
  readonly fault?: string;
}

type Answers = Readonly<Record<string, (given: never) => Promise<unknown>>>;

type GivenTo<It> = It extends (given: infer Given) => unknown ? Given : never;
type AnswerOf<It> = It extends (given: never) => Promise<infer Answer> ? Answer : never;

/** Asks what `Table` answers. */
export type Ask<Table> = <Name extends keyof Table & string>(
  name: Name,
  given: GivenTo<Table[Name]>,
  withinMs: number,
) => Promise<AnswerOf<Table[Name]>>;

/** Asks several at once. */
export type AskAll<Table> = <Name extends keyof Table & string>(
  name: Name,
  given: GivenTo<Table[Name]>,
  withinMs: number,
) => Promise<AnswerOf<Table[Name]>[]>;

export const problem = problems('asks', {
  no_traffic: {
    status: 503,
    message: 'This process serves no API traffic; ask one that runs with --role gateway or all',
  },
  too_many: { status: 503, message: 'The gateway is answering as many such requests as it can; try again' },
  late: { status: 503, message: 'No thread answered within {withinMs} ms; try again' },
  ended: { status: 503, message: 'The thread that was asked ended before it answered; try again' },
});

/** Questions to one thread that may wait for their answer at once. */
const asksAtOnce = 1000;

interface Waiting {
  readonly timer: NodeJS.Timeout;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createRpcClient<Table>(post: (question: Question) => void, most = asksAtOnce) {
  const waiting = new Map<number, Waiting>();
  let asked = 0;

  function taken(id: number): Waiting | undefined {
    const it = waiting.get(id);
    if (it) clearTimeout(it.timer);
    waiting.delete(id);
    return it;
  }

  const ask = (name: string, given: unknown, withinMs: number) =>
    new Promise<unknown>((resolve, reject) => {
      if (waiting.size >= most) throw problem.too_many();
      const id = ++asked;
      const timer = setTimeout(() => taken(id)?.reject(problem.late({ detail: { withinMs } })), withinMs);
      waiting.set(id, { timer, resolve, reject });
      post({ kind: 'ask', id, name, given });
    });

  return {
    ask: ask as Ask<Table>,
    /** A reply that comes too late is nobody's any more. */
    hear({ id, value, fault }: Reply): void {
      const it = taken(id);
      if (fault === undefined) it?.resolve(value);
      else it?.reject(new Error(`the thread that was asked could not answer: ${fault}`));
    },
    /** Nobody will answer any more. */
    end(): void {
      for (const id of [...waiting.keys()]) taken(id)?.reject(problem.ended());
    },
  };
}

export function createRpcServer(answers: Answers, post: (reply: Reply) => void) {
  return async ({ id, name, given }: Question): Promise<void> => {
    try {
      const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
      if (!answer) throw new Error(`nothing here answers ${name}`);
      post({ kind: 'reply', id, value: await answer(given as never) });
    } catch (error) {
      post({ kind: 'reply', id, fault: (error as Error).message });
    }
  };
}
