import type { Log } from '#base/log.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import type { ProviderSlots } from '../provider-slots.ts';
import { buildLogoutUrl, type CodeFlowServices, type LogoutRequest } from './code-flow.ts';

export interface LogoutUrlServices extends Pick<CodeFlowServices, 'discoverProvider'> {
  readonly providerSlots: ProviderSlots;
  readonly log: Log;
}

/** Address of the provider where a sign-out goes on; an unavailable provider does not prevent the own one. */
export async function findLogoutUrl(
  { discoverProvider, providerSlots, log }: LogoutUrlServices,
  profile: IdentityProfile,
  request: LogoutRequest,
): Promise<string | undefined> {
  try {
    return await providerSlots.run(profile.OrgID, () => buildLogoutUrl({ discoverProvider }, profile, request));
  } catch (error) {
    log.warn({ profile: profile.ID, reason: (error as Error).message }, 'single logout failed');
    return undefined;
  }
}
