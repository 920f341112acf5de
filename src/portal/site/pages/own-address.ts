import { toAddressKey } from '#base/address-key.ts';
import { maxPasswordBytes, verifyPassword } from '#base/passwords.ts';
import { formatLinkExpiry } from '../../accounts/account-mails.ts';
import {
  completeAddressChange,
  confirmAddressPath,
  type FoundAddressChange,
  findAddressChange,
  requestAddressChange,
} from '../../accounts/address-change.ts';
import { isReauthenticated } from '../../second-factor/second-factor.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { renderCurrentCode, renderCurrentPassword } from '../identity-fields.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  profilePath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { findByLink } from './link-attempts.ts';
import { describeLimit, emailShape, renderNotice } from './register.ts';
import { maxCodeChars } from './sign-in-code.ts';

const ownAddressPath = `${profilePath}/address`;
const maxEmailChars = 254;

interface AddressState {
  readonly errors?: FieldErrors;
  readonly failure?: string;
  readonly status?: number;
}

async function renderAddressForm(request: SiteRequest, services: SiteServices, state: AddressState = {}) {
  const { visitor, form } = request;
  const { errors = new Map<string, string>(), failure = '' } = state;
  const hasCode = await services.portal.factors.hasTotp(toSessionOwner(visitor.user!.ID));
  return html`<form class="form broad" method="post" action="${ownAddressPath}"><h2>E-mail address</h2>
${renderFormError(failure)}${renderCsrfField(visitor.csrfToken)}
${renderField({
  name: 'email',
  label: 'New e-mail address',
  type: 'email',
  autocomplete: 'email',
  maxLength: maxEmailChars,
  help: 'It gets a mail with a link. Until the link is confirmed, the address stays as it is.',
  value: form('email').slice(0, maxEmailChars),
  error: errors.get('email'),
})}${renderCurrentPassword('address_password', errors)}${hasCode ? renderCurrentCode('address_otp') : ''}
<button>Change address</button></form>`;
}

/** Section of the profile. Users of single sign-on have the address of their provider. */
export async function renderOwnAddress(request: SiteRequest, services: SiteServices): Promise<Markup | ''> {
  const canChange = request.visitor.user!.Provider === 'password' && services.mailer.isConfigured;
  return canChange ? renderAddressForm(request, services) : '';
}

async function refuseForm(request: SiteRequest, services: SiteServices, state: AddressState): Promise<SiteDocument> {
  return {
    status: state.status ?? 422,
    json: toFormErrors(state.errors ?? new Map(), state.failure),
    title: 'E-mail address',
    section: 'profile',
    main: html`<div class="head"><h1>Profile</h1></div>${await renderAddressForm(request, services, state)}
<p><a href="${profilePath}">Back to the profile</a></p>`,
  };
}

/** The same answer for every address, taken or not. */
async function submitAddress(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form, visitor, address } = request;
  const user = visitor.user!;
  if (user.Provider !== 'password' || !services.mailer.isConfigured) return undefined;
  const email = emailShape.safeParse(form('email'));
  const refuseEmail = (fault: string) => refuseForm(request, services, { errors: new Map([['email', fault]]) });
  if (!email.success) return refuseEmail('Enter an e-mail address, such as ada@example.org');
  if (email.data === user.Email) return refuseEmail('This is already your address');
  const given = { password: form('password').slice(0, maxPasswordBytes), otp: form('otp').slice(0, maxCodeChars) };
  try {
    const isVerified = await isReauthenticated(user, { ...given, address }, services);
    await auditForm('requestOwnAddressChange', request, user, isVerified ? 200 : 422, services);
    if (!isVerified)
      return refuseForm(request, services, { failure: 'The password or the code is wrong. Nothing is changed.' });
    requestAddressChange(user, email.data, address, services);
  } catch (error) {
    return refuseForm(request, services, describeLimit(error));
  }
  return renderNotice('Check your mail', [
    `If ${email.data} can be the address of this account, a mail with a link to confirm it is on its way.`,
    formatLinkExpiry(services.settings),
  ]);
}

const renderDeadChange = () =>
  renderNotice(
    'This link does not work',
    ['It is incomplete, has expired, was used already, or the account has changed. The address was not changed.'],
    html`<a href="${profilePath}">Profile</a>`,
    410,
  );

function renderConfirmation(token: string, found: FoundAddressChange, state: AddressState = {}): SiteDocument {
  const { errors = new Map(), failure = '', status = 200 } = state;
  return {
    status,
    json: toFormErrors(errors, failure),
    title: 'Confirm your address',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${confirmAddressPath}"><h1>Confirm your address</h1>
${renderFormError(failure)}<input type="hidden" name="token" value="${token}">
<p>An account of this portal gets the address <strong>${found.email}</strong>. If it is not yours, close this page.</p>
${renderCurrentPassword('password', errors)}<button>Confirm address</button></form>`,
  };
}

/** Opening the link uses no token: mail scanners follow links. */
async function showConfirmation(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const token = request.query('token');
  const found = await findByLink(request, services, () => findAddressChange(token, services));
  return found ? renderConfirmation(token, found) : renderDeadChange();
}

/**
 * The password proves that the owner of the new mailbox is the user: a stranger who confirms a link by mistake would
 * give the account of another person an address of their own.
 */
async function submitConfirmation(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, visitor, address } = request;
  const token = form('token');
  const found = await findByLink(request, services, () => findAddressChange(token, services));
  if (!found) return renderDeadChange();
  const { user } = found;
  let attempt: ReturnType<SiteServices['portalSignInLimit']['begin']>;
  try {
    attempt = services.portalSignInLimit.begin(user.Email, address);
  } catch (error) {
    return renderConfirmation(token, found, describeLimit(error));
  }
  const flow = { client: toAddressKey(address), account: user.Email };
  if (!(await verifyPassword(form('password').slice(0, maxPasswordBytes), user.Password, flow)))
    return renderConfirmation(token, found, { errors: new Map([['password', 'The password is wrong']]), status: 422 });
  attempt.succeed();
  const keptSessionId = visitor.user?.ID === user.ID ? visitor.sessionId : '';
  const isChanged = await completeAddressChange(found, keptSessionId, address, services);
  await auditForm('changeOwnAddress', request, user, isChanged ? 200 : 410, services);
  if (!isChanged) return renderDeadChange();
  return renderNotice(
    'The address is changed',
    ['Sign in with it from now on. Your other sessions have ended.'],
    html`<a class="button" href="${profilePath}">Profile</a>`,
  );
}

export const ownAddressPages: readonly SitePage[] = [
  { method: 'POST', path: ownAddressPath, access: 'user', respond: submitAddress },
  { method: 'GET', path: confirmAddressPath, access: 'all', respond: showConfirmation },
  { method: 'POST', path: confirmAddressPath, access: 'all', hasLinkToken: true, respond: submitConfirmation },
];
