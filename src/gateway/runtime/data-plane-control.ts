import type { DataPlaneControl } from '#apis/api/data-plane.ts';
import { Problem, problems } from '#base/problems.ts';
import { problem } from '../pipeline/thread-rpc.ts';
import { sumStats } from '../recording/recent-stats.ts';
import type { Threads } from './threads.ts';

const ownProblem = problems('data_plane', {
  not_purged: { status: 503, message: 'Cache invalidation failed' },
});

export interface ControlOptions extends Pick<Threads, 'ask' | 'askAll'> {
  settled(): Promise<void>;
}

/** Answers at once or hardly at all: a thread that is busy for longer is stuck. */
const withinMs = 5000;
/** Reading thousands of definitions anew takes a while. */
const reloadWithinMs = 30_000;

/** What the management interfaces may ask of the traffic of this process. */
export function trafficControl({ ask: rpc, askAll, settled }: ControlOptions): DataPlaneControl {
  return {
    reload: () => inTime(settled(), reloadWithinMs),
    status: apiId => rpc('status', { apiId }, withinMs),
    stats: async apiId => sumStats(await askAll('vitals', { apiId }, withinMs)),
    clearJwksCache: async apiId => void (await askAll('forgetKeySets', { apiId }, withinMs)),
    async purgeResponseCache(apiId) {
      try {
        await askAll('forgetResponses', { apiId }, withinMs);
      } catch (cause) {
        if (cause instanceof Problem) throw cause;
        throw ownProblem.not_purged({ cause });
      }
    },
  };
}

async function inTime<T>(work: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(problem.timed_out({ detail: { withinMs } })), withinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
