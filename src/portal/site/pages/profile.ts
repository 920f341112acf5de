import { toAddressKey } from '#base/address-key.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { maxPasswordBytes, verifyPassword } from '#base/passwords.ts';
import { mailSecurityChange } from '../../mails/account-mails.ts';
import { hashCheckedPassword } from '../../users/creation.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import { maxNameChars, readNameFields } from '../name-fields.ts';
import {
  jsonApiPath,
  profilePath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { formatDay } from '../words.ts';
import { renderDeleteLink } from './own-account.ts';
import { renderOwnAddress } from './own-address.ts';
import { renderOwnAttributes } from './own-attributes.ts';
import { renderOwnSessions } from './own-sessions.ts';
import { describeLimit, findNewPasswordErrors, renderNewPassword, renderRepeatedPassword } from './register.ts';
import { renderSecondFactor } from './second-factor.ts';

const factorRequired = 'This portal requires a second factor: add an authenticator app first.';
const passwordPath = `${profilePath}/password`;

interface ProfileState {
  readonly errors?: FieldErrors;
  readonly failure?: string;
  readonly message?: string;
  readonly status?: number;
}

async function renderProfile(request: SiteRequest, services: SiteServices, state: ProfileState = {}) {
  const user = request.visitor.user!;
  const { errors = new Map<string, string>(), failure = '', message, status = errors.size > 0 ? 422 : 200 } = state;
  const organisation =
    user.OrganisationID === 0 ? undefined : await services.portal.organisations.get(user.OrganisationID);
  const csrf = renderCsrfField(request.visitor.csrfToken);
  const name = (field: 'first' | 'last', label: string, stored: string, autocomplete: string) =>
    renderField({
      name: field,
      label,
      autocomplete,
      value: errors.has(field) ? request.form(field) : stored,
      error: errors.get(field),
      maxLength: maxNameChars,
    });
  return {
    status,
    json: toFormErrors(errors, failure) ?? (message && { Message: message }),
    title: 'Profile',
    section: 'profile',
    main: html`<div class="head"><h1>Profile</h1></div>${renderFormError(failure)}
${message ? html`<p class="message" role="status">${message}</p>` : ''}
<ul class="facts"><li>${user.Email}</li><li>${organisation?.Name ?? 'Administrator of this portal'}</li>
<li>Member since ${formatDay(user.CreatedAt)}</li></ul>
<form class="form broad" method="post" action="${profilePath}"><h2>Name</h2>${csrf}
${name('first', 'First name', user.First, 'given-name')}${name('last', 'Last name', user.Last, 'family-name')}
<button>Save name</button></form>
${await renderOwnAddress(request, services)}
${await renderOwnAttributes(request, services)}
${
  user.Provider === 'password'
    ? html`${renderPasswordForm(csrf, services, errors)}
${await renderSecondFactor(user, request.visitor.csrfToken, services)}`
    : ''
}
${await renderOwnSessions(request, services)}
<section class="form broad"><h2>Your data</h2>
<p>Account, apps, access and sessions as JSON, without keys and secrets.</p>
<p><a class="button" href="${jsonApiPath}/export" download="portal-data.json">Export my data</a></p></section>
${renderDeleteLink()}`,
  } satisfies SiteDocument;
}

const renderPasswordForm = (csrf: ReturnType<typeof renderCsrfField>, services: SiteServices, errors: FieldErrors) =>
  html`<form class="form broad" method="post" action="${passwordPath}"><h2>Password</h2>${csrf}
${renderField({
  name: 'current_password',
  label: 'Current password',
  type: 'password',
  autocomplete: 'current-password',
  maxLength: maxPasswordBytes,
  error: errors.get('current_password'),
})}${renderNewPassword('new_password', services, errors)}
${renderRepeatedPassword('confirm_password', 'New password again', errors)}<button>Change password</button></form>`;

async function submitName(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, visitor } = request;
  const errors = new Map<string, string>();
  const { first: First, last: Last } = readNameFields(form, errors);
  if (errors.size > 0) return renderProfile(request, services, { errors });
  await services.portal.users.change(visitor.user!.ID, it => ({ ...it, First, Last, UpdatedAt: services.clock.now() }));
  await auditForm('updateOwnProfile', request, visitor.user, 303, services);
  return { redirect: profilePath };
}

/** Changes the password of a user who knows the current one, and ends the other sessions. */
async function submitPassword(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form, visitor, address } = request;
  const user = visitor.user!;
  if (user.Provider !== 'password') return undefined;
  const password = form('new_password');
  const repeated = ['confirm_password', form('confirm_password')] as const;
  const errors = findNewPasswordErrors(['new_password', password], repeated, services);
  if (errors.size > 0) return renderProfile(request, services, { errors });
  let attempt: ReturnType<SiteServices['portalSignInLimit']['begin']>;
  try {
    attempt = services.portalSignInLimit.begin(user.Email, address);
  } catch (error) {
    return renderProfile(request, services, describeLimit(error));
  }
  const flow = { client: toAddressKey(address), account: user.Email };
  const isChanged =
    (await verifyPassword(form('current_password'), user.Password, flow)) &&
    (await replacePassword(request, await hashCheckedPassword(password, services.settings, flow), services));
  await auditForm('changeOwnPassword', request, user, isChanged ? 200 : 422, services);
  if (!isChanged)
    return renderProfile(request, services, {
      errors: new Map([['current_password', 'This is not your current password']]),
    });
  attempt.succeed();
  return renderProfile(request, services, { message: 'The password is changed. Your other sessions have ended.' });
}

/** False where the account has changed since its password was verified. */
function replacePassword({ visitor, address }: SiteRequest, hash: string, services: SiteServices) {
  const { portal, records, clock } = services;
  const verified = visitor.user!;
  return records.write(async () => {
    const user = await portal.users.lock(verified.ID);
    if (!user?.Active || !constantTimeEqual(user.Password, verified.Password)) return false;
    await portal.users.change(user.ID, it => ({ ...it, Password: hash, UpdatedAt: clock.now() }));
    await portal.sessions.removeOthers(toSessionOwner(user.ID), visitor.sessionId);
    await mailSecurityChange(user, 'The password was changed', services, address);
    return true;
  });
}

export const profilePages: readonly SitePage[] = [
  {
    method: 'GET',
    path: profilePath,
    access: 'user',
    respond: (request, services) =>
      renderProfile(request, services, request.query('required') ? { failure: factorRequired } : {}),
  },
  { method: 'POST', path: profilePath, access: 'user', respond: submitName },
  { method: 'POST', path: passwordPath, access: 'user', respond: submitPassword },
];
