import type { Settings } from '#base/settings.ts';
import type { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { Counted } from './rate.ts';

/** What callers are told of their limits. */
export interface Telling {
  /** On every answer that is not a refusal. */
  answer(call: Exchange, headers: HeaderList): void;
  /** On a refusal for too many calls. */
  refusal(call: Exchange, headers: HeaderList): void;
}

export function telling(settings: Settings): Telling {
  const shown = settings['limits.response_headers'];
  const ietf = settings['limits.ietf_headers'];
  const tell = shown === 'quota_or_zero' ? tellAlways : tellLimit;
  return {
    answer(call, headers) {
      if (shown !== 'none') tell(headers, shown === 'rate' ? call.rate : call.quota);
      if (ietf) tellIetf(headers, call);
    },
    refusal(call, headers) {
      if (shown === 'rate') tellLimit(headers, call.rate);
      if (ietf) tellIetf(headers, call);
    },
  };
}

/** Replaces what the upstream says of limits of its own. Without a limit there is nothing to say: clients obey `0` left. */
function tellLimit(headers: HeaderList, counted: Counted | undefined): void {
  if (!counted) return;
  headers.set('X-RateLimit-Limit', String(counted.limit));
  headers.set('X-RateLimit-Remaining', String(counted.remaining));
  headers.set('X-RateLimit-Reset', String(unixSecondsAt(counted)));
}

const noLimit: Counted = { limit: 0, remaining: 0, resetsAtMs: Number.POSITIVE_INFINITY, periodMs: 0 };

/** As the reference does: without a quota all three are 0. */
const tellAlways = (headers: HeaderList, counted: Counted | undefined): void => tellLimit(headers, counted ?? noLimit);

/** The second in which it begins anew; 0 for never. */
export const unixSecondsAt = ({ resetsAtMs }: Pick<Counted, 'resetsAtMs'>): number =>
  resetsAtMs === Number.POSITIVE_INFINITY ? 0 : Math.ceil(resetsAtMs / 1000);

function tellIetf(headers: HeaderList, call: Exchange): void {
  const limits = [policyOf('rate', call.rate), policyOf('quota', call.quota)].filter(it => it !== undefined);
  if (limits.length === 0) return;
  headers.set('RateLimit-Policy', limits.map(it => it.policy).join(', '));
  headers.set('RateLimit', limits.map(it => it.state(call.receivedAtMs)).join(', '));
}

function policyOf(name: string, counted: Counted | undefined) {
  if (!counted) return undefined;
  const { limit, remaining, resetsAtMs, periodMs } = counted;
  const renews = periodMs !== Number.POSITIVE_INFINITY;
  return {
    policy: `"${name}";q=${limit}${renews ? `;w=${Math.ceil(periodMs / 1000)}` : ''}`,
    state: (nowMs: number) => `"${name}";r=${remaining}${renews ? `;t=${secondsUntil(resetsAtMs, nowMs)}` : ''}`,
  };
}

const secondsUntil = (atMs: number, nowMs: number) => Math.max(0, Math.ceil((atMs - nowMs) / 1000));

/** Refuses for too many calls, and says when to come back. */
export function tooMany({ settings, clock }: Pick<StepServices, 'settings' | 'clock'>) {
  const { refusal } = telling(settings);
  return (call: Exchange, code: RefusalCode, { resetsAtMs }: Pick<Counted, 'resetsAtMs'>): GatewayResponse => {
    const refused = refuse(call, code);
    refused.headers.append('Retry-After', String(Math.max(1, secondsUntil(resetsAtMs, clock.now()))));
    refusal(call, refused.headers);
    return refused;
  };
}

export const limitHeaders: Step = {
  name: 'limit-headers',
  isDefinitionIndependent: true,
  build({ services: { settings } }) {
    if (settings['limits.response_headers'] === 'none' && !settings['limits.ietf_headers']) return undefined;
    const { answer } = telling(settings);
    return { response: (call, response) => answer(call, response.headers) };
  },
};
