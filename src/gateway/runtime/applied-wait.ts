import { canSeeNodes } from '#apis/system/node-visibility.ts';
import { createNodeWait, type NodeWaitOptions, type NodeWaitResult } from '#apis/system/node-wait.ts';
import type { Log } from '#base/log.ts';
import type { Actor } from '#operations/actor.ts';
import type { AppliedState, WaitUntilApplied } from '#operations/wait-applied.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import type { DataPlane } from './data-plane.ts';

export interface AppliedWaitOptions extends NodeWaitOptions {
  readonly dataPlane: Pick<DataPlane, 'waitUntilApplied'>;
  readonly records: Pick<Records, 'revision'>;
  readonly grants: Pick<GrantStore, 'isOperator'>;
  readonly log: Log;
  /** False where the database belongs to this process alone. */
  readonly sharesDatabase: boolean;
}

const noOthers: NodeWaitResult = { served: [], stale: [] };
const noThreads = 'this process has no traffic threads, and no other process with traffic threads runs';
const unknownNodes = 'other processes: the database did not return their state';

/**
 * Waits until the threads of this process, and all other processes that run, serve what is committed. The write that
 * waits is committed: an error here is a part that may not serve it.
 */
export function createAppliedWait(options: AppliedWaitOptions): WaitUntilApplied {
  const { dataPlane, records, grants, log, sharesDatabase } = options;
  const waitForNodes = createNodeWait(options);

  async function waitForOthers(actor: Actor): Promise<AppliedState> {
    try {
      const revision = await records.revision();
      const { served, stale } = sharesDatabase ? await waitForNodes(revision) : noOthers;
      const isVisible = stale.length > 0 && (await canSeeNodes(grants, actor));
      const names = isVisible ? nameNodes(stale, revision) : countNodes(stale);
      return { processes: served.length + stale.length, staleProcesses: stale.length, stale: names };
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'revisions of other processes not read');
      return { processes: 1, staleProcesses: 1, stale: [unknownNodes] };
    }
  }

  /** Errors of threads may name addresses and files of the operator's machines; others get the number of threads. */
  async function describeThreads(faults: readonly string[], actor: Actor): Promise<readonly string[]> {
    if (faults.length === 0) return [];
    const isVisible = await canSeeNodes(grants, actor).catch(error => {
      log.warn({ reason: (error as Error).message }, 'visibility of processes not read');
      return false;
    });
    return isVisible ? faults : [`traffic threads of this process: ${faults.length}`];
  }

  return async actor => {
    const [threads, others] = await Promise.all([dataPlane.waitUntilApplied(), waitForOthers(actor)]);
    if (!threads && others.processes === 0) return { ...others, stale: [noThreads] };
    return {
      processes: others.processes + (threads ? 1 : 0),
      staleProcesses: others.staleProcesses + (threads?.length ? 1 : 0),
      stale: [...(await describeThreads(threads ?? [], actor)), ...others.stale],
    };
  };
}

const nameNodes = (stale: NodeWaitResult['stale'], revision: number): string[] =>
  stale.map(
    ({ id, hostname, traffic }) => `process ${id} on ${hostname}: serves revision ${traffic!.revision} of ${revision}`,
  );

/** For callers who may not see nodes. */
const countNodes = ({ length }: NodeWaitResult['stale']): string[] =>
  length === 0 ? [] : [`other processes of the installation: ${length}`];
