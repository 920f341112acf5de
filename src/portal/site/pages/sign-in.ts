import { toAddressKey } from '#base/address-key.ts';
import { hashDummyPassword, verifyPassword } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import { leadsToSignIn } from '#base/settings-rows.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import { canSignUp } from '../../accounts/account-services.ts';
import { createResetPath } from '../../accounts/password-reset.ts';
import { readPortalUrl } from '../../portal-url.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import {
  registerPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  signInPath,
  toRegisterUrl,
} from '../page.ts';
import { renderDirectoryForm } from '../sign-on/directory-form.ts';
import { listSignOnOptions, type SignOnOption } from '../sign-on/sign-on-profiles.ts';
import { signOutOfSite } from '../sign-on/sign-out.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { forgottenPath } from './forgotten-password.ts';
import { renderCodeStep } from './sign-in-code.ts';

/** Longer values are no address or password of an account. */
const maxFieldChars = 1024;

async function renderSignIn(
  { visitor, query, form }: SiteRequest,
  services: SiteServices,
  error = '',
  status = 200,
): Promise<SiteDocument> {
  const next = readNextPath(query('next') || form('next'));
  const options = await listSignOnOptions(next, services);
  return {
    status,
    json: toFormErrors(new Map(), error),
    title: 'Sign in',
    section: 'sign-in',
    main: html`<form class="form" method="post" action="${signInPath}"><h1>Sign in</h1>
${error ? html`<p class="message errors" role="alert">${error}</p>` : ''}${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="next" value="${next}"><div class="field"><label for="login">E-mail address</label>
<input id="login" name="login" type="email" autocomplete="username" required maxlength="254"
 value="${form('login').slice(0, 254)}">
</div><div class="field"><label for="password">Password</label><input id="password" name="password" type="password"
 autocomplete="current-password" required maxlength="${maxFieldChars}"></div><button>Sign in</button>
<p class="dim"><a href="${forgottenPath}">Forgotten password</a>
${canSignUp(services) ? html` · <a href="${next === '/' ? registerPath : toRegisterUrl(next)}">Sign up</a>` : ''}
</p>${
      canSignUp(services)
        ? ''
        : html`<p class="dim small">Accounts are by invitation: ask the owner of this portal.</p>`
    }
</form>${renderSignOnOptions(options, visitor.csrfToken, next)}`,
  };
}

/** Buttons of identity providers, and forms of directories. */
function renderSignOnOptions(options: readonly SignOnOption[], csrfToken: string, next: string): Markup | '' {
  if (options.length === 0) return '';
  const query = next === '/' ? '' : `?next=${encodeURIComponent(next)}`;
  const [directories, redirects] = [true, false].map(kind => options.filter(it => it.isDirectory === kind)) as [
    SignOnOption[],
    SignOnOption[],
  ];
  return html`<section aria-label="Single sign-on">${
    redirects.length > 0
      ? html`<div class="form">${redirects.map(
          ({ name, path }) => html`<a class="button secondary" href="${path}${query}">Sign in with ${name}</a>`,
        )}</div>`
      : ''
  }${directories.map(it => renderDirectoryForm(it, csrfToken, next))}</section>`;
}

/** Redirect loop: true for an address of this site that redirects back to the sign-in page. */
function isLoop(custom: string, { settings }: SiteServices): boolean {
  const [target, own] = [URL.parse(custom), URL.parse(readPortalUrl(settings))];
  return target?.host === own?.host && leadsToSignIn(`${target?.pathname}${target?.search}`);
}

/** Page of another system, or of one profile, where users sign in instead; `local=1` shows the form all the same. */
function findCustomSignIn({ query }: SiteRequest, services: SiteServices): string | undefined {
  const custom = services.settings['portal.sso_custom_login_url'];
  if (custom === '' || query('local') === '1' || isLoop(custom, services)) return undefined;
  const next = readNextPath(query('next'));
  if (next === '/' || !custom.startsWith('/')) return custom;
  return `${custom}${custom.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`;
}

async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  if (request.visitor.user) return { redirect: readNextPath(request.query('next')) };
  const custom = findCustomSignIn(request, services);
  return custom === undefined ? renderSignIn(request, services) : { redirect: custom };
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

const refusal = 'The address or the password is wrong, or the account is not active.';

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form, address } = request;
  const email = form('login').trim().toLowerCase();
  if (email === '' || email.length > maxFieldChars || form('password').length > maxFieldChars)
    return renderSignIn(request, services, refusal, 401);
  let attempt: ReturnType<SiteServices['portalSignInLimit']['begin']>;
  try {
    attempt = services.portalSignInLimit.begin(email, address);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== sessionProblem.limited.code) throw error;
    return renderSignIn(request, services, error.message, error.status);
  }
  const { user, isVerified } = await verifyUser(email, form('password'), address, services);
  const reply = isVerified ? await continueSignIn(user!, request, services) : undefined;
  if (!reply) {
    await auditForm('signInToPortal', request, user, 401, services);
    return renderSignIn(request, services, refusal, 401);
  }
  attempt.succeed();
  return reply;
}

/** Next step after the right password: a new one, the code of the second factor, or the session. */
async function continueSignIn(user: StoredPortalUser, request: SiteRequest, services: SiteServices) {
  if (user.ResetPassword) {
    await auditForm('signInToPortal', request, user, 303, services);
    return { redirect: await createResetPath(user, services) };
  }
  if (await services.portal.factors.hasTotp(toSessionOwner(user.ID))) return renderCodeStep(user, request, services);
  return completeSignIn(user, request, services);
}

export const signInPages: readonly SitePage[] = [
  { method: 'GET', path: signInPath, access: 'all', respond: show },
  { method: 'POST', path: signInPath, access: 'all', respond: submit },
  { method: 'POST', path: '/auth/logout', access: 'all', respond: signOutOfSite },
];
