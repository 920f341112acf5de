import type { StoredApp } from '../../apps/schema.ts';
import { canEditApp, canEditVisibleApp } from '../../visibility/rules.ts';
import { findVisibleApp, findVisibleApps, loadAppOwner } from '../../visibility/visibility.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { problem } from '../problems.ts';

/** Live requests that an app can have by the site. */
export const maxAppRequests = 100;
/** Apps that a user can create on the site. */
export const maxUserApps = 100;

/** Requests of a user on the site in 24 hours, also cancelled ones: each may send a mail to every administrator. */
export const maxDailyRequests = 200;
const dailyWindowMs = 86_400_000;

/** Inside a transaction, before any other lock: that of the user serialises concurrent requests. */
export async function refuseDailyExcess(userId: number, { portal, clock }: SiteServices): Promise<void> {
  await portal.users.lock(userId);
  if ((await portal.accessRequests.countOfUserSince(userId, clock.now() - dailyWindowMs)) < maxDailyRequests) return;
  const reason = `You have requested access ${maxDailyRequests} times today, the maximum: try again tomorrow`;
  throw problem.request_refused({ detail: { reason } });
}

/** Number of an object in a path or form; 0, which no object has, for any other text. */
export const readObjectId = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

/** Apps of the pages of a visitor: those visible to a developer, the own ones of an administrator. */
export const listPageApps = ({ rights }: SiteVisitor, services: SiteServices): Promise<StoredApp[]> =>
  rights.kind === 'administrator' ? services.portal.apps.ofUser(rights.userId) : findVisibleApps(rights, services);

export interface PageApp {
  readonly app: StoredApp;
  readonly canEdit: boolean;
}

/** An app by the number in its path; undefined where it is not visible. */
export async function findPageApp(
  id: string,
  { rights }: SiteVisitor,
  services: SiteServices,
): Promise<PageApp | undefined> {
  const app = await findVisibleApp(rights, readObjectId(id), services);
  return app && { app, canEdit: canEditApp(rights, app, await loadAppOwner(app, services)) };
}

/** An app that the visitor may change; undefined, as for one that does not exist, where it may not. */
export async function findEditableApp(id: string, visitor: SiteVisitor, services: SiteServices) {
  const found = await findPageApp(id, visitor, services);
  return found?.canEdit ? found.app : undefined;
}

/** Apps that a visitor may change, for a choice. */
export const listEditableApps = async (visitor: SiteVisitor, services: SiteServices): Promise<StoredApp[]> =>
  (await listPageApps(visitor, services)).filter(app => canEditVisibleApp(visitor.rights, app));
