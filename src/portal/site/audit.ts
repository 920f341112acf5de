import type { StoredPortalUser } from '../users/schema.ts';
import { toSessionOwner } from '../users/session-owner.ts';
import type { SiteRequest, SiteServices } from './page.ts';

/** Audit record of a form; the address of an unknown user may be a mistyped password. */
export function auditForm(
  action: string,
  { path: url, method, address: ip }: SiteRequest,
  user: StoredPortalUser | undefined,
  status: number,
  { writeAudit }: SiteServices,
  object = user ? toSessionOwner(user.ID) : '',
): Promise<void> {
  const name = user?.Email ?? 'unknown user';
  const id = user ? toSessionOwner(user.ID) : '';
  const actor = { surface: 'portal' as const, id, name, orgId: '', permissions: {} };
  return writeAudit({ actor, orgId: '', action, method, url, status, ip, object });
}
