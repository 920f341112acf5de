import type { Settings } from '#base/settings.ts';
import type { Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import type { HeaderList } from '../headers.ts';
import { type RefusalCode, refuse } from '../refusals.ts';
import type { Step } from '../step.ts';
import type { GatewayTools } from '../tools.ts';
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
  return {
    answer(call, headers) {
      if (shown !== 'none') tell(headers, shown === 'rate' ? call.rate : call.quota);
      if (ietf) tellIetf(headers, call);
    },
    refusal(call, headers) {
      if (shown === 'rate') tell(headers, call.rate);
      if (ietf) tellIetf(headers, call);
    },
  };
}

/** Without a limit all three are 0. They replace what the upstream says of limits of its own. */
function tell(headers: HeaderList, counted: Counted | undefined): void {
  headers.set('X-RateLimit-Limit', counted ? String(counted.limit) : '0');
  headers.set('X-RateLimit-Remaining', counted ? String(counted.remaining) : '0');
  headers.set('X-RateLimit-Reset', counted ? String(unixSecondsAt(counted)) : '0');
}

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
export function tooMany({ settings, clock }: Pick<GatewayTools, 'settings' | 'clock'>) {
  const { refusal } = telling(settings);
  return (call: Exchange, code: RefusalCode, { resetsAtMs }: Pick<Counted, 'resetsAtMs'>): Answer => {
    const refused = refuse(call, code);
    refused.headers.append('Retry-After', String(Math.max(1, secondsUntil(resetsAtMs, clock.now()))));
    refusal(call, refused.headers);
    return refused;
  };
}

export const limitHeaders: Step = {
  name: 'limit-headers',
  common: true,
  make({ tools: { settings } }) {
    if (settings['limits.response_headers'] === 'none' && !settings['limits.ietf_headers']) return undefined;
    const { answer } = telling(settings);
    return { response: (call, given) => answer(call, given.headers) };
  },
};
