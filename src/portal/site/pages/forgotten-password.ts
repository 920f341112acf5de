import { toAddressKey } from '#base/address-key.ts';
import { formatLinkExpiry } from '../../accounts/account-mails.ts';
import {
  findPortalReset,
  newPasswordPath,
  requestPasswordReset,
  setPortalPassword,
} from '../../accounts/password-reset.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import {
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  signInPath,
} from '../page.ts';
import { findByLink } from './link-attempts.ts';
import {
  describeLimit,
  findNewPasswordErrors,
  renderNewPassword,
  renderNotice,
  renderRepeatedPassword,
} from './register.ts';

export const forgottenPath = '/auth/password/new';
const updatePath = '/auth/password/update';
const maxEmailChars = 254;
const emailField = {
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'username',
  maxLength: maxEmailChars,
} as const;

function renderRequest({ visitor, form }: SiteRequest, failure = '', status = 200): SiteDocument {
  return {
    status,
    json: toFormErrors(new Map(), failure),
    title: 'Password reset',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${forgottenPath}"><h1>Password reset</h1>
${renderFormError(failure)}${renderCsrfField(visitor.csrfToken)}
${renderField({ ...emailField, name: 'email', value: form('email').slice(0, maxEmailChars) })}
<button>Send link</button><p class="dim"><a href="${signInPath}">Sign in</a></p></form>`,
  };
}

/** The same answer for every address, at the same time. */
async function submitRequest(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  if (!services.mailer.isConfigured)
    return renderNotice('No mail can be sent', [
      'This portal has no mail server: ask its administrator for a new password.',
    ]);
  const email = request.form('email').trim().toLowerCase();
  if (email === '' || email.length > maxEmailChars) return renderRequest(request, 'Send your e-mail address.', 422);
  try {
    requestPasswordReset(email, request.address, services);
  } catch (error) {
    const { failure, status } = describeLimit(error);
    return renderRequest(request, failure, status);
  }
  return renderNotice('Check your mail', [
    `If ${email} has an account, a mail with a link to set a new password is on its way.`,
    formatLinkExpiry(services.settings),
  ]);
}

const renderDeadReset = () =>
  renderNotice(
    'This link does not work',
    ['It is incomplete, has expired, or was used already. The password was not changed.'],
    html`<a href="${forgottenPath}">Request a new link</a>`,
    410,
  );

/** Password managers store the new password with the address. */
function renderUpdate(token: string, email: string, services: SiteServices, errors: FieldErrors): SiteDocument {
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: 'Set a new password',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${updatePath}"><h1>Set a new password</h1>
${errors.size > 0 ? renderFormError('The password was not changed.') : ''}
<input type="hidden" name="reset_password_token" value="${token}">
${renderField({ ...emailField, name: 'username', value: email, isReadOnly: true })}
${renderNewPassword('new_password', services, errors)}
${renderRepeatedPassword('confirm_password', 'New password again', errors)}
<button>Set password</button></form>`,
  };
}

async function showUpdate(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { query } = request;
  const found = await findByLink(request, services, () => findPortalReset(query('token'), services));
  return found ? renderUpdate(query('token'), found.user.Email, services, new Map()) : renderDeadReset();
}

async function submitUpdate(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, address } = request;
  const token = form('reset_password_token');
  const found = await findByLink(request, services, () => findPortalReset(token, services));
  if (!found) return renderDeadReset();
  const { user } = found;
  const password = form('new_password');
  const repeated = ['confirm_password', form('confirm_password')] as const;
  const errors = findNewPasswordErrors(['new_password', password], repeated, services);
  if (errors.size > 0) return renderUpdate(token, user.Email, services, errors);
  const flow = { client: toAddressKey(address), account: user.Email };
  const isSet = await setPortalPassword(found, password, flow, services);
  await auditForm('resetPortalPassword', request, user, isSet ? 200 : 410, services);
  if (!isSet) return renderDeadReset();
  const link = html`<a class="button" href="${signInPath}">Sign in</a>`;
  return renderNotice('The new password is set', ['All sessions of this account have ended.'], link);
}

export const forgottenPasswordPages: readonly SitePage[] = [
  { method: 'GET', path: forgottenPath, access: 'all', respond: async request => renderRequest(request) },
  { method: 'POST', path: forgottenPath, access: 'all', respond: submitRequest },
  { method: 'GET', path: newPasswordPath, access: 'all', respond: showUpdate },
  { method: 'POST', path: updatePath, access: 'all', hasLinkToken: true, respond: submitUpdate },
];
