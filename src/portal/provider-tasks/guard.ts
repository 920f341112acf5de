import { createPublicId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import type { ProviderKey } from '../control-plane.ts';
import { issueProviderKey, type KeyRequest } from '../credentials/issue.ts';
import { problem } from '../problems.ts';
import { performOrDefer, type TaskServices } from './perform.ts';
import type { StoredProviderTask } from './schema.ts';

/** Unfinished calls of one provider; more are refused, so that an unavailable provider does not fill the database. */
const maxTasksPerProvider = 10_000;

/**
 * Records that a key will be made under a random name, before it is: a key whose process ends before a credential has
 * it is removed. Inside a transaction it commits with the claim of its request.
 */
export async function guardNewKey(
  { ProviderID, RequestID = 0 }: { ProviderID: number; RequestID?: number },
  services: TaskServices,
  nowMs = services.clock.now(),
): Promise<StoredProviderTask> {
  await refuseFullQueue(ProviderID, services);
  const task = { Kind: 'abandon' as const, ProviderID, RequestID, Key: createPublicId() };
  return services.portal.providerTasks.add(task, nowMs);
}

export async function refuseFullQueue(ProviderID: number, { portal }: TaskServices): Promise<void> {
  if ((await portal.providerTasks.countOfProvider(ProviderID)) >= maxTasksPerProvider) {
    const name = (await portal.providers.get(ProviderID))?.Name ?? String(ProviderID);
    throw problem.provider_unavailable({ detail: { name, reason: 'too many calls wait for it' } });
  }
}

/**
 * Has the provider make the guarded key, without a lock during the call; `store` runs in the transaction that ends the
 * guard. Where either fails, the key is removed.
 */
export async function issueGuardedKey<Result>(
  guard: StoredProviderTask,
  request: KeyRequest,
  services: TaskServices,
  store: (key: ProviderKey) => Promise<Result>,
): Promise<Result> {
  const { portal, records, clock } = services;
  let key: ProviderKey;
  try {
    key = await issueProviderKey(request, services, guard.Key);
  } catch (error) {
    // A refused key does not exist; one whose response was lost may.
    if (error instanceof Problem && error.code === problem.provider_refused.code)
      await portal.providerTasks.remove(guard.ID);
    else await portal.providerTasks.defer(guard, (error as Error).message, clock.now());
    throw error;
  }
  try {
    return await records.write(async () => {
      if (!(await portal.providerTasks.remove(guard.ID))) throw problem.rotated_already();
      return store(key);
    });
  } catch (error) {
    await performOrDefer(guard, services);
    throw error;
  }
}
