import type { ResultOf } from '../../../kit/calls.ts';

/** A test run of a definition: the request that left for the upstream, and what each step did. */
export interface RunTrace {
  /** Method and address; undefined where no request was sent. */
  readonly sent: string | undefined;
  /** Status that the client gets. */
  readonly status: number | undefined;
  /** Reason why the run was not completed. */
  readonly fault: string | undefined;
  readonly steps: readonly { readonly place: number; readonly name: string; readonly outcome: string }[];
}

interface TraceLine {
  readonly mw?: string;
  readonly msg: string;
  readonly type: string;
  readonly code?: number;
}

const sentPrefix = 'sent ';
const completed = 'ok';

/** Reads the log of a run: one JSON object a line. */
export function readRunTrace({ message, logs }: Pick<ResultOf<'POST /api/debug'>, 'message' | 'logs'>): RunTrace {
  const lines = logs
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as TraceLine);
  const sent = lines.find(({ mw, msg }) => mw === 'upstream' && msg.startsWith(sentPrefix));
  return {
    sent: sent?.msg.slice(sentPrefix.length),
    status: lines.findLast(({ type, mw, code }) => type === 'response' && mw === undefined && code !== undefined)?.code,
    fault: message === completed ? undefined : message,
    steps: lines.flatMap(({ mw, msg }, place) => (mw === undefined ? [] : [{ place, name: mw, outcome: msg }])),
  };
}
