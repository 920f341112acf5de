import type { PortalServices } from '../portal-stores.ts';
import { isPortalAdmin, type StoredPortalUser } from '../users/schema.ts';
import { toSessionOwner } from '../users/session-owner.ts';

type Services = Pick<PortalServices, 'settings'> & { portal: Pick<PortalServices['portal'], 'factors'> };

/** True where the setting requires an authenticator app that the user does not have: the session opens the profile only. */
export async function lacksRequiredFactor(
  { ID, Role, Provider }: StoredPortalUser,
  { portal, settings }: Services,
): Promise<boolean> {
  const required = settings['portal.second_factor'];
  // Identity providers verify factors of their own.
  if (required === 'optional' || Provider !== 'password') return false;
  if (required === 'administrators' && !isPortalAdmin(Role)) return false;
  return !(await portal.factors.hasTotp(toSessionOwner(ID)));
}
