import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { type CookieJar, visit } from './oidc.ts';
import type { SamlTestProvider } from './saml.ts';

/** Sign-ons through a SAML provider, as a browser makes them. */
export function createSamlFlow(app: () => TestApp, provider: () => SamlTestProvider) {
  const createProfileOf = async (ProviderConfig: object, more: object = {}): Promise<string> => {
    const body = { Name: 'SAML', ProviderName: 'SAMLProvider', ProviderConfig, ...more };
    const made = await app().ask('POST', '/api/sso/profiles', { body });
    assert.equal(made.status, 200, made.text);
    return made.body.Meta;
  };
  const toLogin = (id: string) => `${app().url.dashboard}/tib/auth/${id}/saml`;

  /** Begins a sign-on, and gets the response of the provider to it. */
  async function begin(login: string, jar: CookieJar): Promise<string> {
    const started = await visit(login, jar);
    assert.equal(started.status, 303, await started.text());
    return Buffer.from(await provider().respond(started.headers.get('location')!)).toString('base64');
  }

  /** The post of the provider's page comes from another site: the browser sends no cookie with it. */
  const post = (login: string, SAMLResponse: string) =>
    visit(`${login}/callback`, new Map(), { method: 'POST', body: new URLSearchParams({ SAMLResponse }) });

  async function signOn(login: string) {
    const jar: CookieJar = new Map();
    const posted = await post(login, await begin(login, jar));
    assert.equal(posted.status, 303, await posted.text());
    const response = await visit(app().url.dashboard + posted.headers.get('location'), jar);
    return { jar, response };
  }

  return {
    createProfileOf,
    toLogin,
    begin,
    post,
    signOn,
    /** Login URL of a new profile. */
    createProfile: async (more: object = {}, config: object = {}) =>
      toLogin(await createProfileOf({ IDPMetadataURL: provider().metadataUrl, ...config }, more)),
  };
}
