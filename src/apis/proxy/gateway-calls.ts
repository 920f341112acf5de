import { problem } from './problems.ts';

const maxCallsPerOrganisation = 10;
/** Below the concurrency limit of the outbound client, which serves webhooks and key sets too. */
const maxCalls = 40;

export type GatewayCalls = ReturnType<typeof createGatewayCalls>;

/** Concurrency limit of calls through the dashboard: of an organisation, and of all together. */
export function createGatewayCalls() {
  const inProgress = new Map<string, number>();
  let total = 0;
  return {
    async run<T>(orgId: string, call: () => Promise<T>): Promise<T> {
      const running = inProgress.get(orgId) ?? 0;
      if (running >= maxCallsPerOrganisation)
        throw problem.too_many_calls({ detail: { scope: 'organisation', max: maxCallsPerOrganisation } });
      if (total >= maxCalls) throw problem.too_many_calls({ detail: { scope: 'process', max: maxCalls } });
      inProgress.set(orgId, running + 1);
      total++;
      try {
        return await call();
      } finally {
        total--;
        const left = inProgress.get(orgId)! - 1;
        if (left > 0) inProgress.set(orgId, left);
        else inProgress.delete(orgId);
      }
    },
  };
}
