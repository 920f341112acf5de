import type { Settings } from '#base/settings.ts';
import type { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, LimitState } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { Step } from '../pipeline/step.ts';
import type { LimitServices } from './services.ts';

/** The `X-RateLimit-*` and `RateLimit` response headers. */
export interface RateLimitHeaders {
  /** For every response that is not an error of the gateway. */
  addToResponse(call: Exchange, headers: HeaderList): void;
  /** For a 429 response. */
  addToError(call: Exchange, headers: HeaderList): void;
}

type LimitSelector = (call: Exchange) => LimitState | undefined;
const selectQuota: LimitSelector = ({ quota }) => quota;
const selectRate: LimitSelector = ({ rate }) => rate;
const limitSelectors: Readonly<Record<Settings['limits.response_headers'], LimitSelector>> = {
  quota_or_rate: ({ quota, rate }) => quota ?? rate,
  quota: selectQuota,
  quota_or_zero: selectQuota,
  rate: selectRate,
  none: () => undefined,
};

export function createRateLimitHeaders(settings: Settings): RateLimitHeaders {
  const mode = settings['limits.response_headers'];
  const ietf = settings['limits.ietf_headers'];
  const setConfigured = mode === 'quota_or_zero' ? setHeadersOrZero : setHeaders;
  const selectLimit = limitSelectors[mode];
  const describesRates = mode === 'rate' || mode === 'quota_or_rate';
  return {
    addToResponse(call, headers) {
      if (mode !== 'none') setConfigured(headers, selectLimit(call));
      if (ietf) setIetfHeaders(headers, call);
    },
    addToError(call, headers) {
      // A 429 is about a rate, whether or not there is a quota.
      if (describesRates) setHeaders(headers, call.rate);
      if (ietf) setIetfHeaders(headers, call);
    },
  };
}

/** Replaces headers of the upstream. Without a limit it sets none: clients would stop at 0 remaining. */
function setHeaders(headers: HeaderList, counted: LimitState | undefined): void {
  if (!counted) return;
  headers.set('X-RateLimit-Limit', String(counted.limit));
  headers.set('X-RateLimit-Remaining', String(counted.remaining));
  headers.set('X-RateLimit-Reset', String(toResetUnixSeconds(counted)));
}

const noLimit: LimitState = { limit: 0, remaining: 0, resetsAtMs: Number.POSITIVE_INFINITY, periodMs: 0 };

/** `quota_or_zero`: without a quota all three headers are 0. */
const setHeadersOrZero = (headers: HeaderList, counted: LimitState | undefined): void =>
  setHeaders(headers, counted ?? noLimit);

/** Unix time of the reset, rounded up; 0 for never. */
export const toResetUnixSeconds = ({ resetsAtMs }: Pick<LimitState, 'resetsAtMs'>): number =>
  resetsAtMs === Number.POSITIVE_INFINITY ? 0 : Math.ceil(resetsAtMs / 1000);

function setIetfHeaders(headers: HeaderList, call: Exchange): void {
  const limits = [formatPolicy('rate', call.rate), formatPolicy('quota', call.quota)].filter(it => it !== undefined);
  if (limits.length === 0) return;
  headers.set('RateLimit-Policy', limits.map(it => it.policy).join(', '));
  headers.set('RateLimit', limits.map(it => it.state(call.receivedAtMs)).join(', '));
}

function formatPolicy(name: string, counted: LimitState | undefined) {
  if (!counted) return undefined;
  const { limit, remaining, resetsAtMs, periodMs } = counted;
  const renews = periodMs !== Number.POSITIVE_INFINITY;
  return {
    policy: `"${name}";q=${limit}${renews ? `;w=${Math.ceil(periodMs / 1000)}` : ''}`,
    state: (nowMs: number) => `"${name}";r=${remaining}${renews ? `;t=${computeSecondsUntil(resetsAtMs, nowMs)}` : ''}`,
  };
}

const computeSecondsUntil = (atMs: number, nowMs: number) => Math.max(0, Math.ceil((atMs - nowMs) / 1000));

/** Refuses with 429 and `Retry-After`. */
export function createTooManyRequests({ settings, clock }: Pick<LimitServices, 'settings' | 'clock'>) {
  const { addToError: refusal } = createRateLimitHeaders(settings);
  return (call: Exchange, code: RefusalCode, { resetsAtMs }: Pick<LimitState, 'resetsAtMs'>): GatewayResponse => {
    const refused = refuse(call, code);
    refused.headers.append('Retry-After', String(Math.max(1, computeSecondsUntil(resetsAtMs, clock.now()))));
    refusal(call, refused.headers);
    return refused;
  };
}

type Services = Pick<LimitServices, 'settings'>;

export const rateLimitHeadersStep: Step<Services> = {
  name: 'limit-headers',
  isDefinitionIndependent: true,
  build({ services: { settings } }) {
    if (settings['limits.response_headers'] === 'none' && !settings['limits.ietf_headers']) return undefined;
    const { addToResponse: answer } = createRateLimitHeaders(settings);
    return { response: (call, response) => answer(call, response.headers) };
  },
};
