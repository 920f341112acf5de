import { z } from 'zod';
import { toAddressKey } from '#base/address-key.ts';
import { describePasswordPolicy, findPasswordFaults, maxPasswordBytes } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import { formatLinkExpiry } from '../../accounts/account-mails.ts';
import { canSignUp } from '../../accounts/account-services.ts';
import { requestNewLink, requestSignUp, verifyPath } from '../../accounts/sign-up.ts';
import type { StoredAttribute } from '../../attributes/schema.ts';
import { userModelId } from '../../attributes/store.ts';
import type { TermsOutline } from '../../terms/store.ts';
import { readPortalPasswordPolicy } from '../../users/creation.ts';
import { readAttributeFields, renderAttributeField, toAttributeField } from '../attribute-fields.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { type InviteCodeChoice, readInviteCode, renderCodeField } from '../invite-code-field.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import { readNameFields } from '../name-fields.ts';
import {
  registerPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toSignInUrl,
} from '../page.ts';
import { readTermsField, renderTermsField } from '../terms/terms-field.ts';

const sendAgainPath = `${verifyPath}/again`;

export const wrongEmailText = 'Enter an e-mail address, such as ann@example.org';
export const emailShape = z.string().trim().toLowerCase().max(254).pipe(z.email());

const listSignUpAttributes = async ({ portal }: SiteServices) =>
  (await portal.attributes.custom.ofModel(userModelId)).filter(it => it.ShowOnSignUp);

interface FormState {
  readonly attributes: readonly StoredAttribute[];
  readonly errors: FieldErrors;
  readonly terms: TermsOutline | undefined;
  /** Where the invite code leads. */
  readonly joins?: string;
  /** Error of the form as a whole. */
  readonly failure?: string;
  readonly status?: number;
}

function renderRegister(request: SiteRequest, services: SiteServices, state: FormState): SiteDocument {
  const { form, query, visitor } = request;
  const { attributes, errors, failure = '', status = 200 } = state;
  const next = readNextPath(query('next') || form('next'));
  const text = (name: string, label: string, autocomplete: string, type: 'text' | 'email' = 'text') =>
    renderField({ name, label, autocomplete, type, value: form(name), error: errors.get(name), maxLength: 254 });
  return {
    status,
    json: toFormErrors(errors, failure),
    title: 'Sign up',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${registerPath}"><h1>Sign up</h1>${renderFormError(failure)}
${errors.size > 0 ? renderFormError('Some fields need another value.') : ''}${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="next" value="${next}">${text('email', 'E-mail address', 'email', 'email')}
${text('first', 'First name', 'given-name')}${text('last', 'Last name', 'family-name')}
${renderNewPassword('password1', services, errors)}
${renderRepeatedPassword('password2', 'Password again', errors)}
${attributes.map(it => renderAttributeField(it, form(toAttributeField(it)), errors))}
${renderCodeField(request, errors, state.joins)}${renderTermsField(state.terms, errors)}<button>Sign up</button>
<p class="dim">You have an account? <a href="${toSignInUrl(next)}">Sign in</a></p></form>`,
  };
}

/** Field of a new password with the rules for it. */
export const renderNewPassword = (name: string, { settings }: SiteServices, errors: FieldErrors): Markup =>
  renderField({
    name,
    label: name === 'password1' ? 'Password' : 'New password',
    type: 'password',
    autocomplete: 'new-password',
    maxLength: maxPasswordBytes,
    help: `${describePasswordPolicy(readPortalPasswordPolicy(settings)).join('. ')}.`,
    error: errors.get(name),
  });

export const renderRepeatedPassword = (name: string, label: string, errors: FieldErrors): Markup =>
  renderField({
    name,
    label,
    type: 'password',
    autocomplete: 'new-password',
    maxLength: maxPasswordBytes,
    error: errors.get(name),
  });

/** Faults of a new password and its repetition, by the names of their fields. */
export function findNewPasswordErrors(
  [name, password]: readonly [string, string],
  [repeatedName, repeated]: readonly [string, string],
  { settings }: SiteServices,
): Map<string, string> {
  const errors = new Map<string, string>();
  const faults = findPasswordFaults(password, readPortalPasswordPolicy(settings));
  if (faults.length > 0) errors.set(name, faults.join('. '));
  else if (Buffer.byteLength(password) > maxPasswordBytes) errors.set(name, 'The password is too long');
  else if (password !== repeated) errors.set(repeatedName, 'The two passwords differ');
  return errors;
}

/** Form of the sign-up; undefined while there is none. */
export async function showRegister(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  if (!canSignUp(services)) return undefined;
  if (request.visitor.user) return { redirect: readNextPath(request.query('next')) };
  const attributes = await listSignUpAttributes(services);
  const terms = await services.portal.terms.findCurrent();
  const errors = new Map<string, string>();
  try {
    const code = await readInviteCode(request.query('invite'), request, errors, services);
    return renderRegister(request, services, { attributes, terms, errors, ...(code && { joins: code.joins }) });
  } catch (error) {
    return renderRegister(request, services, { attributes, terms, errors, ...describeLimit(error) });
  }
}

/** Message of a refused flood; other errors are thrown. */
export function describeLimit(error: unknown): { failure: string; status: number } {
  if (!(error instanceof Problem) || error.code !== sessionProblem.limited.code) throw error;
  return { failure: `Too many requests: try again ${String(error.detail.when)}.`, status: error.status };
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  if (!canSignUp(services)) return undefined;
  const { form, address } = request;
  const attributes = await listSignUpAttributes(services);
  const errors = findNewPasswordErrors(['password1', form('password1')], ['password2', form('password2')], services);
  const email = emailShape.safeParse(form('email'));
  if (!email.success) errors.set('email', wrongEmailText);
  const names = readNameFields(form, errors);
  const values = readAttributeFields(attributes, form, errors);
  const terms = await services.portal.terms.findCurrent();
  const termsId = readTermsField(form, terms, errors);
  let code: InviteCodeChoice | undefined;
  try {
    code = await readInviteCode(form('invite_id'), request, errors, services);
  } catch (error) {
    return renderRegister(request, services, { attributes, terms, errors, ...describeLimit(error) });
  }
  if (!email.success || errors.size > 0)
    return renderRegister(request, services, { attributes, terms, errors, status: 422 });
  const signUp = {
    email: email.data,
    ...names,
    password: form('password1'),
    attributes: values,
    codeId: code?.codeId ?? 0,
    terms: { id: termsId, address, acceptedAt: services.clock.now() },
    next: readNextPath(form('next')),
  };
  const flow = { client: toAddressKey(address), account: email.data };
  try {
    await requestSignUp(signUp, address, flow, services);
  } catch (error) {
    return renderRegister(request, services, { attributes, terms, errors, ...describeLimit(error) });
  }
  const lines = [
    `If ${email.data} can get an account, a mail with a link to confirm the address is on its way.`,
    formatLinkExpiry(services.settings),
  ];
  return withForm(renderNotice('Check your mail', lines), renderSendAgain(email.data, request));
}

/** Form that sends the mail of a sign-up again; the address is part of it where it is known. */
export const renderSendAgain = (email: string, { visitor }: SiteRequest, error?: string): Markup =>
  html`<form class="form" method="post" action="${sendAgainPath}">${renderCsrfField(visitor.csrfToken)}
${
  email
    ? html`<p class="dim">No mail after a minute? Look into the folder for spam, or let it be sent again.</p>
<input type="hidden" name="email" value="${email}">`
    : renderField({
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        autocomplete: 'email',
        maxLength: 254,
        error,
      })
}<button class="secondary">Send again</button></form>`;

/** The same reply for every address, at the same time, whether a sign-up of it waits or not. */
async function sendAgain(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  if (!canSignUp(services)) return undefined;
  const email = emailShape.safeParse(request.form('email'));
  if (!email.success) {
    const refused = renderNotice('The mail was not sent', [], undefined, 422);
    const form = renderSendAgain('', request, wrongEmailText);
    return { ...withForm(refused, form), json: toFormErrors(new Map([['email', wrongEmailText]])) };
  }
  try {
    requestNewLink(email.data, request.address, services);
  } catch (error) {
    const { failure, status } = describeLimit(error);
    return renderNotice('The mail was not sent', [failure], undefined, status);
  }
  const lines = [
    `If a sign-up of ${email.data} waits for its confirmation, a mail with a new link is on its way.`,
    formatLinkExpiry(services.settings),
  ];
  return withForm(renderNotice('Check your mail', lines), renderSendAgain(email.data, request));
}

/** A notice with a form below it. */
export const withForm = (notice: SiteDocument, form: Markup): SiteDocument => ({
  ...notice,
  main: html`${notice.main}${form}`,
});

export const renderNotice = (title: string, lines: readonly string[], link?: Markup, status = 200): SiteDocument => ({
  status,
  json: status < 400 ? { Message: title, Details: lines } : { errors: lines },
  title,
  section: 'sign-in',
  main: html`<div class="notice"><h1>${title}</h1>${lines.map(it => html`<p>${it}</p>`)}
${link && html`<p>${link}</p>`}</div>`,
});

export const registerPages: readonly SitePage[] = [
  { method: 'POST', path: registerPath, access: 'all', respond: submit },
  { method: 'POST', path: sendAgainPath, access: 'all', respond: sendAgain },
];
