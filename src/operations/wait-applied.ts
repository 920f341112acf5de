import type { FastifyRequest } from 'fastify';
import { type AnyOperation, isMutation } from './operation.ts';
import { createInvalidProblem } from './validation-error.ts';

/**
 * Waits until the committed configuration is served; resolves with the parts of the data plane that do not serve it
 * within the timeout, each with the reason.
 */
export type WaitUntilApplied = () => Promise<readonly string[]>;

/** Parts that the header names. */
const maxPartsNamed = 20;
/** Header values: printable ASCII (RFC 9110, 5.5); other characters are replaced. */
const toHeaderText = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);

/** True where a write is to be answered once the data plane serves it: `?wait=applied`. */
export function isWaitRequested(it: AnyOperation, { query }: FastifyRequest): boolean {
  const { wait } = query as Record<string, unknown>;
  if (wait === undefined || !isMutation(it)) return false;
  if (wait !== 'applied') throw createInvalidProblem([{ path: 'wait', message: 'must be applied' }]);
  return true;
}

/** Response headers about a wait: whether all serve the change, and the names of those that do not. */
export async function describeApplied(waitUntilApplied: WaitUntilApplied): Promise<Record<string, string>> {
  const stale = await waitUntilApplied();
  if (stale.length === 0) return { 'x-gw-applied': 'true' };
  const named = stale.slice(0, maxPartsNamed).map(toHeaderText).join(', ');
  return { 'x-gw-applied': 'false', 'x-gw-not-applied': named };
}
