import { problem } from './problems.ts';

/** Calls in progress of one organisation: the outbound client serves webhooks and key sets too. */
const maxCalls = 10;

export type GatewayCalls = ReturnType<typeof createGatewayCalls>;

/** Concurrency limit of calls through the dashboard, by organisation. */
export function createGatewayCalls() {
  const inProgress = new Map<string, number>();
  return {
    async run<T>(orgId: string, call: () => Promise<T>): Promise<T> {
      const running = inProgress.get(orgId) ?? 0;
      if (running >= maxCalls) throw problem.too_many_calls({ detail: { maxCalls } });
      inProgress.set(orgId, running + 1);
      try {
        return await call();
      } finally {
        const left = (inProgress.get(orgId) ?? 1) - 1;
        if (left > 0) inProgress.set(orgId, left);
        else inProgress.delete(orgId);
      }
    },
  };
}
