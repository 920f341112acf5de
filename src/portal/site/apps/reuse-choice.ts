import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { getAccessType } from '../../apps/provision.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import { isBoundToCertificate, type StoredProduct } from '../../products/schema.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteFields, SiteServices, SiteVisitor } from '../page.ts';
import { listEditableApps, readObjectId } from './own-apps.ts';

/** Credentials offered for a choice, newest first. */
const maxOfferedRequests = 100;
const requestField = 'credential_request';

/**
 * Approved requests whose key can get further products: of the same plan and authentication, without any of them. OAuth
 * clients and certificates belong to their products.
 */
export async function listReusableRequests(
  products: readonly StoredProduct[],
  plan: StoredPlan,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<StoredAccessRequest[]> {
  const [first] = products;
  if (!first || products.some(it => it.DCREnabled || isBoundToCertificate(it))) return [];
  const apps = await listEditableApps(visitor, services);
  const requests = await services.portal.accessRequests.listOfApps(apps.map(({ ID }) => ID));
  const changing = new Set(
    requests.flatMap(({ Changes, Status }) => (Changes && Status === 'pending' ? [Changes] : [])),
  );
  const fitting = requests.filter(
    it =>
      it.Status === 'approved' &&
      !it.Changes &&
      !changing.has(it.ID) &&
      it.PlanID === plan.ID &&
      it.AuthType === getAccessType(first) &&
      !products.some(({ ID }) => it.ProductIDs.includes(ID)),
  );
  const nowMs = services.clock.now();
  const usable = new Set(
    (await services.portal.credentials.ofRequests(fitting.map(({ ID }) => ID)))
      .filter(({ Expires }) => Expires <= 0 || Expires > nowMs)
      .map(({ AccessRequestID }) => AccessRequestID),
  );
  return fitting
    .filter(({ ID }) => usable.has(ID))
    .slice(-maxOfferedRequests)
    .toReversed();
}

/** Request whose key the form adds the products to; undefined where it is none of those offered. */
export const readReusedRequest = (form: SiteFields, offered: readonly StoredAccessRequest[]) =>
  offered.find(({ ID }) => ID === readObjectId(form(requestField)));

export const renderReuseField = (
  offered: readonly StoredAccessRequest[],
  form: SiteFields,
  error: string | undefined,
): Markup =>
  html`<div class="field" data-choice="reuse"><label for="${requestField}">Key</label>
<select id="${requestField}" name="${requestField}">${offered.map(({ ID, Names }) => {
    const text = `${Names.app}: ${Names.products.join(', ')}`;
    return html`<option value="${ID}"${String(ID) === form(requestField) ? html` selected` : ''}>${text}</option>`;
  })}</select>${error ? html`<p class="error">${error}</p>` : ''}</div>`;
