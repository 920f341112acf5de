import { Problem } from '#base/problems.ts';
import type { DataPlaneControl, UnavailableApi } from '../api/data-plane.ts';

/** Active APIs that are not served. Only a process with traffic threads holds their state: undefined from another one. */
export async function findUnavailable(
  traffic: Pick<DataPlaneControl, 'listUnavailable'>,
  orgId: string,
): Promise<readonly UnavailableApi[] | undefined> {
  try {
    return await traffic.listUnavailable(orgId);
  } catch (error) {
    if (error instanceof Problem && error.code === 'thread_rpc.no_threads') return undefined;
    throw error;
  }
}
