import { toAddressKey } from '#base/address-key.ts';
import { maxPasswordBytes, verifyPassword } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { canSignUp } from '../../accounts/account-services.ts';
import { completeSignUp, type FoundSignUp, findSignUp, verifyPath } from '../../accounts/sign-up.ts';
import { hashCheckedPassword } from '../../users/creation.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { html } from '../markup.ts';
import {
  registerPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toSignInUrl,
} from '../page.ts';
import { findByLink } from './link-attempts.ts';
import {
  findNewPasswordErrors,
  renderNewPassword,
  renderNotice,
  renderRepeatedPassword,
  renderSendAgain,
  withForm,
} from './register.ts';

function renderDeadLink(request: SiteRequest, services: SiteServices): SiteDocument {
  const notice = renderNotice(
    'This link does not work',
    ['It is incomplete, has expired, or was used already. If your account exists, sign in.'],
    html`<a href="${toSignInUrl('/')}">Sign in</a>
${canSignUp(services) ? html` · <a href="${registerPath}">Sign up again</a>` : ''}`,
    410,
  );
  return canSignUp(services) ? withForm(notice, renderSendAgain('', request)) : notice;
}

/** Form of a confirmation: with the password of the sign-up, or with a new one. */
interface VerifyForm {
  readonly token: string;
  readonly email: string;
  readonly hasNewPassword: boolean;
  readonly errors?: FieldErrors;
  readonly failure?: string;
  readonly status?: number;
}

function renderVerify(verify: VerifyForm, services: SiteServices): SiteDocument {
  const { token, email, hasNewPassword, errors = new Map(), failure = '', status = 200 } = verify;
  const query = `token=${encodeURIComponent(token)}`;
  const current = {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    maxLength: maxPasswordBytes,
    help: 'The one of the sign-up form.',
    error: errors.get('password'),
  } as const;
  return {
    status,
    json: toFormErrors(errors, failure),
    title: 'Confirm your address',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${verifyPath}"><h1>Confirm your address</h1>
${renderFormError(failure)}
<input type="hidden" name="token" value="${token}"><input type="hidden" name="own" value="${hasNewPassword ? '1' : ''}">
${renderField({ name: 'username', label: 'E-mail address', autocomplete: 'username', value: email, isReadOnly: true })}
${
  hasNewPassword
    ? html`${renderNewPassword('new_password', services, errors)}
${renderRepeatedPassword('confirm_password', 'New password again', errors)}`
    : renderField(current)
}<button>Confirm address</button>
<p class="dim">${
      hasNewPassword
        ? html`<a href="${verifyPath}?${query}">Use the password of the sign-up form</a>`
        : html`You did not fill in that form, or forgot the password?
<a href="${verifyPath}?${query}&amp;own=1">Set another one</a>`
    }</p></form>`,
  };
}

/** Opening the link uses no token: mail scanners follow links. */
async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { query } = request;
  const token = query('token');
  const found = await findByLink(request, services, () => findSignUp(token, services));
  if (!found) return renderDeadLink(request, services);
  return renderVerify({ token, email: found.signUp.email, hasNewPassword: query('own') === '1' }, services);
}

/**
 * Account pre-hijacking: the form may have been filled in by another person than the owner of the address. The account
 * gets a password that the visitor with the link knows: that of the form, or one that is set now.
 */
async function readSignUp(
  found: FoundSignUp,
  { form, address }: SiteRequest,
  services: SiteServices,
): Promise<FoundSignUp | FieldErrors> {
  const { signUp } = found;
  const flow = { client: toAddressKey(address), account: signUp.email };
  if (form('own') === '1') {
    const [password, repeated] = [form('new_password'), form('confirm_password')];
    const errors = findNewPasswordErrors(['new_password', password], ['confirm_password', repeated], services);
    if (errors.size > 0) return errors;
    // Another person may have chosen the team of the code, filled in the attributes and accepted the terms: the site asks
    // for these at the sign-in.
    const { terms: _terms, codeId: _code, ...own } = signUp;
    const hash = await hashCheckedPassword(password, services.settings, flow);
    return { ...found, signUp: { ...own, attributes: [], password: hash } };
  }
  const attempt = services.portalSignInLimit.begin(`sign-up ${signUp.email}`, address);
  const isVerified = await verifyPassword(form('password').slice(0, maxPasswordBytes), signUp.password, flow);
  if (!isVerified) return new Map([['password', 'This is not the password of the sign-up form']]);
  attempt.succeed();
  return found;
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const token = request.form('token');
  const found = await findByLink(request, services, () => findSignUp(token, services));
  if (!found) return refuse(request, services);
  const again = { token, email: found.signUp.email, hasNewPassword: request.form('own') === '1' };
  let read: FoundSignUp | FieldErrors;
  try {
    read = await readSignUp(found, request, services);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== sessionProblem.limited.code) throw error;
    return renderVerify({ ...again, failure: error.message, status: error.status }, services);
  }
  if (!('signUp' in read))
    return renderVerify({ ...again, errors: read, failure: 'The address was not confirmed.', status: 422 }, services);
  const user = await completeSignUp(read, services);
  if (!user) return refuse(request, services);
  await auditForm('signUpToPortal', request, user, 200, services);
  const link = html`<a class="button" href="${toSignInUrl(found.signUp.next)}">Sign in</a>`;
  if (user.Active) return renderNotice('Your account is ready', ['The address is confirmed.'], link);
  const lines = [
    'The address is confirmed. An administrator of this portal decides about the account, and you get a mail.',
    'Sign in here then: it leads back to where you began.',
  ];
  return renderNotice('Your account waits for approval', lines, link);
}

async function refuse(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  await auditForm('signUpToPortal', request, undefined, 410, services);
  return renderDeadLink(request, services);
}

export const verifyPages: readonly SitePage[] = [
  { method: 'GET', path: verifyPath, access: 'all', respond: show },
  { method: 'POST', path: verifyPath, access: 'all', hasLinkToken: true, respond: submit },
];
