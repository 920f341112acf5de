import { listUses, removeUnused } from '../../certificates/removal.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderFormError } from '../form.ts';
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
import { formatDay } from '../words.ts';
import { toAppUrl } from './app-list.ts';
import { renderValidity } from './certificate-card.ts';
import { findEditableApp, findPageApp, type PageApp, readObjectId } from './own-apps.ts';

/** Client certificates of an app: validity, uses, and the removal of unused ones. */
async function renderPage(
  { app, canEdit }: PageApp,
  { visitor }: SiteRequest,
  { portal, clock }: SiteServices,
  error = '',
): Promise<SiteDocument> {
  const certificates = (await portal.certificates.ofApp(app.ID)).toReversed();
  const usesOf = await listUses(app.ID, portal);
  return {
    status: error ? 422 : 200,
    json: toFormErrors(new Map(), error),
    title: `Certificates of ${app.Name}`,
    section: 'apps',
    main: html`<nav class="crumbs" aria-label="Breadcrumb"><a href="${appsPath}">My apps</a>
<a href="${toAppUrl(app)}">${app.Name}</a></nav><h1>Client certificates</h1>${renderFormError(error)}
${certificates.length === 0 ? html`<p class="dim">This app has no certificates.</p>` : ''}
<ul class="rows">${certificates.map(certificate => {
      const { credentials, requests } = usesOf(certificate.ID);
      const isUsed = credentials.length + requests.length > 0;
      return html`<li><div><strong>${certificate.Name}</strong> ${renderValidity(certificate, clock.now())}
<p class="dim">Subject ${certificate.Subject || 'without a name'} · issued by ${certificate.Issuer || 'itself'}
· added ${formatDay(certificate.CreatedAt)}</p><p class="dim">SHA-256 <code>${certificate.Fingerprint}</code></p>
<p>${isUsed ? describeUses(credentials.length, requests.length) : 'Not in use'}</p></div>
${
  canEdit && !isUsed
    ? html`<form method="post" action="${toAppUrl(app)}/certificates/${certificate.ID}/delete">
${renderCsrfField(visitor.csrfToken)}
<button class="quiet" aria-label="Delete ${certificate.Name}">Delete</button></form>`
    : ''
}</li>`;
    })}</ul>`,
  };
}

const describeUses = (credentials: number, requests: number) =>
  [
    ...(credentials > 0 ? [`Attached to ${credentials === 1 ? 'a credential' : `${credentials} credentials`}`] : []),
    ...(requests > 0 ? [`waits for approval in ${requests === 1 ? 'a request' : `${requests} requests`}`] : []),
  ].join(', ');

async function respondPage(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findPageApp(request.params.id!, request.visitor, services);
  return found && renderPage(found, request, services);
}

async function submitDelete(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor } = request;
  const app = await findEditableApp(params.id!, visitor, services);
  const id = readObjectId(params.certificate!);
  if (!app || (await services.portal.certificates.get(id))?.AppID !== app.ID) return undefined;
  let error = '';
  try {
    await removeUnused(app.ID, id, services);
  } catch (cause) {
    error = describeFailure(cause, services);
  }
  await auditForm('deleteOwnCertificate', request, visitor.user, error ? 422 : 303, services, String(id));
  if (error) return renderPage({ app, canEdit: true }, request, services, error);
  return { redirect: `${toAppUrl(app)}/certificates` };
}

export const certificatePages: readonly SitePage[] = [
  { method: 'GET', path: `${appsPath}/:id/certificates`, access: 'user', respond: respondPage },
  { method: 'POST', path: `${appsPath}/:id/certificates/:certificate/delete`, access: 'user', respond: submitDelete },
];
