import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';
import { type CookieJar, type OidcProvider, oidcClient, visit } from './oidc.ts';
import { requestPortal } from './portal.ts';

/** Single sign-on to the portal, as browsers make it. */

export const developerProfile = 'GenerateOrLoginDeveloperProfile';
export const administratorProfile = 'GenerateOrLoginUserProfile';

/** A profile of an OpenID provider for developers. */
export function createOidcProfileBody(portalUrl: string, provider: OidcProvider) {
  const client = { Name: 'openid-connect', Key: oidcClient.id, Secret: oidcClient.secret };
  const ID = `oidc-${createPublicId()}`;
  return {
    ID,
    Name: `Company ${ID}`,
    ActionType: developerProfile as typeof developerProfile,
    ProviderName: 'SocialProvider' as const,
    ProviderConfig: { CallbackBaseURL: portalUrl, UseProviders: [{ ...client, DiscoverURL: provider.discoverUrl }] },
    CustomUserGroupField: 'groups',
  };
}

/** Path of the login URL of a new profile of an OpenID provider, which serves it from then on. */
export async function createOidcPortalProfile(app: TestApp, provider: OidcProvider, more: object = {}) {
  const body = { ...createOidcProfileBody(app.url.portal, provider), ...more };
  const { ID } = body;
  await requestPortal(app, 'POST', '/portal-api/sso_profiles', body, 201);
  const path = `/tib/auth/${ID}/openid-connect`;
  provider.serve(`${app.url.portal}${path}/callback`);
  return { ID, Name: body.Name, path };
}

const maxRedirects = 10;

interface PortalListener {
  readonly url: { readonly portal: string };
}

/** Follows a sign-on to the request that comes back to the portal, without sending that one. */
export async function walkToPortalCallback(app: PortalListener, path: string, jar: CookieJar): Promise<string> {
  let url = app.url.portal + path;
  for (let hop = 0; hop < maxRedirects; hop++) {
    const response = await visit(url, jar);
    const location = response.headers.get('location');
    if (!location) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
    if (url.startsWith(`${app.url.portal}/`)) return url;
  }
  throw new Error('too many redirects');
}

export interface PortalSignOnResult {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly jar: CookieJar;
}

export async function finishPortalSignOn(url: string, jar: CookieJar): Promise<PortalSignOnResult> {
  const response = await visit(url, jar, { headers: { accept: 'text/html' } });
  return { status: response.status, text: await response.text(), headers: response.headers, jar };
}

/** A whole sign-on through an OpenID provider. */
export async function signOnToPortal(app: TestApp, path: string, jar: CookieJar = new Map()) {
  return finishPortalSignOn(await walkToPortalCallback(app, path, jar), jar);
}

/** The profile page of the user who is signed in; empty while signed out. */
export async function readSiteProfile(app: PortalListener, jar: CookieJar): Promise<string> {
  const response = await visit(`${app.url.portal}/portal/private/profile`, jar);
  return response.status === 200 ? response.text() : '';
}

export async function findPortalUser(app: TestApp, email: string) {
  const users = await requestPortal(app, 'GET', '/portal-api/users?per_page=1000');
  const found = users.find((it: { Email: string }) => it.Email === email);
  return found && requestPortal(app, 'GET', `/portal-api/users/${found.ID}`);
}

export async function addTeam(app: TestApp, organisation?: { ID: number }) {
  const owner =
    organisation ?? (await requestPortal(app, 'POST', '/portal-api/organisations', { Name: createPublicId() }));
  const Name = `team ${createPublicId()}`;
  const team = await requestPortal(app, 'POST', `/portal-api/organisations/${owner.ID}/teams`, { Name });
  return { ID: team.ID as number, Name, organisation: owner as { ID: number; Name: string } };
}

export function assertRefusedSignOn({ status, text, jar }: PortalSignOnResult, message: RegExp, expected = 403): void {
  assert.equal(status, expected, text);
  assert.match(text, /<h1>Sign-on failed<\/h1>/);
  assert.match(text, message);
  assert.match(text, /Reference for the administrator of this portal: <code>\w+<\/code>/);
  for (const cookies of jar.values()) assert.equal(cookies.has('portal-session'), false);
}
