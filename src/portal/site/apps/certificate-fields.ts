import { createInvalidProblem } from '#operations/validation-error.ts';
import type { CertificateChoice } from '../../apps/certificate-choice.ts';
import {
  assignedFault,
  chooseAssignedCertificate,
  hasAssignedCertificates,
  listAssignedCertificates,
} from '../../certificates/assigned-certificates.ts';
import { hasPrivateKey, maxPemChars } from '../../certificates/client-certificate.ts';
import type { StoredPortalCertificate } from '../../certificates/schema.ts';
import { isBoundToCertificate, type StoredProduct } from '../../products/schema.ts';
import { type FieldErrors, renderField, renderSelectField, renderTextArea } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteFields, SiteServices, SiteVisitor } from '../page.ts';
import { formatDay } from '../words.ts';
import { listEditableApps, readObjectId } from './own-apps.ts';

const actionField = 'cert-action';
const nameField = 'certificate_name';
const pemField = 'certificate_file';
const idField = 'certificate_id';
/** Certificates offered for a choice, newest first. */
const maxOffered = 100;

/** Certificates that the visitor uses in an app, each once, without expired ones. */
async function listOwnCertificates(visitor: SiteVisitor, services: SiteServices): Promise<StoredPortalCertificate[]> {
  const { portal, clock } = services;
  const apps = await listEditableApps(visitor, services);
  const found = (await portal.certificates.ofApps(apps.map(({ ID }) => ID))).filter(
    ({ NotAfter }) => NotAfter > clock.now(),
  );
  const byFingerprint = new Map(found.map(it => [it.Fingerprint, it]));
  return [...byFingerprint.values()].toReversed().slice(0, maxOffered);
}

/** A text with a private key is not sent back. */
const toShown = (text: string) => (hasPrivateKey(text) ? '' : text);

/** Fields of a new certificate. A script fills the text from a file; without it the text is pasted. */
export const renderPemFields = (
  form: SiteFields,
  errors: FieldErrors,
  { isConditional = false, suffix = '' }: { readonly isConditional?: boolean; readonly suffix?: string } = {},
): Markup =>
  html`${renderTextArea({
    name: pemField,
    id: pemField + suffix,
    label: 'Certificate (PEM)',
    value: toShown(form(pemField)),
    help: 'The text between BEGIN CERTIFICATE and END CERTIFICATE. Keep the private key to yourself.',
    error: errors.get('Certificate'),
    maxLength: maxPemChars,
    isConditional,
  })}<div class="field" hidden><label for="${pemField}${suffix}-upload">or a file with it</label>
<input id="${pemField}${suffix}-upload" type="file" accept=".pem,.crt,.cer" data-fills="${pemField}"></div>
${renderField({
  name: nameField,
  id: nameField + suffix,
  label: 'Name of the certificate',
  value: form(nameField),
  isOptional: true,
})}`;

/** Fields of the client certificate of a request, where the product requires one. */
export async function renderCertificateFields(
  product: StoredProduct,
  form: SiteFields,
  errors: FieldErrors,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<Markup | ''> {
  if (!isBoundToCertificate(product)) return '';
  const heading = html`<h2>3. Client certificate</h2><p>Calls are accepted with this certificate alone.</p>`;
  const nowMs = services.clock.now();
  const assigned = chooseAssignedCertificate(await listAssignedCertificates(visitor.user!.ID, services), nowMs);
  if (assigned)
    return html`${heading}<p>Administrators of the portal manage the certificates of your organisation:
<strong>${assigned.Name}</strong>, ${assigned.NotAfter > nowMs ? 'valid until' : 'expired on'}
${formatDay(assigned.NotAfter)}.</p>`;
  const own = await listOwnCertificates(visitor, services);
  if (own.length === 0) return html`${heading}${renderPemFields(form, errors)}`;
  const isNew = form(actionField) === 'create';
  const renderRadio = (value: string, text: string, isChecked: boolean) =>
    html`<label class="choice"><input type="radio" name="${actionField}" value="${value}"
${isChecked ? html` checked` : ''}> ${text}</label>`;
  return html`${heading}<fieldset><legend>Use</legend>${renderRadio('existing', 'a certificate you have', !isNew)}
${renderSelectField({
  name: idField,
  label: 'Certificate',
  value: form(idField),
  options: own.map(it => [String(it.ID), `${it.Name} (valid until ${formatDay(it.NotAfter)})`]),
  error: errors.get('CertificateID'),
})}${renderRadio('create', 'a new certificate', isNew)}</fieldset>
${renderPemFields(form, errors, { isConditional: true })}`;
}

/** Certificate of a form; one that the visitor has in another app is read from there. */
export async function readCertificateFields(
  product: StoredProduct,
  form: SiteFields,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<CertificateChoice> {
  if (!isBoundToCertificate(product)) return {};
  if (await hasAssignedCertificates(visitor.user!.ID, services)) {
    if ([pemField, idField].some(name => form(name) !== '')) throw createInvalidProblem([assignedFault]);
    return {};
  }
  if (form(actionField) !== 'existing') return readPemFields(form);
  const id = readObjectId(form(idField));
  const chosen = (await listOwnCertificates(visitor, services)).find(({ ID }) => ID === id);
  return { Certificate: chosen?.PEM ?? '', CertificateName: chosen?.Name ?? '' };
}

export const readPemFields = (form: SiteFields): CertificateChoice => ({
  Certificate: form(pemField),
  CertificateName: form(nameField).trim(),
});
