import assert from 'node:assert/strict';

/** Cases of RFC 9111, run in process with a virtual clock, and those marked `isOnWire` through sockets too. */
export interface HttpCase {
  /** Begins with the section. */
  readonly title: string;
  readonly reply?: Reply;
  readonly steps: readonly Step[];
  /** Members of `cache_options` besides those of every case. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly isOnWire?: true;
}

/** Response of the upstream. Conditions that match `etag` or `last-modified` get 304, with `notModified` on top. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly notModified?: Readonly<Record<string, string | readonly string[]>>;
  /** The connection fails. */
  readonly fails?: true;
  /** Conditions are ignored. */
  readonly isUnconditional?: true;
}

/**
 * M: from the upstream; H: stored, fresh; V: stored, validated by the upstream; S: stored, stale; X: refused with 504; E: error
 * of the gateway.
 */
export type Outcome = 'M' | 'H' | 'V' | 'S' | 'X' | 'E';

/** Seconds after the previous request, its outcome, and what else there is to it. */
export type Step = readonly [afterSeconds: number, outcome: Outcome, more?: StepOptions];

export interface StepOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Key of the client; in process only. */
  readonly key?: string;
  /** Address of the client; in process only. */
  readonly address?: string;
  /** Response of the upstream from here on. */
  readonly reply?: Reply;
  /** Seconds that the upstream takes; in process only. */
  readonly delay?: number;
  readonly status?: number;
  /** Headers of the response; null for none. */
  readonly has?: Readonly<Record<string, string | RegExp | null>>;
  /** Headers of the upstream request; null for none. */
  readonly sent?: Readonly<Record<string, string | null>>;
  /** Upstream requests of this step; 0 for H and X, else 1, or what is given. */
  readonly requests?: number;
  /** Of which upstream request the body is, from 1. */
  readonly body?: number;
}

export interface UpstreamReply {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: string;
}

type Fields = Reply['headers'];

const toPairs = (fields: Fields = {}): [string, string][] =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one as string]),
  );

/** The upstream's part: 200 or what the case states, or 304 to conditions that hold. */
export function replyTo(
  reply: Reply,
  request: Readonly<Record<string, string | undefined>>,
  body: string,
): UpstreamReply {
  const { status = 200, headers = {}, notModified = {} } = reply;
  const tag = request['if-none-match'];
  const since = request['if-modified-since'];
  const isMatch = tag !== undefined ? tag === headers.etag : since !== undefined && since === headers['last-modified'];
  if (status !== 200 || !isMatch || reply.isUnconditional) return { status, headers: toPairs(headers), body };
  return { status: 304, headers: toPairs({ ...headers, ...notModified }), body: '' };
}

export interface Observed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly requests: number;
  /** Of the last upstream request. */
  readonly sent: Readonly<Record<string, string | undefined>>;
}

export function toOutcome({ status, headers }: Observed): Outcome {
  const origin = headers['x-gw-cached-response'];
  if (origin === '1') return 'H';
  if (origin === 'validated') return 'V';
  if (origin === 'stale') return 'S';
  if (headers['x-generator'] === undefined) return 'M';
  return status === 504 ? 'X' : 'E';
}

export function checkStep(title: string, [, outcome, more = {}]: Step, observed: Observed): void {
  assert.equal(toOutcome(observed), outcome, `${title}: ${JSON.stringify(observed)}`);
  const expectedRequests = more.requests ?? ('HXS'.includes(outcome) ? 0 : 1);
  assert.equal(observed.requests, expectedRequests, `${title}: upstream requests`);
  if (more.status !== undefined) assert.equal(observed.status, more.status, title);
  if (more.body !== undefined) assert.equal(observed.body, `body ${more.body}`, title);
  for (const [name, value] of Object.entries(more.has ?? {})) {
    if (value instanceof RegExp) assert.match(observed.headers[name] ?? '', value, `${title}: ${name}`);
    else assert.equal(observed.headers[name] ?? null, value, `${title}: ${name}`);
  }
  for (const [name, value] of Object.entries(more.sent ?? {}))
    assert.equal(observed.sent[name] ?? null, value, `${title}: ${name} of the upstream request`);
}

/** Virtual time at which every case begins. */
export const caseStartMs = Date.UTC(2030, 0, 1);

/** HTTP-date, seconds after the start of the case. */
export const dateAt = (seconds: number): string => new Date(caseStartMs + seconds * 1000).toUTCString();

/** Response with `Cache-Control`. */
export const cc = (value: string, more: Record<string, string | readonly string[]> = {}): Reply => ({
  headers: { 'cache-control': value, ...more },
});
