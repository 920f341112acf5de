import { toAddressKey } from '#base/address-key.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { hashDummyPassword, verifyPassword } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
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
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';

/** Longer values are no address or password of an account. */
const maxFieldChars = 1024;

function renderSignIn({ visitor, query, form }: SiteRequest, error = '', status = 200): SiteDocument {
  const next = readNextPath(query('next') || form('next'));
  return {
    status,
    title: 'Sign in',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${signInPath}"><h1>Sign in</h1>
${error ? html`<p class="message errors" role="alert">${error}</p>` : ''}${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="next" value="${next}"><div class="field"><label for="login">E-mail address</label>
<input id="login" name="login" type="email" autocomplete="username" required maxlength="254"
 value="${form('login').slice(0, 254)}">
</div><div class="field"><label for="password">Password</label><input id="password" name="password" type="password"
 autocomplete="current-password" required maxlength="${maxFieldChars}"></div><button>Sign in</button></form>`,
  };
}

async function show(request: SiteRequest): Promise<SiteReply> {
  return request.visitor.user ? { redirect: readNextPath(request.query('next')) } : renderSignIn(request);
}

/**
 * The user of an address, and whether it is active and the password is its own. Every failure costs one hash and reads
 * the same.
 */
async function verifyUser(email: string, password: string, address: string, { portal }: SiteServices) {
  const user = await portal.users.findByEmail(email);
  const flow = { client: toAddressKey(address), account: email };
  const canMatch = user !== undefined && user.Password !== '' && user.Provider === 'password';
  if (!canMatch) await hashDummyPassword(password, flow);
  return { user, isVerified: canMatch && (await verifyPassword(password, user.Password, flow)) && user.Active };
}

/** Audit record of a sign-in or sign-out; the address of an unknown user may be a mistyped password. */
const auditSession = (
  action: 'signInToPortal' | 'signOutOfPortal',
  { path: url, address: ip }: SiteRequest,
  user: StoredPortalUser | undefined,
  status: number,
  { writeAudit }: SiteServices,
) => {
  const object = user ? toSessionOwner(user.ID) : '';
  const name = user?.Email ?? 'unknown user';
  const actor = { surface: 'portal' as const, id: object, name, orgId: '', permissions: {} };
  return writeAudit({ actor, orgId: '', action, method: 'POST', url, status, ip, object });
};

/** Session of a verified user; none where the account has changed since. A session of before ends (session fixation). */
function openSiteSession(verified: StoredPortalUser, request: SiteRequest, { portal, records, clock }: SiteServices) {
  const { address, userAgent, visitor } = request;
  return records.write(async () => {
    const user = await portal.users.lock(verified.ID);
    if (!user?.Active || user.ResetPassword || user.Provider !== verified.Provider) return undefined;
    if (!constantTimeEqual(user.Password, verified.Password)) return undefined;
    if (visitor.user) await portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
    const session = { orgId: '', userId: toSessionOwner(user.ID), address, userAgent };
    return (await portal.sessions.insert(session, clock.now())).token;
  });
}

const refusal = 'The address or the password is wrong, or the account is not active.';

const resetRefusal =
  'A new password has to be set before the next sign-in: ask an administrator of this portal for one.';

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, address, isSecure } = request;
  const email = form('login').trim().toLowerCase();
  if (email === '' || email.length > maxFieldChars || form('password').length > maxFieldChars)
    return renderSignIn(request, refusal, 401);
  let attempt: ReturnType<SiteServices['portalSignInLimit']['begin']>;
  try {
    attempt = services.portalSignInLimit.begin(email, address);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== sessionProblem.limited.code) throw error;
    return renderSignIn(request, error.message, error.status);
  }
  const { user, isVerified } = await verifyUser(email, form('password'), address, services);
  const needsReset = isVerified && user!.ResetPassword;
  const token = isVerified && !needsReset ? await openSiteSession(user!, request, services) : undefined;
  const status = needsReset ? 403 : token ? 303 : 401;
  await auditSession('signInToPortal', request, user, status, services);
  if (!token) return renderSignIn(request, needsReset ? resetRefusal : refusal, status);
  attempt.succeed();
  const cookie = formatSiteCookie(sessionCookieName, token, services.settings['sessions.max_age_seconds'], isSecure);
  return { redirect: readNextPath(form('next')), cookies: [cookie] };
}

async function signOut(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, isSecure } = request;
  if (visitor.user) {
    await services.portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
    await auditSession('signOutOfPortal', request, visitor.user, 303, services);
  }
  return { redirect: '/', cookies: [formatSiteCookie(sessionCookieName, '', 0, isSecure)] };
}

export const signInPages: readonly SitePage[] = [
  { method: 'GET', path: signInPath, access: 'all', respond: show },
  { method: 'POST', path: signInPath, access: 'all', respond: submit },
  { method: 'POST', path: '/auth/logout', access: 'all', respond: signOut },
];
