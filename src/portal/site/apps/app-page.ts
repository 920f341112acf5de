import { listOtherPlans } from '../../access-requests/other-plans.ts';
import type { RequestContext, StoredAccessRequest } from '../../access-requests/schema.ts';
import { loadContexts } from '../../access-requests/views.ts';
import { hasAssignedCertificates } from '../../certificates/assigned-certificates.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import { renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  appsPath,
  cataloguePath,
  type SiteDocument,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  type SiteVisitor,
  toProductUrl,
  usagePath,
} from '../page.ts';
import { renderKeyUse } from '../usage/key-facts.ts';
import { type PageUse, readPageUse } from '../usage/page-use.ts';
import { describePlan, displayName, formatDay, formatMoment, formatRate } from '../words.ts';
import { toAppUrl } from './app-list.ts';
import { type CertificateCardOptions, renderCertificates } from './certificate-card.ts';
import {
  describeHiding,
  renderClientFacts,
  renderClientSecret,
  renderHiding,
  renderRedirectChange,
} from './client-card.ts';
import { renderCredentialState } from './credential-state.ts';
import {
  type CustomCredentialView,
  listSecrets,
  loadCustomCredentials,
  renderCustomCredential,
} from './custom-credential-card.ts';
import { type FirstCall, findFirstCall } from './first-call.ts';
import { findPageApp, type PageApp } from './own-apps.ts';
import { findRenewUrl, findRepeatUrl } from './renewal.ts';
import { endRequestNotice, hasRequestNotice, renderRequestNotice } from './request-notice.ts';
import { renderProcessing, renderRequestState } from './request-state.ts';
import { findRevealMode, type RevealMode, renderRevealForm } from './reveal-form.ts';
import { renderRotationFields } from './rotation-fields.ts';
import { findRotatedKey, type ShownKey } from './rotation-result.ts';

export const credentialsPath = '/portal/private/credentials';

/** Result of a form of the page. */
export interface AppOutcome {
  readonly error?: string;
  readonly status?: number;
  /** The form of a request led here. */
  readonly isRequested?: boolean;
  /** A key that is shown now, and not again. */
  readonly revealed?: ShownKey | undefined;
  /** Custom credential whose secrets are shown now. */
  readonly revealedCustom?: number;
}

interface RequestView {
  readonly request: StoredAccessRequest;
  readonly context: RequestContext;
  readonly plan: StoredPlan | undefined;
  /** Where the approver granted another plan. */
  readonly requestedPlan: string | undefined;
  readonly products: readonly { readonly name: string; readonly url: string }[];
  /** Call of an API of the request, without the key; undefined where the gateway is not known. */
  readonly call: FirstCall | undefined;
  /** Page on which a credential that expires, or access that was rejected, is requested again. */
  readonly repeatUrl: string | undefined;
  /** Plans to which the visitor can change; none while a change is pending. */
  readonly otherPlans: readonly StoredPlan[];
  /** Change that waits for its decision, in words; empty without one. */
  readonly pendingChange: string;
}

/** One change of a request is pending at a time. */
function describeChange(
  { PlanID }: StoredAccessRequest,
  change: StoredAccessRequest | undefined,
  plans: ReadonlyMap<number, StoredPlan>,
): string {
  if (!change) return '';
  const plan = plans.get(change.PlanID);
  const name = plan ? displayName(plan) : change.Names.plan;
  return change.PlanID === PlanID ? 'Change of products pending' : `Change to ${name} pending`;
}

async function loadRequests(
  appId: number,
  visitor: SiteVisitor,
  services: SiteServices,
  /** Credential whose key is shown, with a call. */
  revealedId: number | undefined,
): Promise<RequestView[]> {
  const { portal } = services;
  const requests = (await portal.accessRequests.listLive({ app_id: appId })).toReversed();
  const contextOf = await loadContexts(requests, services);
  const plans = await portal.plans.byIds(requests.flatMap(({ PlanID, Requested }) => [PlanID, Requested?.PlanID ?? 0]));
  const products = await portal.products.byIds(requests.flatMap(({ ProductIDs }) => ProductIDs));
  const changes = new Map(requests.filter(it => it.Status === 'pending').map(it => [it.Changes ?? 0, it]));
  const otherPlans = new Map<number, readonly StoredPlan[]>();
  const repeatUrls = new Map<number, string | undefined>();
  for (const it of requests) {
    if (it.Status === 'approved' && !changes.has(it.ID))
      otherPlans.set(it.ID, await listOtherPlans(it, visitor.rights, services));
    if (it.Status === 'approved')
      repeatUrls.set(it.ID, await findRenewUrl(it, contextOf(it).credentials, products, visitor, services));
    if (it.Status === 'rejected' && !it.Changes)
      repeatUrls.set(it.ID, await findRepeatUrl(it, products, visitor, services));
  }
  const calls = new Map<number, RequestView['call']>();
  for (const it of requests)
    if (contextOf(it).credentials.some(({ ID }) => ID === revealedId))
      calls.set(it.ID, await findFirstCall(products.get(it.ProductIDs[0] ?? 0), services));
  return requests.map(request => ({
    request,
    call: calls.get(request.ID),
    repeatUrl: repeatUrls.get(request.ID),
    otherPlans: otherPlans.get(request.ID) ?? [],
    pendingChange: describeChange(request, changes.get(request.ID), plans),
    context: contextOf(request),
    plan: plans.get(request.PlanID),
    requestedPlan: request.Requested && (plans.get(request.Requested.PlanID)?.DisplayName || request.Requested.plan),
    products: request.ProductIDs.map((id, place) => {
      const product = products.get(id);
      const name = product ? displayName(product) : (request.Names.products[place] ?? '');
      return { name, url: product ? toProductUrl(product) : '' };
    }),
  }));
}

export async function renderAppPage(
  { app, canEdit }: PageApp,
  { visitor }: SiteRequest,
  services: SiteServices,
  { error = '', status = 200, isRequested = false, revealed, revealedCustom }: AppOutcome = {},
): Promise<SiteDocument> {
  const requests = await loadRequests(app.ID, visitor, services, revealed?.credentialId);
  const owner = await services.portal.users.get(app.UserID);
  const csrf = renderCsrfField(visitor.csrfToken);
  const approved = requests.filter(({ request }) => request.Status === 'approved');
  const others = requests.filter(({ request }) => request.Status !== 'approved');
  const certificates = new Map((await services.portal.certificates.ofApp(app.ID)).map(it => [it.ID, it]));
  const revealMode = await findRevealMode(visitor, services);
  const custom = await loadCustomCredentials(app.ID, services);
  const keys = approved.flatMap(({ request, plan, context }) =>
    context.credentials.map(credential => ({ credential, request, plan })),
  );
  const use = await readPageUse(keys, services);
  const shown = { revealed, revealedCustom, revealMode };
  const held = { certificates, hasAssignedCertificates: await hasAssignedCertificates(app.UserID, services) };
  const maxOverlapSeconds = services.settings['portal.max_rotation_overlap_seconds'];
  const nowMs = services.clock.now();
  const options = { csrf, canEdit, appId: app.ID, nowMs, maxOverlapSeconds, ...held, use, ...shown };
  return {
    status,
    json: toOutcome(
      app.ID,
      error,
      revealed,
      custom.find(it => it.credential.ID === revealedCustom),
    ),
    title: app.Name,
    section: 'apps',
    main: html`<nav class="crumbs" aria-label="Breadcrumb"><a href="${appsPath}">My apps</a></nav>
<div class="head"><h1>${app.Name}</h1>
${canEdit ? html`<a class="button secondary" href="${toAppUrl(app)}/edit">Edit app</a>` : ''}</div>
${renderFormError(error)}${isRequested ? renderRequestNotice(others.map(({ request }) => request)) : ''}
${app.Description ? html`<p class="line">${app.Description}</p>` : ''}<ul class="facts"><li>App ${app.ID}</li>
<li>Visibility: ${app.Visibility}</li><li>Owner: ${owner?.Email ?? 'deleted user'}</li>
<li>Created ${formatDay(app.CreatedAt)}</li><li><a href="${usagePath}?app=${app.ID}">Usage</a></li>
${certificates.size > 0 ? html`<li><a href="${toAppUrl(app)}/certificates">Certificates</a></li>` : ''}</ul>
<section aria-labelledby="credentials"><h2 id="credentials">Credentials</h2>
${approved.map(view => renderApproved(view, options))}
${custom.map(view => renderCustomCredential(view, options))}
${approved.length === 0 && custom.length === 0 ? renderNoAccess(others) : ''}
</section>${others.length > 0 ? renderOthers(others, options) : ''}
${canEdit ? html`<p><a class="button danger" href="${toAppUrl(app)}/delete">Delete app</a></p>` : ''}`,
  };
}

const renderNoAccess = (others: readonly RequestView[]) =>
  others.some(({ request }) => request.Status === 'pending')
    ? html`<p class="dim">No access yet: the request below is not decided.</p>`
    : html`<p class="dim">No access yet. <a href="${cataloguePath}">Choose a product</a>.</p>`;

export const toOutcome = (
  AppID: number,
  error: string,
  revealed: AppOutcome['revealed'],
  custom?: CustomCredentialView,
) =>
  toFormErrors(new Map(), error) ?? {
    AppID,
    ...(revealed && { CredentialID: revealed.credentialId, Key: revealed.key }),
    ...(custom && {
      CustomCredentialID: custom.credential.ID,
      Secrets: Object.fromEntries(listSecrets(custom.credential)),
    }),
  };

interface CardOptions {
  readonly csrf: Markup;
  readonly canEdit: boolean;
  readonly appId: number;
  readonly nowMs: number;
  /** Longest overlap of a rotation. */
  readonly maxOverlapSeconds: number;
  readonly revealed: AppOutcome['revealed'];
  readonly revealedCustom: number | undefined;
  readonly revealMode: RevealMode;
  readonly use: PageUse;
  readonly certificates: CertificateCardOptions['certificates'];
  /** Administrators of the portal manage them. */
  readonly hasAssignedCertificates: boolean;
}

const renderProducts = ({ products }: RequestView) =>
  products.map(
    ({ name, url }, place) =>
      html`${place > 0 ? ', ' : ''}${
        url ? html`<a href="${url}">${name}</a>` : html`${name} <span class="badge danger">Product ended</span>`
      }`,
  );

const renderPlanLine = ({ plan, requestedPlan, context }: RequestView) =>
  html`${describePlan(plan, context.plan)}${requestedPlan ? html` (granted in place of ${requestedPlan})` : ''}`;

function renderApproved(view: RequestView, options: CardOptions): Markup {
  const { credentials } = view.context;
  if (credentials.length === 0)
    return html`<article class="card"><h3>${renderProducts(view)} <span class="badge">Revoked</span></h3>
<p class="dim">The credential was revoked: request access again for a new one.</p></article>`;
  return html`${credentials.map(credential => renderCredential(credential, view, options))}`;
}

function renderCredential(credential: StoredCredential, view: RequestView, options: CardOptions): Markup {
  if (credential.Client) return renderClient(credential, credential.Client, view, options);
  const { ID, CredentialHash, Expires, CreatedAt } = credential;
  const { canEdit, revealed } = options;
  // The certificate alone is the credential: the key, which carries the plan, is never sent.
  const hasKey = view.request.AuthType !== 'mutualTLS';
  const canRotate = hasKey && !hasExpired(credential, options);
  const former = credential.Former && credential.Former.Until > options.nowMs ? credential.Former : undefined;
  return html`<article class="card"><h3>${renderProducts(view)} ${renderCredentialState(credential, options.nowMs)}
${view.pendingChange ? html`<span class="badge warning">${view.pendingChange}</span>` : ''}</h3>
${revealed?.credentialId === ID ? renderKey(revealed, credential, view.call, options) : ''}
<ul class="facts"><li>${renderPlanLine(view)}</li>
<li>Hash <code>${CredentialHash.slice(0, 16)}</code></li><li>Created ${formatDay(CreatedAt)}</li>
<li>${Expires > 0 ? `Expires ${formatDay(Expires)}` : 'Does not expire'}</li>${renderKeyUse(credential, options.use)}
${former ? html`<li>Old key valid until ${formatMoment(former.Until)}</li>` : ''}</ul>
${
  canEdit
    ? html`<div class="actions">
${view.repeatUrl ? html`<a class="button" href="${view.repeatUrl}">Renew</a>` : ''}
${hasKey ? renderReveal('key', credential, options) : ''}
${canRotate ? renderRotation(ID, options) : ''}${former ? renderAction('end', 'End old key now', ID, options) : ''}
${renderPlanChange(credential, view, options)}${renderRevocation(hasKey ? 'key' : 'access', ID, options)}</div>`
    : ''
}
${
  isSpent(credential, options) ? html`<p class="dim">The key was shown. Rotate it for a new one if it is lost.</p>` : ''
}
${renderCertificates(credential, {
  ...options,
  canEdit: canEdit && !options.hasAssignedCertificates,
  action: credentialsPath,
  renderFields: mode => renderActionFields(mode, ID, options),
})}</article>`;
}

/** Card of an OAuth client; its key is the secret. */
function renderClient(
  credential: StoredCredential,
  client: StoredOauthClient,
  view: RequestView,
  options: CardOptions,
) {
  const { ID, CreatedAt } = credential;
  const { canEdit, revealed } = options;
  const isShown = revealed?.credentialId === ID;
  return html`<article class="card"><h3>${renderProducts(view)} ${renderCredentialState(credential, options.nowMs)}
${view.pendingChange ? html`<span class="badge warning">${view.pendingChange}</span>` : ''}</h3>
${isShown ? renderClientSecret(revealed.key, options.revealMode === 'once') : ''}
<ul class="facts"><li>OAuth 2.0</li><li>${renderPlanLine(view)}</li>
<li>Created ${formatDay(CreatedAt)}</li></ul>${renderClientFacts(client)}
${
  canEdit
    ? html`<div class="actions">${client.ClientSecret !== '' ? renderReveal('secret', credential, options) : ''}
${renderPlanChange(credential, view, options)}${renderRevocation('client', ID, options)}</div>
${renderRedirectChange(client, credentialsPath, renderActionFields('update', ID, options))}`
    : ''
}${
  isSpent(credential, options)
    ? html`<p class="dim">The secret was shown. Ask the owner of this portal if it is lost.</p>`
    : ''
}
</article>`;
}

/** The key was shown, and is not shown again. */
const isSpent = ({ ID, RevealedAt }: StoredCredential, { revealed, revealMode }: CardOptions) =>
  revealMode === 'once' && Boolean(RevealedAt) && revealed?.credentialId !== ID;

function renderReveal(noun: 'key' | 'secret', { ID, RevealedAt }: StoredCredential, options: CardOptions): Markup | '' {
  const { revealMode, revealed } = options;
  if (revealed?.credentialId === ID) return '';
  const fields = renderActionFields('reveal', ID, options);
  if (revealMode !== 'once') return renderRevealForm(noun, ID, revealMode, credentialsPath, fields);
  return RevealedAt ? '' : renderAction('reveal', `Show ${noun} once`, ID, options);
}

/** Effect of a rotation on the old key, in words. */
const describeRotation = ({ Former }: StoredCredential, { nowMs }: CardOptions) =>
  Former && Former.Until > nowMs
    ? `The key was rotated: the old one is accepted until ${formatMoment(Former.Until)}.`
    : 'The key was rotated: the old one is refused from now on.';

const renderKey = (
  { key, isRotated }: ShownKey,
  credential: StoredCredential,
  call: RequestView['call'],
  options: CardOptions,
) => {
  const { revealMode } = options;
  const { Certificates } = credential;
  const certificate = Certificates ? '--cert client.crt --key client.key ' : '';
  return html`<div class="secret" role="status"${renderHiding(revealMode === 'once')}>
${isRotated ? html`<p>${describeRotation(credential, options)}</p>` : ''}
<p><strong>${describeHiding('key', revealMode === 'once')}</strong></p>
<code>${key}</code> <button class="copy quiet" type="button" data-copy="${key}" hidden>Copy</button>
${
  call ? html`<pre class="code"><code>curl ${certificate}-H "${call.header}: ${key}" ${call.url}</code></pre>` : ''
}</div>`;
};

const renderActionFields = (mode: string, credentialId: number, { csrf, appId }: CardOptions) =>
  html`${csrf}<input type="hidden" name="mode" value="${mode}">
<input type="hidden" name="client_id" value="${appId}"><input type="hidden" name="cred_id" value="${credentialId}">`;

const renderAction = (mode: string, text: string, credentialId: number, options: CardOptions) =>
  html`<form method="post" action="${credentialsPath}">${renderActionFields(mode, credentialId, options)}
<button${mode === 'reveal' ? '' : html` class="secondary"`}>${text}</button></form>`;

/** Disclosure with the consequence and the button: a revocation needs two steps, without script too. */
const renderRevocation = (noun: 'key' | 'client' | 'access', credentialId: number, options: CardOptions) =>
  html`<details class="confirm"><summary>Revoke</summary><form method="post" action="${credentialsPath}">
${renderActionFields('delete', credentialId, options)}<p>The ${noun} is refused at once and cannot be brought back:
a new one needs a new request.</p><button class="danger">Revoke ${noun}</button></form></details>`;

const hasExpired = ({ Expires }: StoredCredential, { nowMs }: CardOptions) => Expires > 0 && Expires <= nowMs;

/** Disclosure too: with the choice “at once” the calls of an app fail until it has the new key. */
const renderRotation = (credentialId: number, options: CardOptions) =>
  html`<details class="rotation"><summary>Rotate key</summary><form method="post" action="${credentialsPath}">
${renderActionFields('roll', credentialId, options)}${renderRotationFields(options.maxOverlapSeconds)}</form></details>`;

/** The key stays the same; where the plan needs approval, the old one is in force until then. */
const renderPlanChange = ({ ID }: StoredCredential, { otherPlans }: RequestView, { csrf, appId }: CardOptions) =>
  otherPlans.length === 0
    ? ''
    : html`<form class="inline" method="post" action="${appsPath}/${appId}/credentials/${ID}/change-plan">${csrf}
<button class="secondary">Change plan</button><label>to <select name="new_plan_id">${otherPlans.map(
        plan => html`<option value="${plan.ID}">${displayName(plan)}: ${formatRate(plan)}</option>`,
      )}</select></label></form>`;

/** Requests that wait or were rejected. */
const renderOthers = (views: readonly RequestView[], { csrf, canEdit, appId }: CardOptions) =>
  html`<section aria-labelledby="requests"><h2 id="requests">Requests</h2><ul class="rows">${views.map(view => {
    const { ID, Status, CreatedAt, Reason, Note, Changes } = view.request;
    const isPending = Status === 'pending';
    return html`<li><div><strong>${renderProducts(view)}</strong>
${renderRequestState(view.request)}
<p class="dim">${Changes ? 'Change of a credential to ' : ''}${renderPlanLine(view)} · requested ${formatDay(
      CreatedAt,
    )}</p>
${renderProcessing(view.request)}${Note ? html`<p>Note: ${Note}</p>` : ''}${Reason ? html`<p>${Reason}</p>` : ''}</div>
${
  canEdit
    ? html`<div class="actions">${view.repeatUrl ? html`<a class="button secondary" href="${view.repeatUrl}">Ask again</a>` : ''}
<form method="post" action="${appsPath}/${appId}/requests/${ID}/cancel">${csrf}
<button class="quiet">${isPending ? 'Cancel request' : 'Remove'}</button></form></div>`
    : ''
}</li>`;
  })}</ul></section>`;

export async function respondApp(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findPageApp(request.params.id!, request.visitor, services);
  if (!found) return undefined;
  const revealed = found.canEdit ? await findRotatedKey(found.app.ID, request, services) : undefined;
  const isRequested = hasRequestNotice(request);
  const page = await renderAppPage(found, request, services, { revealed, isRequested });
  return isRequested ? { ...page, cookies: [endRequestNotice(request)] } : page;
}
