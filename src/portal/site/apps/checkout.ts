import { createSecretText } from '#base/ids.ts';
import { requestChange } from '../../access-requests/change.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { insertApp } from '../../apps/changes.ts';
import { getAccessType, provision } from '../../apps/provision.ts';
import { maxNoteChars, type StoredApp } from '../../apps/schema.ts';
import { revealKey } from '../../credentials/reveal.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderFormError, renderTextArea } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import { findAccessObstacle, findProductOffer, type PlanOffer, type ProductOffer, toCheckoutUrl } from '../offer.ts';
import {
  cataloguePath,
  checkoutPath,
  type SiteDocument,
  type SiteFields,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toProductUrl,
} from '../page.ts';
import { problem } from '../problems.ts';
import { acceptProductTerms, renderProductTerms } from '../terms/product-terms.ts';
import { displayName, formatKeyLifetime, formatQuota, formatRate } from '../words.ts';
import { emptyApp, readAppFields, renderAppFields } from './app-form.ts';
import { toAppUrl } from './app-list.ts';
import { renderAppPage } from './app-page.ts';
import { readCertificateFields, renderCertificateFields } from './certificate-fields.ts';
import { readClientFields, renderClientFields } from './client-fields.ts';
import {
  findMoreProducts,
  formatProductList,
  type MoreProducts,
  renderAdded,
  renderAddForm,
  renderExcluded,
} from './more-products.ts';
import { findEditableApp, listEditableApps, maxAppRequests, maxUserApps, refuseDailyExcess } from './own-apps.ts';
import { createRequestNotice } from './request-notice.ts';
import { listReusableRequests, readReusedRequest, renderReuseField } from './reuse-choice.ts';

/** Apps offered for a choice, newest first. */
const maxOfferedApps = 200;
/** Characters of the list of further products. */
const maxListChars = 400;
/** A form that was sent is refused a second time for as long. */
const formLifetimeMs = 86_400_000;

interface Choice {
  readonly offer: ProductOffer;
  readonly chosen: PlanOffer;
  /** Further products of the request. */
  readonly more: MoreProducts;
}

/** Product and plan of a page or form; undefined where the visitor cannot request them. */
async function findChoice(
  fields: SiteFields,
  request: SiteRequest,
  services: SiteServices,
): Promise<Choice | undefined> {
  const offer = await findProductOffer(fields('product'), request.visitor, services);
  if (!offer || findAccessObstacle(offer.product)) return undefined;
  const chosen = offer.offers.find(
    ({ plan, catalogueId }) => String(plan.ID) === fields('plan') && String(catalogueId) === fields('catalogue'),
  );
  const list = [fields('also').slice(0, maxListChars), fields('add')].filter(Boolean).join();
  const more = chosen && (await findMoreProducts(offer.product, chosen, list, services));
  return more && { offer, chosen, more };
}

type Errors = ReadonlyMap<string, string>;

async function renderCheckout(
  { offer, chosen, more }: Choice,
  request: SiteRequest,
  services: SiteServices,
  errors: Errors = new Map(),
): Promise<SiteDocument> {
  const { visitor, form } = request;
  const { product } = offer;
  const products = [product, ...more.added];
  const { plan } = chosen;
  const apps = (await listEditableApps(visitor, services)).toReversed().slice(0, maxOfferedApps);
  const action = readAction(request, apps);
  const values = form('app-action') ? readAppFields(form, new Map()) : emptyApp;
  const reusable = await listReusableRequests(products, plan, visitor, services);
  const choice = { product: product.Path, plan: String(plan.ID), catalogue: String(chosen.catalogueId) };
  const hidden = { ...choice, also: formatProductList(more.added) };
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: `Access to ${displayName(product)}`,
    section: 'apps',
    main: html`<nav class="crumbs" aria-label="Breadcrumb">
<a href="${toProductUrl(product)}">${displayName(product)}</a></nav>
<div class="head"><h1>Request access</h1></div>${renderAddForm(product, chosen, more)}
<form class="form broad" method="post" action="${checkoutPath}">
${renderFormError(errors.get('') ?? '')}${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="request_id" value="${createSecretText()}">
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<h2>1. Product and plan</h2><p><strong>${displayName(product)}</strong> under the plan
<strong>${displayName(plan)}</strong></p><ul class="facts"><li>${formatRate(plan)}</li><li>${formatQuota(plan)}</li>
<li>${formatKeyLifetime(plan)}</li>
<li>${plan.AutoApproveAccessRequests ? 'Granted at once' : 'Needs approval'}</li></ul>
${renderAdded(product, chosen, more.added)}${renderExcluded(more)}
${renderOtherPlans(offer, chosen)}<h2>2. App</h2>
${renderAppChoice({ apps, reusable, action }, request, errors)}
<div data-choice="create">${renderAppFields(values, visitor.user!.OrganisationID, errors, apps.length > 0)}</div>
${await renderClientFields(products, form, errors, services)}
${await renderCertificateFields(product, form, errors, visitor, services)}
${await renderProductTerms(products, errors, request, services)}
${plan.AutoApproveAccessRequests ? '' : renderNote(form, errors)}
<button>${plan.AutoApproveAccessRequests ? 'Get access' : 'Request access'}</button></form>`,
  };
}

function renderOtherPlans({ product, offers }: ProductOffer, chosen: PlanOffer): Markup | '' {
  const others = offers.filter(it => it !== chosen);
  if (others.length === 0) return '';
  return html`<p>Other plans: ${others.map(
    (it, place) => html`${place > 0 ? ', ' : ''}<a href="${toCheckoutUrl(product, it)}">${displayName(it.plan)}</a>`,
  )}</p>`;
}

type AppAction = 'create' | 'existing' | 'reuse';

/** Choice of the form; at first an existing app, or a new one where there is none. */
function readAction({ form }: SiteRequest, apps: readonly StoredApp[]): AppAction {
  const sent = form('app-action');
  if (sent) return sent === 'create' || sent === 'reuse' ? sent : 'existing';
  return apps.length === 0 ? 'create' : 'existing';
}

const renderNote = (form: SiteFields, errors: Errors) =>
  renderTextArea({
    name: 'note',
    label: 'Message to the approvers',
    value: form('note').slice(0, maxNoteChars),
    error: errors.get('note'),
    maxLength: maxNoteChars,
    isOptional: true,
  });

interface OfferedPlaces {
  readonly apps: readonly StoredApp[];
  readonly reusable: readonly StoredAccessRequest[];
  readonly action: AppAction;
}

/** The style sheet hides the parts that the choice leaves out, without script too. */
function renderAppChoice(
  { apps, reusable, action }: OfferedPlaces,
  { form, query }: SiteRequest,
  errors: Errors,
): Markup {
  if (apps.length === 0) return html`<input type="hidden" name="app-action" value="create">`;
  const chosen = form('selected-app') || query('app');
  const renderRadio = (value: AppAction, text: string) =>
    html`<label class="choice"><input type="radio" name="app-action" value="${value}"${
      value === action ? html` checked` : ''
    }>
${text}</label>`;
  const error = errors.get('selected-app');
  return html`<fieldset><legend>Use the credential in</legend>${renderRadio('existing', 'an app you have')}
<div class="field" data-choice="existing"><label for="selected-app">App</label><select id="selected-app" name="selected-app">
${apps.map(
  ({ ID, Name }) => html`<option value="${ID}"${String(ID) === chosen ? html` selected` : ''}>${Name}</option>`,
)}</select>
${error ? html`<p class="error">${error}</p>` : ''}</div>
${
  reusable.length > 0
    ? html`${renderRadio('reuse', 'a key you have')}${renderReuseField(reusable, form, errors.get('credential_request'))}`
    : ''
}${renderRadio('create', 'a new app')}</fieldset>`;
}

/** Page of a request that names no product yet. */
const emptyCheckout: SiteDocument = {
  title: 'Request access',
  section: 'apps',
  main: html`<div class="notice"><h1>Request access</h1>
<p>Choose a product first: its page has the plans under which you can request it.</p>
<p><a class="button" href="${cataloguePath}">Choose a product</a></p></div>`,
};

async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  if (request.query('product') === '') return emptyCheckout;
  const choice = await findChoice(request.query, request, services);
  return choice && renderCheckout(choice, request, services);
}

/** Adds the products of a form to the key of an approved request; undefined for one that is not offered. */
async function submitReuse({ offer, chosen, more }: Choice, request: SiteRequest, services: SiteServices) {
  const { form, visitor } = request;
  const products = [offer.product, ...more.added];
  const offered = await listReusableRequests(products, chosen.plan, visitor, services);
  const reused = readReusedRequest(form, offered);
  if (!reused) return undefined;
  const ProductIDs = [...reused.ProductIDs, ...products.map(({ ID }) => ID)];
  const change = { ProductIDs, Note: form('note').trim() };
  await requestChange(reused, change, services, {
    checkBounds: () => refuseDailyExcess(reused.UserID, services),
  });
  return reused;
}

/** The app of a form, created where it says so; faults are added to `errors`. */
async function findOrCreateApp(request: SiteRequest, services: SiteServices, errors: Map<string, string>) {
  const { form, visitor } = request;
  if (form('app-action') !== 'create') {
    const app = await findEditableApp(form('selected-app'), visitor, services);
    if (!app) errors.set('selected-app', 'Choose an app');
    return app;
  }
  const values = readAppFields(form, errors);
  if (errors.size > 0) return undefined;
  const app = await insertApp({ ...values, UserID: visitor.user!.ID }, services, maxUserApps);
  if (!app) errors.set('', `You have ${maxUserApps} apps, the maximum: use one of them.`);
  return app;
}

/** True for the first submission of a form only: a double click is one request. */
const isFirstSubmission = ({ form, visitor }: SiteRequest, { signInTokens, clock }: SiteServices) =>
  signInTokens.markUsed(
    {
      purpose: 'portal-request',
      orgId: '',
      value: `${visitor.user!.ID}:${form('request_id').slice(0, 100)}`,
      expiresAtMs: clock.now() + formLifetimeMs,
    },
    clock.now(),
  );

/** Inside a transaction: refuses a request of an app or user that has too many. */
async function refuseExcess({ ID, UserID }: StoredApp, services: SiteServices): Promise<void> {
  await refuseDailyExcess(UserID, services);
  if ((await services.portal.accessRequests.countLive({ app_id: ID })) >= maxAppRequests)
    throw problem.request_refused({ detail: { reason: `The app has ${maxAppRequests} requests, the maximum` } });
}

async function respondReuse(choice: Choice, request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { user } = request.visitor;
  try {
    const reused = await submitReuse(choice, request, services);
    if (!reused) return renderCheckout(choice, request, services, new Map([['credential_request', 'Choose a key']]));
    await auditForm('requestAccess', request, user, 303, services, String(reused.ID));
    return { redirect: toAppUrl({ ID: reused.AppID }) };
  } catch (error) {
    const failure = `Access was not requested: ${describeFailure(error, services)}`;
    await auditForm('requestAccess', request, user, 422, services);
    return renderCheckout(choice, request, services, new Map([['', failure]]));
  }
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form, visitor } = request;
  const choice = await findChoice(form, request, services);
  if (!choice) return undefined;
  if (form('request_id') === '' || !(await isFirstSubmission(request, services)))
    return { redirect: '/portal/private/apps' };
  const errors = new Map<string, string>();
  // Before the terms: their acceptance is stored at once.
  if (form('note').trim().length > maxNoteChars) errors.set('note', `Is longer than ${maxNoteChars} characters`);
  if (
    errors.size > 0 ||
    !(await acceptProductTerms([choice.offer.product, ...choice.more.added], errors, request, services))
  )
    return renderCheckout(choice, request, services, errors);
  if (form('app-action') === 'reuse') return respondReuse(choice, request, services);
  const app = await findOrCreateApp(request, services, errors);
  if (!app) return renderCheckout(choice, request, services, errors);
  const { product } = choice.offer;
  const { plan, catalogueId } = choice.chosen;
  // A repetition of the form uses the app that was created.
  const chosen: Readonly<Record<string, string>> = { 'app-action': 'existing', 'selected-app': String(app.ID) };
  const again = { ...request, form: (name: string) => chosen[name] ?? form(name) };
  const refuse = (failure: string) => renderCheckout(choice, again, services, new Map([['', failure]]));
  let requestId: number;
  try {
    const ids = [product, ...choice.more.added].map(({ ID }) => ID);
    const wanted = { PlanID: plan.ID, ProductIDs: ids, Catalogue: catalogueId, Note: form('note').trim() };
    const certificate = await readCertificateFields(product, form, visitor, services);
    const body = { ...wanted, ProvisionImmediately: undefined, ...readClientFields(product, form), ...certificate };
    requestId = await provision(app, body, services, { checkBounds: () => refuseExcess(app, services) });
  } catch (error) {
    const failure = describeFailure(error, services);
    await auditForm('requestAccess', request, visitor.user, 422, services, String(app.ID));
    return refuse(`Access was not requested: ${failure}`);
  }
  await auditForm('requestAccess', request, visitor.user, 200, services, String(requestId));
  const [credential] = await services.portal.credentials.ofRequests([requestId]);
  const hasKey = getAccessType(product) !== 'mutualTLS';
  const key = credential && hasKey ? await revealKey(credential.ID, services) : undefined;
  if (key === undefined) return { redirect: toAppUrl(app), cookies: [createRequestNotice(request)] };
  const revealed = { credentialId: credential!.ID, key };
  return renderAppPage({ app, canEdit: true }, request, services, { revealed });
}

export const checkoutPages: readonly SitePage[] = [
  { method: 'GET', path: checkoutPath, access: 'user', respond: show },
  { method: 'POST', path: checkoutPath, access: 'user', respond: submit },
];
