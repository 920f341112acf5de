import { maxPasswordBytes } from '#base/passwords.ts';
import { drawQrPath } from '#base/qr/qr-path.ts';
import { formatTotpUri } from '#base/totp.ts';
import {
  confirmPortalTotp,
  createPortalTotp,
  findPendingTotp,
  isReauthenticated,
  removePortalTotp,
  renewPortalCodes,
} from '../../second-factor/second-factor.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { auditForm } from '../audit.ts';
import { renderFormError } from '../form.ts';
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
import { acceptTermsPath } from '../terms/terms-page.ts';
import { describeLimit } from './register.ts';
import { maxCodeChars } from './sign-in-code.ts';

const factorPath = `${profilePath}/second-factor`;
const confirmPath = `${factorPath}/confirm`;
const codesPath = `${factorPath}/recovery-codes`;
const removePath = `${factorPath}/remove`;

/** Pages that stay open to a user without a required second factor: those that add it, and the terms. */
export const opensWithoutFactor = (path: string): boolean =>
  path === profilePath || path === factorPath || path === confirmPath || path === acceptTermsPath;

/** Section of the profile: the authenticator app of a user with a password. */
export async function renderSecondFactor(
  user: StoredPortalUser,
  csrfToken: string,
  { portal }: SiteServices,
): Promise<Markup> {
  const owner = toSessionOwner(user.ID);
  const csrf = renderCsrfField(csrfToken);
  if (!(await portal.factors.hasTotp(owner)))
    return html`<form class="form broad" method="post" action="${factorPath}"><h2>Second factor</h2>${csrf}
<p>Codes of an authenticator app protect the account where the password becomes known to others.</p>
${renderCurrentPassword('totp_password')}<button>Add authenticator app</button></form>`;
  const left = await portal.factors.countRecoveryCodes(owner);
  return html`<section class="form broad"><h2>Second factor</h2>
<p>Signing in needs a code of your authenticator app. Recovery codes left: ${left}.</p>
<form method="post" action="${codesPath}">${csrf}<h3>Replace recovery codes</h3>
${renderCurrentPassword('codes_password')}${renderCurrentCode('codes_otp')}
<button class="secondary">Replace recovery codes</button></form>
<form method="post" action="${removePath}">${csrf}<h3>Remove authenticator app</h3>${renderCurrentPassword('remove_password')}
${renderCurrentCode('remove_otp')}<button class="danger">Remove authenticator app</button></form></section>`;
}

interface ReplyParts {
  readonly status?: number;
  /** For scripts. */
  readonly json?: unknown;
}

const toDocument = (title: string, content: Markup, { status = 200, json }: ReplyParts = {}): SiteDocument => ({
  status,
  json,
  title,
  section: 'profile',
  main: html`<div class="head"><h1>${title}</h1></div>${content}
<p><a href="${profilePath}">Back to the profile</a></p>`,
});

/** QR code of an address, dark on light in both themes: readers expect it. Empty for an address that is too long. */
function renderQrCode(address: string): Markup | '' {
  const drawn = drawQrPath(address);
  return drawn
    ? html`<svg class="qr" role="img" aria-label="QR code of the key" viewBox="0 0 ${drawn.size} ${drawn.size}"
 shape-rendering="crispEdges" width="192" height="192"><rect width="${drawn.size}" height="${drawn.size}" fill="#fff"/>
<path d="${drawn.path}" fill="#000"/></svg>`
    : '';
}

function renderSecret({ visitor, siteName }: SiteRequest, secret: string, failure = '', status = 200): SiteDocument {
  const address = formatTotpUri(siteName, visitor.user!.Email, secret);
  return toDocument(
    'Add authenticator app',
    html`${renderFormError(failure)}<p>Scan this code with your authenticator app, add the key below it, or
<a href="${address}">open it in an app of this device</a>.</p>${renderQrCode(address)}
<p><code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
<form class="form broad" method="post" action="${confirmPath}">${renderCsrfField(visitor.csrfToken)}
${renderCurrentCode('otp')}<button>Confirm code</button></form>`,
    { status, json: toFormErrors(new Map(), failure) ?? { Secret: secret, Address: address } },
  );
}

const renderCodes = (codes: readonly string[]) =>
  toDocument(
    'Recovery codes',
    html`<p>Each replaces the code of the app once. They are shown now only: keep them in a safe place.</p>
<ul>${codes.map(code => html`<li><code>${code}</code></li>`)}</ul>`,
    { json: { RecoveryCodes: codes } },
  );

const renderRefusal = (failure: string, status: number) =>
  toDocument('Second factor', html`${renderFormError(failure)}`, { status, json: toFormErrors(new Map(), failure) });
const wrong = 'The password or the code is wrong. Nothing was changed.';

/** Runs a change of the second factor behind password and code, with its audit record. */
const withCredentials =
  (
    action: string,
    change: (user: StoredPortalUser, request: SiteRequest, services: SiteServices) => Promise<SiteReply | undefined>,
  ): SitePage['respond'] =>
  async (request, services) => {
    const user = request.visitor.user!;
    if (user.Provider !== 'password') return undefined;
    const { form, address } = request;
    const given = {
      password: form('password').slice(0, maxPasswordBytes),
      otp: form('otp').slice(0, maxCodeChars),
      address,
    };
    let reply: SiteReply | undefined;
    try {
      const isAllowed = await isReauthenticated(user, given, services);
      reply = isAllowed ? await change(user, request, services) : undefined;
    } catch (error) {
      const { failure, status } = describeLimit(error);
      return renderRefusal(failure, status);
    }
    await auditForm(action, request, user, reply ? 200 : 422, services);
    return reply ?? renderRefusal(wrong, 422);
  };

/** Confirms the first code of a new app, which proves that the app has the key. */
async function confirm(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { visitor, address, form } = request;
  const user = visitor.user!;
  const pending = user.Provider === 'password' ? await findPendingTotp(user, services) : undefined;
  if (pending === undefined) return undefined;
  let attempt: ReturnType<SiteServices['portalSignInLimit']['begin']>;
  try {
    attempt = services.portalSignInLimit.begin(user.Email, address);
  } catch (error) {
    const { failure, status } = describeLimit(error);
    return renderSecret(request, pending, failure, status);
  }
  const codes = await confirmPortalTotp(user, form('otp').slice(0, maxCodeChars), { ...visitor, address }, services);
  await auditForm('addOwnSecondFactor', request, user, codes ? 200 : 422, services);
  if (!codes) return renderSecret(request, pending, 'This is not the code of the app.', 422);
  attempt.succeed();
  return renderCodes(codes);
}

export const secondFactorPages: readonly SitePage[] = [
  {
    method: 'POST',
    path: factorPath,
    access: 'user',
    respond: withCredentials('createOwnSecondFactor', async (user, request, services) =>
      renderSecret(request, await createPortalTotp(user, services)),
    ),
  },
  { method: 'POST', path: confirmPath, access: 'user', respond: confirm },
  {
    method: 'POST',
    path: codesPath,
    access: 'user',
    respond: withCredentials('renewOwnRecoveryCodes', async (user, { address }, services) => {
      const codes = await renewPortalCodes(user, address, services);
      return codes && renderCodes(codes);
    }),
  },
  {
    method: 'POST',
    path: removePath,
    access: 'user',
    respond: withCredentials('removeOwnSecondFactor', async (user, { address }, services) =>
      (await removePortalTotp(user, 'The authenticator app was removed', services, address))
        ? toDocument('Second factor', html`<p class="message" role="status">The authenticator app is removed.</p>`)
        : undefined,
    ),
  },
];
