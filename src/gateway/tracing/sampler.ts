import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';

export const problem = problems('tracing', {
  rule_invalid: { status: 500, message: 'tracing.rules: rule {number}: {reason}' },
});

/** A sampling rule of `tracing.rules`; absent conditions match every request. */
interface SampleRule {
  readonly apiId: string | undefined;
  readonly pathPrefix: string | undefined;
  /** First and last status. */
  readonly statuses: readonly [number, number] | undefined;
  readonly minDurationMs: number | undefined;
  readonly minRandom: number;
}

/**
 * Decides which traces are exported. The decision by share depends on the sampling id alone: the trace id, so that all
 * gateways agree, or a random id of the gateway where the client has chosen the trace id and is not trusted.
 */
export interface Sampler {
  /** Decision at the start. Rules come first, then the caller's decision, then the share. */
  sampleStart(samplingId: string, path: string, parent: ParentDecision, now: number): boolean;
  /** Decision of the rules with an API, once the API is known; `isSampled` without one. */
  sampleApi(samplingId: string, path: string, apiId: string, isSampled: boolean): boolean;
  /** False without rules that decide at the end. */
  readonly hasTailRules: boolean;
  /** Tail sampling: the rules with a status or a duration, for a trace that was not sampled so far. */
  sampleEnd(samplingId: string, end: FinishedRequest): boolean;
}

/** Decision of the caller; undefined without one. */
export interface ParentDecision {
  readonly isSampled: boolean | undefined;
  readonly isTrusted: boolean;
}

export interface FinishedRequest {
  readonly path: string;
  readonly apiId: string;
  readonly status: number;
  readonly durationMs: number;
}

const randomRange = 2 ** 32;

/**
 * Random part of a trace id: 32 bits below the eighth byte, the place where OpenTelemetry has the randomness of W3C
 * trace ids, so that services with the same share select the same traces.
 */
function readRandom(traceId: string): number {
  let random = 0;
  for (let i = 18; i < 26; i++) {
    const code = traceId.charCodeAt(i);
    random = random * 16 + (code < 0x40 ? code - 0x30 : code - 0x57);
  }
  return random;
}

/** Rejection threshold: a trace whose random part is at least this is selected. */
const toMinRandom = (share: number): number => Math.round((1 - share) * randomRange);

const isSelected = (samplingId: string, minRandom: number): boolean =>
  minRandom === 0 || (minRandom < randomRange && readRandom(samplingId) >= minRandom);

const windowMs = 1000;

/** Fixed-window bound of the traces that callers select: their flag must not force the export of every request. */
function createParentLimit(maxPerSecond: number) {
  let windowEndsAt = 0;
  let taken = 0;
  return (now: number): boolean => {
    if (now >= windowEndsAt) {
      windowEndsAt = now + windowMs;
      taken = 0;
    }
    return ++taken <= maxPerSecond;
  };
}

export function createSampler(settings: Settings): Sampler {
  const rules = compileSampleRules(settings['tracing.rules']);
  const pathRules = rules.filter(it => !isTailRule(it) && it.apiId === undefined);
  const apiRules = rules.filter(it => !isTailRule(it) && it.apiId !== undefined);
  const tailRules = rules.filter(isTailRule);
  if (settings['tracing.errors'])
    tailRules.push({
      apiId: undefined,
      pathPrefix: undefined,
      statuses: [500, 599],
      minDurationMs: undefined,
      minRandom: 0,
    });
  const minRandom = toMinRandom(settings['tracing.sample_share']);
  const maxParentSampled = settings['tracing.max_parent_sampled_per_second'];
  const takeTrusted = createParentLimit(maxParentSampled);
  // Separate: flags of untrusted clients must not use up what trusted ones may select.
  const takeUntrusted = createParentLimit(maxParentSampled);
  const matchesPath = (rule: SampleRule, path: string) =>
    rule.pathPrefix === undefined || path.startsWith(rule.pathPrefix);

  return {
    sampleStart(samplingId, path, { isSampled, isTrusted }, now) {
      for (const rule of pathRules) if (matchesPath(rule, path)) return isSelected(samplingId, rule.minRandom);
      if (isSampled === undefined) return isSelected(samplingId, minRandom);
      if (!isSampled) return false;
      return (isTrusted ? takeTrusted(now) : takeUntrusted(now)) || isSelected(samplingId, minRandom);
    },
    sampleApi(samplingId, path, apiId, isSampled) {
      for (const rule of apiRules)
        if (rule.apiId === apiId && matchesPath(rule, path)) return isSelected(samplingId, rule.minRandom);
      return isSampled;
    },
    hasTailRules: tailRules.length > 0,
    sampleEnd: (samplingId, end) =>
      tailRules.some(rule => matchesEnd(rule, end) && isSelected(samplingId, rule.minRandom)),
  };
}

const isTailRule = ({ statuses, minDurationMs }: SampleRule): boolean =>
  statuses !== undefined || minDurationMs !== undefined;

const matchesEnd = (rule: SampleRule, { path, apiId, status, durationMs }: FinishedRequest): boolean =>
  (rule.apiId === undefined || rule.apiId === apiId) &&
  (rule.pathPrefix === undefined || path.startsWith(rule.pathPrefix)) &&
  (rule.statuses === undefined || (status >= rule.statuses[0] && status <= rule.statuses[1])) &&
  (rule.minDurationMs === undefined || durationMs >= rule.minDurationMs);

const ruleMembers: ReadonlySet<string> = new Set(['api', 'path', 'status', 'min_duration_ms', 'share']);

/** Compiles the rules; throws a problem for one that cannot apply. */
export const compileSampleRules = (rules: readonly object[]): SampleRule[] =>
  rules.map((rule, at) => compileRule(rule as Readonly<Record<string, unknown>>, at + 1));

function compileRule(rule: Readonly<Record<string, unknown>>, number: number): SampleRule {
  const check = (isValid: boolean, reason: string) => {
    if (!isValid) throw problem.rule_invalid({ detail: { number, reason } });
  };
  const { api, path, status, min_duration_ms: minDurationMs, share = 1 } = rule;
  for (const name of Object.keys(rule)) check(ruleMembers.has(name), `unknown member ${name.slice(0, 40)}`);
  check(api === undefined || (typeof api === 'string' && api !== ''), 'api must be the id of an API');
  check(path === undefined || (typeof path === 'string' && path.startsWith('/')), 'path must begin with a slash');
  const statuses = status === undefined ? undefined : parseStatuses(status);
  check(status === undefined || statuses !== undefined, 'status must be a status such as 404, or a class such as 5xx');
  check(
    minDurationMs === undefined || (typeof minDurationMs === 'number' && minDurationMs >= 0),
    'min_duration_ms must be a number of milliseconds',
  );
  check(typeof share === 'number' && share >= 0 && share <= 1, 'share must be from 0 to 1');
  return {
    apiId: api as string | undefined,
    pathPrefix: path as string | undefined,
    statuses,
    minDurationMs: minDurationMs as number | undefined,
    minRandom: toMinRandom(share as number),
  };
}

function parseStatuses(status: unknown): readonly [number, number] | undefined {
  const text = String(status);
  if (/^[1-5]xx$/.test(text)) return [Number(text[0]) * 100, Number(text[0]) * 100 + 99];
  return /^[1-5]\d\d$/.test(text) ? [Number(text), Number(text)] : undefined;
}
