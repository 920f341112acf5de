import { removeCredential, removeRequests } from '../../access-requests/removal.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { findChosenCertificate } from '../../apps/certificate-choice.ts';
import { changeApp } from '../../apps/changes.ts';
import { removeApp } from '../../apps/removal.ts';
import type { StoredApp } from '../../apps/schema.ts';
import { refuseOwnCertificate } from '../../certificates/assigned-certificates.ts';
import { attachCertificate, detachCertificate } from '../../certificates/attachment.ts';
import { revealKey } from '../../credentials/reveal.ts';
import { endOverlap, rotateKey } from '../../credentials/rotation.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import { changeRedirectUris } from '../../oauth-clients/redirect-change.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import {
  appsPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { describeLimit } from '../pages/register.ts';
import { readAppFields, renderAppFields } from './app-form.ts';
import { toAppUrl } from './app-list.ts';
import { type AppOutcome, credentialsPath, renderAppPage, respondApp, toOutcome } from './app-page.ts';
import { readPemFields } from './certificate-fields.ts';
import { findEditableApp, readObjectId } from './own-apps.ts';
import { changePlan } from './plan-change.ts';
import { canReveal, findRevealMode, wrongReveal } from './reveal-form.ts';
import { readOverlap } from './rotation-fields.ts';
import { createResultQuery } from './rotation-result.ts';

type Errors = Map<string, string>;

async function renderEdit(app: StoredApp, request: SiteRequest, services: SiteServices, errors: Errors = new Map()) {
  const owner = await services.portal.users.get(app.UserID);
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: `Edit ${app.Name}`,
    section: 'apps',
    main: html`<form class="form broad" method="post" action="${toAppUrl(app)}"><h1>Edit app</h1>
${renderCsrfField(request.visitor.csrfToken)}${renderAppFields(app, owner?.OrganisationID ?? 0, errors)}
<button>Save app</button> <a class="button quiet" href="${toAppUrl(app)}">Cancel</a></form>`,
  } satisfies SiteDocument;
}

async function showEdit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const app = await findEditableApp(request.params.id!, request.visitor, services);
  return app && renderEdit(app, request, services);
}

async function submitEdit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor, form } = request;
  const app = await findEditableApp(params.id!, visitor, services);
  if (!app) return undefined;
  const errors: Errors = new Map();
  const values = readAppFields(form, errors);
  if (errors.size > 0) return renderEdit({ ...app, ...values }, request, services, errors);
  if (!(await changeApp(app, values, services))) return undefined;
  await auditForm('updateOwnApp', request, visitor.user, 303, services, String(app.ID));
  return { redirect: toAppUrl(app) };
}

function renderDelete(app: StoredApp, { visitor }: SiteRequest, error = ''): SiteDocument {
  return {
    status: error ? 422 : 200,
    json: toFormErrors(new Map(), error),
    title: `Delete ${app.Name}`,
    section: 'apps',
    main: html`<form class="form broad" method="post" action="${toAppUrl(app)}/delete"><h1>Delete app ${app.Name}</h1>
<p>All of its keys are refused at once. This cannot be undone.</p>${renderFormError(error)}
${renderCsrfField(visitor.csrfToken)}
${renderField({ name: 'confirmation', label: `Type “${app.Name}” to confirm`, autocomplete: 'off' })}
<button class="danger">Delete app</button> <a class="button quiet" href="${toAppUrl(app)}">Cancel</a></form>`,
  };
}

async function showDelete(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const app = await findEditableApp(request.params.id!, request.visitor, services);
  return app && renderDelete(app, request);
}

async function submitDelete(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor, form } = request;
  const app = await findEditableApp(params.id!, visitor, services);
  if (!app) return undefined;
  if (form('confirmation').trim() !== app.Name.trim()) return renderDelete(app, request, 'The name is another one.');
  try {
    await removeApp(app.ID, services);
  } catch (error) {
    return renderDelete(app, request, `The app is not deleted: ${describeFailure(error, services)}`);
  }
  await auditForm('deleteOwnApp', request, visitor.user, 303, services, String(app.ID));
  return { redirect: appsPath };
}

async function submitCancel(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor } = request;
  const app = await findEditableApp(params.id!, visitor, services);
  const found = app && (await services.portal.accessRequests.get(readObjectId(params.request!)));
  if (!app || found?.AppID !== app.ID || found.Status === 'approved') return undefined;
  await removeRequests([found], services);
  await auditForm('cancelOwnAccessRequest', request, visitor.user, 303, services, String(found.ID));
  return { redirect: toAppUrl(app) };
}

const actions = {
  reveal: 'revealOwnCredential',
  roll: 'rotateOwnCredential',
  end: 'endOwnOverlap',
  delete: 'revokeOwnCredential',
  update: 'changeOwnRedirectUrls',
  attach: 'attachOwnCertificate',
  detach: 'detachOwnCertificate',
} as const;

async function attachOwn(
  app: StoredApp,
  credential: StoredCredential,
  owning: StoredAccessRequest,
  { form }: SiteRequest,
  services: SiteServices,
): Promise<void> {
  const certificate = await findChosenCertificate(app, readPemFields(form), services);
  await attachCertificate(credential, owning, certificate, services);
}

/** Shows a key: that of a rotation as it is, a stored one after a re-authentication where the setting asks for it. */
async function openKey(
  credentialId: number,
  mode: 'reveal' | 'roll',
  request: SiteRequest,
  services: SiteServices,
): Promise<AppOutcome> {
  const isRepeatable = mode === 'reveal' && (await findRevealMode(request.visitor, services)) !== 'once';
  try {
    if (isRepeatable && !(await canReveal(request, services))) return { error: wrongReveal, status: 422 };
  } catch (error) {
    const { failure, status } = describeLimit(error);
    return { error: failure, status };
  }
  const key = await revealKey(credentialId, services, isRepeatable);
  return { revealed: key === undefined ? undefined : { credentialId, key } };
}

/** Shows, rotates or revokes a credential. The key is part of this response alone, which no cache stores. */
async function submitCredential(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form, visitor } = request;
  const { portal } = services;
  const app = await findEditableApp(form('client_id'), visitor, services);
  const mode = Object.hasOwn(actions, form('mode')) ? (form('mode') as keyof typeof actions) : undefined;
  const credential = app && mode && (await portal.credentials.get(readObjectId(form('cred_id'))));
  const owning = credential && (await portal.accessRequests.get(credential.AccessRequestID));
  if (!credential || owning?.AppID !== app.ID) return undefined;
  const page = { app, canEdit: true };
  let outcome: AppOutcome;
  try {
    if (mode === 'roll') await rotateKey(credential, owning, services, readOverlap(form('overlap')));
    if (mode === 'end') await endOverlap(credential.ID, services);
    if (mode === 'delete') await removeCredential(credential.ID, owning.ProviderID, services);
    if (mode === 'update' && credential.OauthClientID)
      await changeRedirectUris(owning, credential.OauthClientID, form('redirect_url'), services);
    if (mode === 'attach' || mode === 'detach') await refuseOwnCertificate(app.UserID, services);
    if (mode === 'attach') await attachOwn(app, credential, owning, request, services);
    if (mode === 'detach') await detachCertificate(credential, owning, readObjectId(form('certificate_id')), services);
    outcome = mode === 'reveal' || mode === 'roll' ? await openKey(credential.ID, mode, request, services) : {};
  } catch (error) {
    outcome = { error: describeFailure(error, services), status: 422 };
  }
  const status = outcome.status ?? (mode === 'reveal' ? 200 : 303);
  await auditForm(actions[mode!], request, visitor.user, status, services, String(credential.ID));
  if (status !== 303) return renderAppPage(page, request, services, outcome);
  if (mode !== 'roll') return { redirect: toAppUrl(app) };
  const query = await createResultQuery(credential.ID, request, services);
  return { redirect: toAppUrl(app) + query, json: toOutcome(app.ID, '', outcome.revealed) };
}

/** Shows key and secret of a custom credential: once, or after a re-authentication where the setting asks for it. */
async function submitCustomReveal(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor } = request;
  const { customCredentials } = services.portal;
  const app = await findEditableApp(params.id!, visitor, services);
  const found = app && (await customCredentials.get(readObjectId(params.credential!)));
  if (!app || found?.AppID !== app.ID) return undefined;
  let outcome: AppOutcome = { revealedCustom: found.ID };
  try {
    const isRepeatable = (await findRevealMode(visitor, services)) !== 'once';
    if (isRepeatable && !(await canReveal(request, services))) outcome = { error: wrongReveal, status: 422 };
    else if (!(await markShown(found.ID, isRepeatable, services))) outcome = {};
  } catch (error) {
    const { failure, status } = describeLimit(error);
    outcome = { error: failure, status };
  }
  const status = outcome.status ?? 200;
  await auditForm('revealOwnCustomCredential', request, visitor.user, status, services, String(found.ID));
  return renderAppPage({ app, canEdit: true }, request, services, outcome);
}

/** Marks a custom credential as shown; false where it was before, and may be shown once. */
async function markShown(id: number, isRepeatable: boolean, { portal, clock }: SiteServices): Promise<boolean> {
  let isFirst = false;
  await portal.customCredentials.change(id, it => {
    isFirst = !it.RevealedAt;
    return isFirst ? { ...it, RevealedAt: clock.now() } : it;
  });
  return isFirst || isRepeatable;
}

/** Changes the plan of a credential, at once or by a request that waits. */
async function submitPlanChange(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, form, visitor } = request;
  const { portal } = services;
  const app = await findEditableApp(params.id!, visitor, services);
  const credential = app && (await portal.credentials.get(readObjectId(params.credential!)));
  const owning = credential && (await portal.accessRequests.get(credential.AccessRequestID));
  if (!app || owning?.AppID !== app.ID) return undefined;
  let error = '';
  try {
    if (!(await changePlan(owning, readObjectId(form('new_plan_id')), visitor, services))) return undefined;
  } catch (cause) {
    error = describeFailure(cause, services);
  }
  const status = error === '' ? 303 : 422;
  await auditForm('changeOwnPlan', request, visitor.user, status, services, String(credential!.ID));
  if (error === '') return { redirect: toAppUrl(app) };
  return renderAppPage({ app, canEdit: true }, request, services, { error, status });
}

const toPage = (method: 'GET' | 'POST', path: string, respond: SitePage['respond']): SitePage => ({
  method,
  path,
  access: 'user',
  respond,
});

export const appPages: readonly SitePage[] = [
  toPage('GET', `${appsPath}/:id`, respondApp),
  toPage('POST', `${appsPath}/:id`, submitEdit),
  toPage('GET', `${appsPath}/:id/edit`, showEdit),
  toPage('GET', `${appsPath}/:id/delete`, showDelete),
  toPage('POST', `${appsPath}/:id/delete`, submitDelete),
  toPage('POST', `${appsPath}/:id/requests/:request/cancel`, submitCancel),
  toPage('POST', `${appsPath}/:id/credentials/:credential/change-plan`, submitPlanChange),
  toPage('POST', `${appsPath}/:id/custom-credentials/:credential/reveal`, submitCustomReveal),
  toPage('POST', credentialsPath, submitCredential),
];
