import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { problem as portalProblem } from '../problems.ts';
import { isProviderFailure } from '../providers/provider-client.ts';
import { problem } from './problems.ts';
import { formatMoment } from './words.ts';

/** Failures of providers have addresses and messages of internal servers: those are for the log, not for visitors. */
export function hideProvider(error: unknown, log: Log): unknown {
  if (!isProviderFailure(error)) return error;
  log.warn({ reason: error.message }, 'provider of the portal failed');
  return problem.gateway_unavailable({ cause: error });
}

/** A spent allowance of a plan, with the time from which a request is possible again. */
function describeAllowance({ code, detail }: Problem): string | undefined {
  if (code !== portalProblem.quota_exceeded.code) return undefined;
  const { allowance, renewsAt } = detail as { allowance: number; renewsAt: number };
  const spent = `You used the ${allowance === 1 ? 'one request' : `${allowance} requests`} that this plan allows`;
  if (renewsAt === 0) return `${spent}: choose another plan, or ask the owner of this portal`;
  return `${spent}. The next one is possible from ${formatMoment(toFullMinute(renewsAt))}`;
}

/** Moments are shown in minutes: the next full one, at which the request is allowed. */
const toFullMinute = (ms: number) => Math.ceil(ms / 60_000) * 60_000;

/** The message of an expected failure, such as a provider that is unavailable; other errors are thrown. */
export function describeFailure(error: unknown, { log }: { readonly log: Log }): string {
  const shown = hideProvider(error, log);
  const isExpected = shown instanceof Problem && (shown !== error || shown.status < 500);
  if (!isExpected) throw error;
  return describeAllowance(shown) ?? shown.message;
}
