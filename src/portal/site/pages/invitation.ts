import { toAddressKey } from '#base/address-key.ts';
import {
  type AcceptedNames,
  acceptInvitation,
  type FoundInvitation,
  findInvitation,
} from '../../invitations/acceptance.ts';
import type { StoredInvitation } from '../../invitations/schema.ts';
import { defaultOrganisationId } from '../../organisations/schema.ts';
import { hashCheckedPassword } from '../../users/creation.ts';
import { isPortalAdmin, type StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { insertUserSession } from '../../users/user-session.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { html, type Markup } from '../markup.ts';
import { maxNameChars, readNameFields } from '../name-fields.ts';
import {
  cataloguePath,
  registerPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  signInPath,
  teamPath,
} from '../page.ts';
import { readTermsField, renderTermsField } from '../terms/terms-field.ts';
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';
import { findByLink } from './link-attempts.ts';
import {
  findNewPasswordErrors,
  renderNewPassword,
  renderNotice,
  renderRepeatedPassword,
  showRegister,
} from './register.ts';

const acceptPath = '/auth/invitation';

const renderDeadInvitation = () =>
  renderNotice(
    'This invitation does not work',
    ['It is incomplete, has expired, was cancelled or was used already. Ask the sender for a new one.'],
    html`<a href="${signInPath}">Sign in</a>`,
    410,
  );

const renderTaken = () =>
  renderNotice(
    'This account cannot join',
    ['The address of the invitation has an account that is in another organisation, or that is not active.'],
    html`<a href="${signInPath}">Sign in</a>`,
    409,
  );

/** Where the account will be: its organisation with the chosen teams. */
async function describePlace(
  { OrganisationID, Teams, Role }: StoredInvitation,
  request: SiteRequest,
  { portal }: SiteServices,
): Promise<Markup> {
  if (isPortalAdmin(Role)) return html`<p>You become an administrator of ${request.siteName}.</p>`;
  if (OrganisationID === defaultOrganisationId) return html`<p>Choose a password for your new account.</p>`;
  const organisation = await portal.organisations.get(OrganisationID);
  const names = [...(await portal.teams.byIds(Teams)).values()].filter(it => !it.Default).map(({ Name }) => Name);
  const role = Role === 'consumer-admin' ? ' as its administrator' : '';
  return html`<p>You join <strong>${organisation?.Name ?? ''}</strong>${role}${
    names.length > 0 ? html`, in the team <strong>${names.join(', ')}</strong>` : ''
  }.</p>`;
}

/** Administrators of an organisation have the rights of an owner to apps of its members. */
const renderJoin = ({ Email }: StoredInvitation) =>
  html`<p>You join with your account ${Email}. Administrators of the organisation see its apps, can show, rotate and
revoke their keys, and keep the apps when you leave.</p><button>Join</button>`;

async function renderInvitation(
  found: Exclude<FoundInvitation, { kind: 'taken' }>,
  token: string,
  request: SiteRequest,
  services: SiteServices,
  errors: FieldErrors,
): Promise<SiteDocument> {
  const { invitation, kind } = found;
  const { form } = request;
  const name = (field: 'first' | 'last', label: string, value: string, autocomplete: string) =>
    renderField({
      ...{ name: field, label, autocomplete, maxLength: maxNameChars },
      value: errors.size > 0 ? form(field) : value,
      error: errors.get(field),
    });
  const fields = html`${renderField({
    name: 'username',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    value: invitation.Email,
    isReadOnly: true,
  })}${name('first', 'First name', invitation.First, 'given-name')}
${name('last', 'Last name', invitation.Last, 'family-name')}${renderNewPassword('password1', services, errors)}
${renderRepeatedPassword('password2', 'Password again', errors)}
${renderTermsField(await services.portal.terms.findCurrent(), errors)}<button>Create account</button>`;
  return {
    status: errors.size > 0 ? 422 : 200,
    json: toFormErrors(errors),
    title: 'Invitation',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${acceptPath}"><h1>Welcome to ${request.siteName}</h1>
${errors.size > 0 ? renderFormError('Some fields need another value.') : ''}
${await describePlace(invitation, request, services)}<input type="hidden" name="token" value="${token}">
${kind === 'join' ? renderJoin(invitation) : fields}</form>`,
  };
}

/** Opening the link uses no token: mail scanners follow links. */
async function showInvitation(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const token = request.query('token');
  const found = await findByLink(request, services, () => findInvitation(token, services));
  if (!found) return renderDeadInvitation();
  return found.kind === 'taken' ? renderTaken() : renderInvitation(found, token, request, services, new Map());
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, address } = request;
  const found = await findByLink(request, services, () => findInvitation(form('token'), services));
  if (!found) return renderDeadInvitation();
  if (found.kind === 'taken') return renderTaken();
  let names: AcceptedNames = { first: '', last: '', password: '' };
  const terms =
    found.kind === 'new' || found.kind === 'pending' ? await services.portal.terms.findCurrent() : undefined;
  if (found.kind !== 'join') {
    const errors = findNewPasswordErrors(['password1', form('password1')], ['password2', form('password2')], services);
    const given = readNameFields(form, errors);
    readTermsField(form, terms, errors);
    if (errors.size > 0) return renderInvitation(found, form('token'), request, services, errors);
    const flow = { client: toAddressKey(address), account: found.invitation.Email };
    names = { ...given, password: await hashCheckedPassword(form('password1'), services.settings, flow) };
  }
  const user = await acceptInvitation(found, names, services);
  await auditForm('acceptInvitation', request, user, user ? 303 : 410, services);
  if (!user) return renderDeadInvitation();
  if (terms)
    await services.portal.terms.accept({
      ...{ TermsID: terms.ID, UserID: user.ID, Email: user.Email, Address: address },
      AcceptedAt: services.clock.now(),
    });
  if (found.kind === 'join')
    return renderNotice(
      'You have joined',
      ['Your account is in the organisation now.'],
      html`<a class="button" href="${teamPath}">Show the team</a>`,
    );
  return openSession(user, request, services);
}

/** Without an organisation there is no team to show: the products are what the developer came for. */
const toFirstPage = ({ OrganisationID }: StoredPortalUser) =>
  OrganisationID === defaultOrganisationId ? cataloguePath : teamPath;

/** The link proved the address, and the password is new: the browser is signed in. A session of before ends. */
async function openSession(user: StoredPortalUser, request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { portal, settings } = services;
  const { address, userAgent, visitor, isSecure } = request;
  if (visitor.user) await portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
  const { token } = await insertUserSession(user.ID, { address, userAgent }, services);
  const cookie = formatSiteCookie(sessionCookieName, token, settings['sessions.max_age_seconds'], isSecure);
  return { redirect: isPortalAdmin(user.Role) ? '/admin' : toFirstPage(user), cookies: [cookie] };
}

export const invitationPages: readonly SitePage[] = [
  {
    method: 'GET',
    path: registerPath,
    access: 'all',
    respond: (request, services) =>
      request.query('token') === '' ? showRegister(request, services) : showInvitation(request, services),
  },
  { method: 'POST', path: acceptPath, access: 'all', hasLinkToken: true, respond: submit },
];
