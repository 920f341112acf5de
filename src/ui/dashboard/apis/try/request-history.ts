import type { ResultOf } from '../../../kit/calls.ts';

/** A sent request as the list of the last ones has it: without what looks like a credential. */
export interface KeptRequest {
  readonly id: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headerText: string;
  readonly body: string;
  readonly status: number;
}

const maxKept = 50;
const maxApis = 20;

/** Names whose values are credentials: of headers, of parameters of a query, and in a body. */
const credentialName = /auth|cookie|key|token|secret|passw|signature|session|credential/i;

/**
 * Last requests of each API, in memory only: a reload of the page ends them, and nothing is written to the storage of
 * the browser. They belong to one user: another one who signs in starts without any.
 */
const kept = new Map<string, readonly KeptRequest[]>();
let owner = '';
let lastId = 0;

export function listKeptRequests(userId: string, apiId: string): readonly KeptRequest[] {
  if (owner !== userId) kept.clear();
  owner = userId;
  return kept.get(apiId) ?? [];
}

export function keepRequest(userId: string, apiId: string, request: Omit<KeptRequest, 'id'>): void {
  const before = listKeptRequests(userId, apiId);
  lastId += 1;
  const entry = { ...request, id: lastId, ...removeCredentials(request) };
  kept.delete(apiId);
  kept.set(apiId, [entry, ...before].slice(0, maxKept));
  const [oldest] = kept.keys();
  if (kept.size > maxApis && oldest !== undefined) kept.delete(oldest);
}

/** Parts of a request as they may be stored: without headers, parameters and bodies that name a credential. */
export const removeCredentials = ({ path, headerText, body }: Pick<KeptRequest, 'path' | 'headerText' | 'body'>) => ({
  path: withoutCredentials(path),
  headerText: withoutCredentialLines(headerText),
  body: credentialName.test(body) ? '' : body,
});

const withoutCredentialLines = (text: string) =>
  text
    .split('\n')
    .filter(line => !credentialName.test(line.split(':', 1)[0]!))
    .join('\n');

/** Removes parameters with a credential; the others stay as they were typed. */
function withoutCredentials(path: string): string {
  const [before = '', query] = path.split(/\?(.*)/s);
  if (query === undefined) return path;
  const pairs = query.split('&').filter(pair => !credentialName.test(pair.split('=', 1)[0]!));
  return pairs.length === 0 ? before : `${before}?${pairs.join('&')}`;
}

type Step = NonNullable<ResultOf<'POST /api/explain'>['explanation']>['steps'][number];

/** Durations of a request by part, in milliseconds. */
export function sumDurations(steps: readonly Step[]) {
  const sum = (fits: (step: Step) => boolean) =>
    steps.filter(fits).reduce((total, { took_ms = 0 }) => total + took_ms, 0);
  return {
    request: sum(({ phase, step }) => phase === 'request' && step !== 'upstream'),
    upstream: sum(({ step }) => step === 'upstream'),
    response: sum(({ phase, step }) => phase === 'response' && step !== 'upstream'),
  };
}

/** Requests that the upstream got: `sent GET http://…`, several after retries. */
export const listSent = (steps: readonly Step[]): readonly string[] =>
  steps
    .filter(({ phase, step }) => phase === 'request' && step === 'upstream')
    .map(({ message }) => message.replace(/^sent /, ''));
