import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { listPageApps } from './own-apps.ts';

/** Requests whose credentials are read: the newest ones. */
const maxReadRequests = 200;

/** Requests of the apps that a visitor sees, newest first, without those that change another one. */
export async function listOwnRequests(visitor: SiteVisitor, services: SiteServices): Promise<StoredAccessRequest[]> {
  if (!visitor.user) return [];
  const apps = await listPageApps(visitor, services);
  const requests = await services.portal.accessRequests.listOfApps(apps.map(({ ID }) => ID));
  return requests.filter(it => !it.Changes).toReversed();
}

/** Products that a credential of the visitor is for. */
export async function findOwnProductIds(visitor: SiteVisitor, services: SiteServices): Promise<Set<number>> {
  const requests = (await listOwnRequests(visitor, services)).filter(it => it.Status === 'approved');
  const read = requests.slice(0, maxReadRequests);
  const credentials = await services.portal.credentials.ofRequests(read.map(({ ID }) => ID));
  const held = new Set(credentials.map(it => it.AccessRequestID));
  return new Set(read.filter(({ ID }) => held.has(ID)).flatMap(it => it.ProductIDs));
}
