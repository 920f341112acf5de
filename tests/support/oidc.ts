import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { TestApp } from './app.ts';
import { type Browser, openBrowser } from './browser.ts';

/** URL of the dashboard in tests of redirects. It is never requested: the test's browser goes to the listener instead. */
export const dashboardUrl = 'https://dashboard.example';

export const oidcClient = { id: 'gatewright', secret: 'oidc client: secret & more' };

export interface OidcProvider {
  readonly issuer: string;
  readonly discoverUrl: string;
  /** Claims by account. */
  readonly users: Map<string, Record<string, unknown>>;
  /** Account that the next interaction signs in. */
  account: string;
  /** Starts answering, for a client with this redirect URI. */
  serve(redirectUri: string): void;
  close(): Promise<void>;
}

/** An OpenID provider on loopback: oidc-provider, whose interaction signs an account in without a form. */
export async function startOidcProvider(): Promise<OidcProvider> {
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own: OidcProvider = {
    issuer,
    discoverUrl: `${issuer}/.well-known/openid-configuration`,
    users: new Map(),
    account: '',
    serve(redirectUri) {
      const provider = createProvider(own, redirectUri);
      const answer = provider.callback();
      listener = (request, response) => {
        if (!request.url!.startsWith('/interaction/')) return void answer(request, response);
        void provider.interactionFinished(request, response, { login: { accountId: own.account } });
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return own;
}

function createProvider({ issuer, users }: OidcProvider, redirectUri: string): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: oidcClient.id,
        client_secret: oidcClient.secret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [`${new URL(redirectUri).origin}/`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    findAccount: async (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...users.get(id) }),
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a key of tests'] },
    pkce: { required: () => true },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
}

/** Cookies of a browser, by origin. */
export type CookieJar = Map<string, Map<string, string>>;

export async function visit(url: string, jar: CookieJar, init: RequestInit = {}): Promise<Response> {
  const { origin } = new URL(url);
  const cookies = jar.get(origin) ?? new Map<string, string>();
  jar.set(origin, cookies);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) };
  const response = await fetch(url, { ...init, redirect: 'manual', headers });
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (/max-age=0/i.test(line)) cookies.delete(name!);
    else cookies.set(name!, value!);
  }
  return response;
}

const maxRedirects = 10;

/** Follows a sign-on from its login URL to the request that comes back to the dashboard, without sending that one. */
export async function walkToCallback(app: TestApp, loginUrl: string, jar: CookieJar = new Map()): Promise<string> {
  const toListener = (url: string) => url.replace(dashboardUrl, app.url.dashboard);
  let url = toListener(loginUrl);
  for (let hop = 0; hop < maxRedirects; hop++) {
    const response = await visit(url, jar);
    const location = response.headers.get('location');
    if (!location) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
    if (location.startsWith(`${dashboardUrl}/`)) return toListener(location);
    url = new URL(location, url).href;
  }
  throw new Error('too many redirects');
}

/** A browser with the session of a completed sign-on. */
export async function openSignedOnBrowser(
  app: TestApp,
  jar: CookieJar,
): Promise<{ browser: Browser; session: Answered }> {
  const browser = openBrowser(app);
  browser.cookie = `authorisation=${jar.get(app.url.dashboard)!.get('authorisation')}`;
  const { body } = await browser.ask('GET', '/api/session');
  browser.csrfToken = body.csrf_token;
  return { browser, session: body };
}
type Answered = ReturnType<typeof JSON.parse>;
