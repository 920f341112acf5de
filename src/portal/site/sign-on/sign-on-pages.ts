import { runCountedAttempt } from '#people/single-sign-on/counted-attempt.ts';
import { authenticateInDirectory } from '#people/single-sign-on/ldap/directory-sign-on.ts';
import { toNameKey } from '#people/single-sign-on/ldap/names.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import { problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import { beginRedirect, completeRedirect, useFlow } from '#people/single-sign-on/redirect-flow.ts';
import { maxSamlEncodedCharacters } from '#people/single-sign-on/route-bounds.ts';
import { formatMetadata } from '#people/single-sign-on/saml/service-metadata.ts';
import { receiveResponse, toServiceProvider } from '#people/single-sign-on/saml/sign-on.ts';
import type { SignOnProfile } from '../../sso-profiles/identity-profile.ts';
import { redeemPortalNonce } from '../../sso-profiles/nonce.ts';
import { problem } from '../../sso-profiles/problems.ts';
import { toSignOnRedirectUrl } from '../../sso-profiles/rules.ts';
import { renderFormError } from '../form.ts';
import { html } from '../markup.ts';
import type { SiteDocument, SitePage, SiteReply, SiteRequest, SiteServices } from '../page.ts';
import { renderDirectoryForm } from './directory-form.ts';
import { type PortalSignOnAttempt, recordRefusal, renderSignOnFailure } from './sign-on-failure.ts';
import { landOn, landWithProfile } from './sign-on-landing.ts';
import { findSignOnProfile } from './sign-on-profiles.ts';

/** Single sign-on of the portal: redirects through identity providers, forms of directories, nonces of a broker. */

const loginPath = '/tib/auth/:profile/:provider';
const maxCredentialChars = { username: 254, password: 1024 };

type SignOnHandler = (request: SiteRequest, services: SiteServices, attempt: PortalSignOnAttempt) => Promise<SiteReply>;

/** Shows the page of failures where a sign-on is refused. */
const withFailurePage =
  (handle: SignOnHandler): SitePage['respond'] =>
  async (request, services) => {
    const { params, query, form } = request;
    const next = readNextPath(query('next') || form('next'));
    const attempt = { profileId: params.profile ?? 'nonce', account: '', next };
    try {
      return await handle(request, services, attempt);
    } catch (error) {
      return renderSignOnFailure(await recordRefusal(error, request, attempt, services), attempt);
    }
  };

const toRedirectUrl = ({ stored }: SignOnProfile, { settings }: SiteServices) => toSignOnRedirectUrl(stored, settings);

async function begin(request: SiteRequest, services: SiteServices, { next }: PortalSignOnAttempt): Promise<SiteReply> {
  const profile = await findSignOnProfile(request.params, services);
  if (profile.identity.ProviderName === 'ADProvider') return renderDirectoryPage(request, profile, next);
  const parts = { ...services, ...services.signOn };
  const redirectUrl = toRedirectUrl(profile, services);
  const { flow, url } = await beginRedirect(parts, profile.identity, { next, redirectUrl });
  return { redirect: url, cookies: [services.signOn.flowCookies.format(flow, request.isSecure)] };
}

const responseNames = ['state', 'code', 'error', 'iss', 'response'] as const;

/** Parameters of a response; an absent or repeated one is undefined. */
const readResponse = ({ query }: SiteRequest) =>
  Object.fromEntries(responseNames.map(name => [name, query(name) || undefined]));

const complete: SignOnHandler = (request, services, attempt) =>
  runCountedAttempt(services.portalSignInLimit, request.address, async () => {
    const profile = await findSignOnProfile(request.params, services);
    const flow = services.signOn.flowCookies.read(request.cookie, profile.identity.ID);
    if (!flow) throw signOnProblem.flow_missing();
    attempt.next = flow.next;
    const parts = { ...services, ...services.signOn };
    const redirectUrl = toRedirectUrl(profile, services);
    const user = await completeRedirect(parts, profile.identity, flow, readResponse(request), redirectUrl);
    attempt.account = user.subject;
    await useFlow(parts, profile.identity, flow);
    return landWithProfile(profile, user, flow.next, request, services);
  });

/** Assertion consumer service: the provider posts across sites, without cookies; a redirect continues with them. */
const receiveAssertion: SignOnHandler = async (request, services) => {
  const profile = await findSignOnProfile(request.params, services);
  if (profile.identity.ProviderName !== 'SAMLProvider') throw signOnProblem.profile_unknown();
  const encoded = request.form('SAMLResponse');
  if (encoded === '' || encoded.length > maxSamlEncodedCharacters) throw signOnProblem.response_missing();
  const redirectUrl = toRedirectUrl(profile, services);
  const parts = { ...services, ...services.signOn };
  const token = await runCountedAttempt(services.portalSignInLimit, request.address, () =>
    receiveResponse(parts, profile.identity, encoded, redirectUrl),
  );
  return { redirect: `${new URL(redirectUrl).pathname}?response=${token}` };
};

const sendMetadata: SignOnHandler = async (request, services) => {
  const profile = await findSignOnProfile(request.params, services);
  if (profile.identity.ProviderName !== 'SAMLProvider') throw signOnProblem.profile_unknown();
  const { logoutUrl: _none, ...provider } = toServiceProvider(profile.identity, toRedirectUrl(profile, services));
  return { file: formatMetadata(provider), type: 'application/samlmetadata+xml' };
};

function renderDirectoryPage(
  { visitor, path }: SiteRequest,
  { stored }: SignOnProfile,
  next: string,
  failure = '',
  status = 200,
): SiteDocument {
  const option = { name: stored.Name, path };
  return {
    status,
    title: stored.Name,
    section: 'sign-in',
    main: html`<div class="head"><h1>Sign in</h1></div>
${renderDirectoryForm(option, visitor.csrfToken, next, renderFormError(failure))}`,
  };
}

/** Name and password of a directory. */
const submitDirectory: SignOnHandler = async (request, services, attempt) => {
  const { form, address } = request;
  const profile = await findSignOnProfile(request.params, services);
  if (profile.identity.ProviderName !== 'ADProvider') throw signOnProblem.profile_unknown();
  const credentials = { username: form('username'), password: form('password') };
  const { username, password } = credentials;
  if (username.length > maxCredentialChars.username || password.length > maxCredentialChars.password)
    throw signOnProblem.credentials_missing();
  attempt.account = toNameKey(username);
  const parts = { ...services, signInLimit: services.portalSignInLimit };
  try {
    const user = await services.signOn.providerSlots.run(profile.identity.OrgID, () =>
      authenticateInDirectory(parts, profile.identity, credentials, address),
    );
    return await landWithProfile(profile, user, attempt.next, request, services);
  } catch (error) {
    const { message, status, reference } = await recordRefusal(error, request, attempt, services);
    const isRetried = status === 401 || status === 429 || status === 502;
    if (isRetried) return renderDirectoryPage(request, profile, attempt.next, message, status);
    return renderSignOnFailure({ message, status, reference }, attempt);
  }
};

/** Login cross-site request forgery: a page of another site must not sign a browser on by a frame or an image. */
const submitNonce: SignOnHandler = (request, services, attempt) => {
  if (request.fetchDestination !== '' && request.fetchDestination !== 'document') throw problem.embedded();
  return runCountedAttempt(services.portalSignInLimit, request.address, async () => {
    const { source, identity } = await redeemPortalNonce(request.query('nonce'), services);
    attempt.account = identity.email;
    return landOn(source, identity, attempt.next, request, services);
  });
};

export const signOnPages: readonly SitePage[] = [
  { method: 'GET', path: loginPath, access: 'all', hasVisitorForm: true, respond: withFailurePage(begin) },
  { method: 'POST', path: loginPath, access: 'all', hasVisitorForm: true, respond: withFailurePage(submitDirectory) },
  { method: 'GET', path: `${loginPath}/callback`, access: 'all', respond: withFailurePage(complete) },
  {
    method: 'POST',
    path: `${loginPath}/callback`,
    access: 'all',
    isPostedAcrossSites: true,
    respond: withFailurePage(receiveAssertion),
  },
  { method: 'GET', path: `${loginPath}/metadata`, access: 'all', respond: withFailurePage(sendMetadata) },
  { method: 'GET', path: '/sso', access: 'all', respond: withFailurePage(submitNonce) },
];
