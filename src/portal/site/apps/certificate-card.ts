import { findValidity, type StoredPortalCertificate } from '../../certificates/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import { html, type Markup } from '../markup.ts';
import { formatDay } from '../words.ts';
import { renderPemFields } from './certificate-fields.ts';

/** Validity of a certificate in words. */
export function renderValidity(certificate: StoredPortalCertificate, nowMs: number): Markup {
  const state = findValidity(certificate, nowMs);
  const day = formatDay(certificate.NotAfter);
  if (state === 'expired') return html`<span class="badge danger">Expired ${day}</span>`;
  if (state === 'not valid yet')
    return html`<span class="badge warning">Valid from ${formatDay(certificate.NotBefore)}</span>`;
  return state === 'expiring'
    ? html`<span class="badge warning">Expires ${day}</span>`
    : html`<span class="dim">Valid until ${day}</span>`;
}

const stateTexts = { attaching: 'Waits for the gateway', attached: '', detaching: 'Is being detached' } as const;

export interface CertificateCardOptions {
  readonly certificates: ReadonlyMap<number, StoredPortalCertificate>;
  readonly canEdit: boolean;
  readonly nowMs: number;
  /** Address and hidden fields of an action of the credential. */
  readonly action: string;
  renderFields(mode: 'attach' | 'detach'): Markup;
}

/** Certificates of a credential, with their validity, and the forms that attach and detach them. */
export function renderCertificates(
  { ID: id, Certificates }: StoredCredential,
  options: CertificateCardOptions,
): Markup | '' {
  if (!Certificates) return '';
  const { certificates, canEdit, nowMs, action, renderFields } = options;
  const rows = Certificates.flatMap(({ ID, State }) => {
    const certificate = certificates.get(ID);
    return certificate ? [{ certificate, State }] : [];
  });
  return html`<h4>Client certificates</h4>
${rows.length === 0 ? html`<p class="message errors">None: calls are refused until one is attached.</p>` : ''}
<ul class="rows">${rows.map(
    ({ certificate, State }) => html`<li><div><strong>${certificate.Name}</strong> ${renderValidity(certificate, nowMs)}
${State === 'attached' ? '' : html`<span class="badge warning">${stateTexts[State]}</span>`}
<p class="dim">Subject ${certificate.Subject || 'without a name'} · SHA-256
<code>${certificate.Fingerprint.slice(0, 16)}</code></p></div>
${
  canEdit && State !== 'detaching'
    ? html`<form method="post" action="${action}">${renderFields('detach')}
<input type="hidden" name="certificate_id" value="${certificate.ID}">
<button class="quiet" aria-label="Detach ${certificate.Name}">Detach</button></form>`
    : ''
}</li>`,
  )}</ul>
${
  canEdit
    ? html`<details><summary>Attach another certificate</summary>
<p>Calls are accepted with each attached certificate: detach the old one when the new one is in use.</p>
<form class="form" method="post" action="${action}">${renderFields('attach')}
${renderPemFields(() => '', new Map(), { suffix: `-${id}` })}
<button class="secondary">Attach certificate</button></form></details>`
    : ''
}`;
}
