import type { DataPlaneControl } from '#apis/api/data-plane.ts';
import { Problem, problems } from '#base/problems.ts';
import { problem } from '../pipeline/thread-rpc.ts';
import { sumStats } from '../recording/recent-stats.ts';
import type { Threads } from './threads.ts';

const ownProblem = problems('data_plane', {
  not_purged: { status: 503, message: 'Cache invalidation failed' },
});

export interface DataPlaneControlOptions extends Pick<Threads, 'call' | 'broadcast'> {
  waitUntilCurrent(): Promise<void>;
}

/** RPC timeout: these calls take milliseconds; a thread that takes longer is stuck. */
const rpcTimeoutMs = 5000;
/** Reloading thousands of definitions takes seconds. */
const reloadTimeoutMs = 30_000;

/** Control of the data plane for management operations, by RPC to the traffic threads. */
export function createDataPlaneControl({
  call,
  broadcast,
  waitUntilCurrent,
}: DataPlaneControlOptions): DataPlaneControl {
  return {
    reload: () => withTimeout(waitUntilCurrent(), reloadTimeoutMs),
    status: apiId => call('status', { apiId }, rpcTimeoutMs),
    async threads() {
      try {
        return await broadcast('threadStatus', {}, rpcTimeoutMs);
      } catch (error) {
        // A process without a data plane has no threads.
        if (error instanceof Problem && error.code === problem.no_threads.code) return [];
        throw error;
      }
    },
    listUnavailable: orgId => call('listUnavailable', { orgId }, rpcTimeoutMs),
    stats: async apiId => sumStats(await broadcast('stats', { apiId }, rpcTimeoutMs)),
    clearJwksCache: async apiId => void (await broadcast('invalidateJwks', { apiId }, rpcTimeoutMs)),
    async purgeResponseCache(apiId) {
      try {
        await broadcast('purgeResponseCache', { apiId }, rpcTimeoutMs);
      } catch (cause) {
        if (cause instanceof Problem) throw cause;
        throw ownProblem.not_purged({ cause });
      }
    },
  };
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(problem.timed_out({ detail: { timeoutMs } })), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
