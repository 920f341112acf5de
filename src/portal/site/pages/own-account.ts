import { maxPasswordBytes } from '#base/passwords.ts';
import { mailActivation } from '../../mails/account-mails.ts';
import { isReauthenticated } from '../../second-factor/second-factor.ts';
import { refuseSoleOrganisationAdmin, removePortalUser } from '../../users/removal.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { anonymousVisitor } from '../../visibility/rules.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderField, renderFormError } from '../form.ts';
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
  toSignInUrl,
} from '../page.ts';
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';
import { listOwnSessions } from './own-sessions.ts';
import { describeLimit, renderNotice } from './register.ts';
import { maxCodeChars } from './sign-in-code.ts';

const deletePath = `${profilePath}/delete`;
/** Apps that the page names. */
const maxNamedApps = 50;
/** Users of single sign-on have no password to send: their sign-on is at most this old. */
const maxSignOnAgeMs = 600_000;
const signOnTooOld = 'Your sign-on is older than ten minutes: sign out, sign on again, and repeat.';
const wrongPassword = 'The password or the code is wrong. The account is not deleted.';

/** Section of the profile. */
export const renderDeleteLink = (): Markup =>
  html`<section class="form broad"><h2>Delete account</h2>
<p>Deletes the account and its apps; their keys stop working at once.</p>
<p><a class="button danger" href="${deletePath}">Delete account</a></p></section>`;

interface DeleteState {
  readonly failure?: string;
  readonly status?: number;
}

async function renderDelete(request: SiteRequest, services: SiteServices, state: DeleteState = {}) {
  const { visitor } = request;
  const { portal } = services;
  const user = visitor.user!;
  const apps = await portal.apps.ofUser(user.ID);
  const isLocal = user.Provider === 'password';
  const hasCode = isLocal && (await portal.factors.hasTotp(toSessionOwner(user.ID)));
  const { failure = '', status = failure ? 422 : 200 } = state;
  return {
    status,
    json: toFormErrors(new Map(), failure) ?? { Apps: apps.map(({ ID, Name }) => ({ ID, Name })) },
    title: 'Delete account',
    section: 'profile',
    main: html`<form class="form broad" method="post" action="${deletePath}"><h1>Delete account</h1>
${renderFormError(failure)}<p>The account cannot be restored. ${
      apps.length === 0
        ? 'It has no apps.'
        : html`These apps go with it, and their keys are refused at once. To keep one, let an administrator of your
organisation remove you: your apps go to another member then.</p>
<ul>${apps.slice(0, maxNamedApps).map(({ Name }) => html`<li>${Name}</li>`)}
${apps.length > maxNamedApps ? html`<li>and ${apps.length - maxNamedApps} more</li>` : ''}</ul><p>`
    }</p>${renderCsrfField(visitor.csrfToken)}
${renderField({ name: 'confirmation', label: `Type “${user.Email}” to confirm`, autocomplete: 'off' })}
${isLocal ? renderCurrentPassword() : ''}${hasCode ? renderCurrentCode() : ''}
<button class="danger">Delete account</button> <a class="button quiet" href="${profilePath}">Cancel</a></form>`,
  } satisfies SiteDocument;
}

/** Why the visitor has not proved to be the user; undefined where that is proved. */
async function findIdentityFault(request: SiteRequest, services: SiteServices): Promise<DeleteState | undefined> {
  const { visitor, form, address } = request;
  const user = visitor.user!;
  if (user.Provider !== 'password') {
    const session = (await listOwnSessions(request, services)).find(({ id }) => id === visitor.sessionId);
    const isFresh = session && services.clock.now() - session.createdAtMs <= maxSignOnAgeMs;
    return isFresh ? undefined : { failure: signOnTooOld };
  }
  const given = { password: form('password').slice(0, maxPasswordBytes), otp: form('otp').slice(0, maxCodeChars) };
  try {
    return (await isReauthenticated(user, { ...given, address }, services)) ? undefined : { failure: wrongPassword };
  } catch (error) {
    return describeLimit(error);
  }
}

/** Failure of a removal, with what is left: apps are deleted one after the other. */
async function describeRemains(error: unknown, userId: number, before: number, services: SiteServices) {
  const text = describeFailure(error, services);
  const left = await services.portal.apps.ofUser(userId);
  const deleted = before - left.length;
  if (deleted <= 0) return `The account is not deleted: ${text}`;
  const names = left.slice(0, maxNamedApps).map(({ Name }) => `“${Name}”`);
  const of = deleted === 1 ? '1 app is' : `${deleted} apps are`;
  return `The account is not deleted: ${text}. ${of} deleted; ${names.join(', ')} and the account are left.`;
}

async function submitDelete(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, form, isSecure } = request;
  const user = visitor.user!;
  if (form('confirmation').trim().toLowerCase() !== user.Email)
    return renderDelete(request, services, { failure: 'The typed address is not the address of this account.' });
  const fault = await findIdentityFault(request, services);
  const before = await services.portal.apps.countOfUser(user.ID);
  const failure: DeleteState | undefined = fault ?? (await remove(request, before, services));
  await auditForm('deleteOwnAccount', request, user, failure ? (failure.status ?? 422) : 200, services);
  if (failure) return renderDelete(request, services, failure);
  return {
    ...renderNotice('Your account is deleted', ['Its apps and keys are deleted too.'], signInLink()),
    cookies: [formatSiteCookie(sessionCookieName, '', 0, isSecure)],
    visitor: { ...visitor, user: undefined, rights: anonymousVisitor, sessionId: '' },
  };
}

const signInLink = () => html`<a class="button" href="${toSignInUrl('/')}">Sign in</a>`;

async function remove({ visitor }: SiteRequest, before: number, services: SiteServices) {
  const user = visitor.user!;
  try {
    await removePortalUser(user, services, {
      refuse: it => refuseSoleOrganisationAdmin(it, services),
      onRemoved: it => mailActivation({ ...it, ID: 0, Active: false }, services, 'You deleted the account.'),
    });
    return undefined;
  } catch (error) {
    return { failure: await describeRemains(error, user.ID, before, services) };
  }
}

export const ownAccountPages: readonly SitePage[] = [
  { method: 'GET', path: deletePath, access: 'user', respond: (request, services) => renderDelete(request, services) },
  { method: 'POST', path: deletePath, access: 'user', respond: submitDelete },
];
