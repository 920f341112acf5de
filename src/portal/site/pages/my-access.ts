import type { RequestContext, StoredAccessRequest } from '../../access-requests/schema.ts';
import { loadContexts } from '../../access-requests/views.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { toAppUrl } from '../apps/app-list.ts';
import { renderCredentialState } from '../apps/credential-state.ts';
import { listOwnRequests } from '../apps/own-requests.ts';
import { renderRequestState } from '../apps/request-state.ts';
import { html, type Markup } from '../markup.ts';
import { findProductOffer } from '../offer.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SitePage,
  type SiteRequest,
  type SiteServices,
  toProductUrl,
  usagePath,
} from '../page.ts';
import { renderKeyUse } from '../usage/key-facts.ts';
import { type PageUse, readPageUse } from '../usage/page-use.ts';
import { describePlan, formatDay } from '../words.ts';
import { renderProduct } from './product.ts';

/** Requests of one page: the newest ones. */
const maxShownRequests = 50;

interface OwnAccess {
  readonly request: StoredAccessRequest;
  readonly context: RequestContext;
  readonly plan: StoredPlan | undefined;
}

/** Credentials and requests of the visitor for a product; they are changed on the pages of their apps. */
async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const { params, visitor } = request;
  const offer = await findProductOffer(params.path!, visitor, services);
  if (!offer) return undefined;
  const { product } = offer;
  const requests = (await listOwnRequests(visitor, services))
    .filter(it => it.ProductIDs.includes(product.ID))
    .slice(0, maxShownRequests);
  const contextOf = await loadContexts(requests, services);
  const plans = await services.portal.plans.byIds(requests.map(({ PlanID }) => PlanID));
  const own = requests.map(it => ({ request: it, context: contextOf(it), plan: plans.get(it.PlanID) }));
  const use = await readPageUse(
    own.flatMap(({ request: of, context, plan }) =>
      context.credentials.map(credential => ({ credential, request: of, plan })),
    ),
    services,
  );
  const nowMs = services.clock.now();
  const rows = own.map(it => renderOwnAccess(it, use, nowMs));
  const main = html`<section aria-labelledby="my-access"><h2 id="my-access">My access</h2>
${rows.length > 0 ? html`<ul class="rows">${rows}</ul>${renderUsageLink(product)}` : renderNone(product)}</section>`;
  return renderProduct(offer, { id: 'my-access', main, title: 'My access' }, services);
}

const renderUsageLink = ({ ID }: StoredProduct) =>
  html`<p><a href="${usagePath}?product=${ID}">Usage of this product</a></p>`;

const renderNone = (product: StoredProduct) =>
  html`<p class="dim">Your apps have no access to this product.
<a href="${toProductUrl(product)}#plans">See plans</a></p>`;

function renderOwnAccess(access: OwnAccess, use: PageUse, nowMs: number): Markup {
  const { Status } = access.request;
  const { credentials } = access.context;
  if (Status === 'approved' && credentials.length > 0)
    return html`${credentials.map(it => renderRow(access, renderCredentialState(it, nowMs), it, use))}`;
  if (Status === 'approved') return renderRow(access, html`<span class="badge">Revoked</span>`);
  return renderRow(access, renderRequestState(access.request));
}

function renderRow(
  { request, context, plan }: OwnAccess,
  state: Markup,
  credential?: StoredCredential,
  use?: PageUse,
): Markup {
  return html`<li><div><strong><a href="${toAppUrl({ ID: request.AppID })}">${context.app}</a></strong> ${state}
<p class="dim">${describePlan(plan, context.plan)} · requested ${formatDay(request.CreatedAt)}</p>
${request.Reason ? html`<p>${request.Reason}</p>` : ''}
${credential && use ? html`<ul class="facts">${renderKeyUse(credential, use)}</ul>` : ''}</div></li>`;
}

export const myAccessPages: readonly SitePage[] = [
  { method: 'GET', path: `${cataloguePath}/:path/my-access`, access: 'user', respond },
];
