import type { FastifyRequest } from 'fastify';
import type { Actor } from './actor.ts';
import type { AnyOperation } from './operation.ts';
import { problem } from './problems.ts';
import { createInvalidProblem } from './validation-error.ts';

/** Processes with traffic threads, after a wait for the committed configuration. */
export interface AppliedState {
  readonly processes: number;
  /** Processes of which a part does not serve it within the timeout. */
  readonly staleProcesses: number;
  /** Parts of the data plane that do not serve it, each with the reason, as far as the actor may see them. */
  readonly stale: readonly string[];
}

/** Waits until the committed configuration is served. */
export type WaitUntilApplied = (actor: Actor) => Promise<AppliedState>;

/** Writes that wait, of all listeners of the process. */
export interface AppliedWaits {
  /** Takes a place of an organisation, before the write: one too many changes nothing. Returns its release. */
  reserve(orgId: string): () => void;
  /** Response headers about the wait: whether all serve the change, and the names of those that do not. */
  describeApplied(actor: Actor): Promise<Record<string, string>>;
  /**
   * Makes the traffic threads of this process load what is committed and waits for the other processes, in a place of
   * the organisation of the actor.
   */
  reload(actor: Actor): Promise<AppliedState>;
}

/** Parts that the header names. */
const maxHeaderParts = 20;
/** Header values: printable ASCII (RFC 9110, 5.5); other characters are replaced. */
const toHeaderText = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);

/** Bounded waits: a waiting request holds a connection, and makes every traffic thread of the process reload. */
export function createAppliedWaits(waitUntilApplied: WaitUntilApplied, maxWaits: number): AppliedWaits {
  const waitsByOrganisation = new Map<string, number>();

  function release(orgId: string): void {
    const left = (waitsByOrganisation.get(orgId) ?? 0) - 1;
    if (left > 0) waitsByOrganisation.set(orgId, left);
    else waitsByOrganisation.delete(orgId);
  }

  function reserve(orgId: string): () => void {
    const waits = waitsByOrganisation.get(orgId) ?? 0;
    if (waits >= maxWaits) throw problem.too_many_waits({ detail: { max: maxWaits } });
    waitsByOrganisation.set(orgId, waits + 1);
    return () => release(orgId);
  }

  return {
    reserve,
    async reload(actor) {
      const releaseWait = reserve(actor.orgId);
      try {
        return await waitUntilApplied(actor);
      } finally {
        releaseWait();
      }
    },
    async describeApplied(actor): Promise<Record<string, string>> {
      const { stale } = await waitUntilApplied(actor);
      if (stale.length === 0) return { 'x-gw-applied': 'true' };
      const named = stale.slice(0, maxHeaderParts).map(toHeaderText);
      if (stale.length > named.length) named.push(`and ${stale.length - named.length} more`);
      return { 'x-gw-applied': 'false', 'x-gw-not-applied': named.join(', ') };
    },
  };
}

/**
 * True where a write is to be answered once the data plane serves it: `?wait=applied`. An operation that changes
 * nothing there refuses it: a sign-in must not make every traffic thread reload.
 */
export function isWaitRequested({ changesTraffic }: AnyOperation, { query }: FastifyRequest): boolean {
  const { wait } = query as Record<string, unknown>;
  if (wait === undefined) return false;
  if (!changesTraffic) throw problem.wait_unsupported();
  if (wait !== 'applied') throw createInvalidProblem([{ path: 'wait', message: 'must be applied' }]);
  return true;
}
