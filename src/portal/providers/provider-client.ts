import { Problem } from '#base/problems.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';
import type { StoredProvider } from './schema.ts';

export type ProviderClientServices = Pick<PortalServices, 'portal' | 'controlPlane'>;

const failures = new Set([problem.provider_unavailable.code, problem.provider_refused.code, problem.sync_failed.code]);

/** True when the error came from the provider. */
export const isProviderFailure = (error: unknown): error is Problem =>
  error instanceof Problem && failures.has(error.code);

/** Calls a provider; an unreachable one gets the status Down. */
export async function callProvider<T>(
  provider: StoredProvider,
  { portal, controlPlane }: ProviderClientServices,
  work: (plane: ControlPlane) => Promise<T>,
): Promise<T> {
  try {
    return await work(controlPlane(provider));
  } catch (error) {
    if (error instanceof Problem && error.code === problem.provider_unavailable.code)
      await portal.providers.change(provider.ID, it => ({
        ...it,
        Status: 'Down',
        LastError: String(error.detail.reason),
      }));
    throw error;
  }
}
