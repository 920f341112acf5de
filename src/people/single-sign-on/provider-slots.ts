import { problem } from './problems.ts';

/** Sign-ons of one organisation that wait for its identity providers at once. */
const maxConcurrentSignOns = 10;

export type ProviderSlots = ReturnType<typeof createProviderSlots>;

/**
 * Bulkhead: bound on concurrent sign-ons of one organisation. A provider that answers slowly must not occupy the
 * outbound client, which all organisations share.
 */
export function createProviderSlots(maxConcurrent = maxConcurrentSignOns) {
  const running = new Map<string, number>();

  function leave(orgId: string): void {
    const others = running.get(orgId)! - 1;
    if (others === 0) running.delete(orgId);
    else running.set(orgId, others);
  }

  return {
    async run<T>(orgId: string, work: () => Promise<T>): Promise<T> {
      const others = running.get(orgId) ?? 0;
      if (others >= maxConcurrent) throw problem.too_many_sign_ons();
      running.set(orgId, others + 1);
      try {
        return await work();
      } finally {
        leave(orgId);
      }
    },
  };
}
