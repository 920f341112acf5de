import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { isProviderFailure } from '../providers/provider-client.ts';
import { problem } from './problems.ts';

/** Failures of providers have addresses and messages of internal servers: those are for the log, not for visitors. */
export function hideProvider(error: unknown, log: Log): unknown {
  if (!isProviderFailure(error)) return error;
  log.warn({ reason: error.message }, 'provider of the portal failed');
  return problem.gateway_unavailable({ cause: error });
}

/** The message of an expected failure, such as a provider that is unavailable; other errors are thrown. */
export function describeFailure(error: unknown, { log }: { readonly log: Log }): string {
  const shown = hideProvider(error, log);
  const isExpected = shown instanceof Problem && (shown !== error || shown.status < 500);
  if (!isExpected) throw error;
  return shown.message;
}
