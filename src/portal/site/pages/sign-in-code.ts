import { Problem } from '#base/problems.ts';
import { problem as sessionProblem } from '#people/sessions/problems.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import { digestAccount, isOfAccount } from '../../accounts/password-reset.ts';
import { verifyPortalFactor } from '../../second-factor/second-factor.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { fromSessionOwner, toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { renderField, renderFormError } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import {
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toSignInUrl,
} from '../page.ts';
import { completeSignIn } from './complete-sign-in.ts';

const codePath = '/auth/password/code';
/** Time in which the code follows the password. */
const codeTtlMs = 300_000;
/** A recovery code with blanks has fewer. */
export const maxCodeChars = 64;

const renderCode = (token: string, { visitor, form }: SiteRequest, failure = '', status = 200): SiteDocument => ({
  status,
  json: toFormErrors(new Map(), failure) ?? { Step: 'code', Token: token },
  title: 'Sign in',
  section: 'sign-in',
  main: html`<form class="form" method="post" action="${codePath}"><h1>Second factor</h1>${renderFormError(failure)}
${renderCsrfField(visitor.csrfToken)}<input type="hidden" name="token" value="${token}">
<input type="hidden" name="next" value="${readNextPath(form('next'))}">${renderField({
    name: 'otp',
    label: 'Code',
    autocomplete: 'one-time-code',
    maxLength: maxCodeChars,
    help: 'The six digits of your authenticator app, or one of your recovery codes.',
  })}<button>Sign in</button></form>`,
});

/** The form of the second factor, after the right password: a token stands for it, which ends with the account as it is. */
export async function renderCodeStep(user: StoredPortalUser, request: SiteRequest, services: SiteServices) {
  const { signInTokens, clock } = services;
  const body = digestAccount(user, services);
  const owner = { purpose: 'portal-factor' as const, orgId: '', ownerId: toSessionOwner(user.ID) };
  const token = await signInTokens.insert({ ...owner, expiresAtMs: clock.now() + codeTtlMs, body }, clock.now());
  return renderCode(token, request);
}

async function findVerified(text: string, services: SiteServices) {
  const { portal, signInTokens, clock } = services;
  const token = text === '' ? undefined : await signInTokens.find('portal-factor', text, clock.now());
  const user = await portal.users.get(fromSessionOwner(token?.ownerId ?? ''));
  return token && user?.Active && isOfAccount(token, user, services) ? { token, user } : undefined;
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { form } = request;
  const found = await findVerified(form('token'), services);
  const again = { redirect: toSignInUrl(readNextPath(form('next'))) };
  if (!found) return again;
  let result: Awaited<ReturnType<typeof verifyPortalFactor>>;
  try {
    result = await verifyPortalFactor(found.user, form('otp').slice(0, maxCodeChars), services);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== sessionProblem.limited.code) throw error;
    return renderCode(form('token'), request, error.message, error.status);
  }
  if (result !== 'accepted') {
    await auditForm('signInToPortal', request, found.user, 401, services);
    return renderCode(form('token'), request, 'The code is wrong, or was used already.', 401);
  }
  if (!(await services.signInTokens.use(found.token))) return again;
  return (await completeSignIn(found.user, request, services)) ?? again;
}

export const signInCodePages: readonly SitePage[] = [
  { method: 'POST', path: codePath, access: 'all', respond: submit },
];
