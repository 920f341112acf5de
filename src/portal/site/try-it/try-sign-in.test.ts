import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addBrowserClientType, addOauthOffer, ownRedirectUrl } from '../../../../tests/support/oauth-offer.ts';
import { type CookieJar, visit } from '../../../../tests/support/oidc.ts';
import { addDeveloper } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../../../../tests/support/registering-provider.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

const portalUrl = 'http://dev.example.org';
const signInPath = '/portal/private/api/try/sign-in';
const redirectUrl = `${portalUrl}${signInPath}/callback`;

onEveryEngine(
  'sign-in for a token of try-it',
  app => {
    let upstream: Upstream;
    let idp: RegisteringProvider;
    let typeId: number;
    before(async () => {
      upstream = await startUpstream();
      idp = await startRegisteringProvider(['orders', 'gold']);
      typeId = await addBrowserClientType(app(), idp);
    });
    after(async () => {
      await idp?.close();
      await upstream?.close();
    });

    async function offer() {
      const user = await addDeveloper(app(), { Password: sitePassword });
      const offered = await addOauthOffer(app(), upstream, typeId, user);
      return { user, ...offered, client: await signedInClient(app(), user) };
    }

    const send = async (client: SiteClient, fields: Readonly<Record<string, string>>) => {
      const { status, text } = await client.post('/portal/private/api/try', { ...fields, format: 'json' });
      return { status, text, ...JSON.parse(text) };
    };
    /** Address of the identity provider that the page opens. */
    async function begin(client: SiteClient, fields: Readonly<Record<string, string>>): Promise<URL> {
      const { status, headers, text } = await client.post(signInPath, fields);
      assert.equal(status, 200, text);
      return new URL(/^0;url=(.*)$/.exec(headers.get('refresh')!)![1]!);
    }
    /** Path and query with which the provider sends the browser back. */
    async function signIn(url: URL): Promise<string> {
      const jar: CookieJar = new Map();
      for (let next = url.href, hop = 0; hop < 10; hop++) {
        const response = await visit(next, jar);
        const location = new URL(response.headers.get('location')!, next);
        if (location.href.startsWith(portalUrl)) return location.pathname + location.search;
        next = location.href;
      }
      throw new Error('too many redirects');
    }
    const hasToken = async (client: SiteClient, fields: Readonly<Record<string, string>>) =>
      (await send(client, fields)).result?.status === 200;

    test('a user signs in with a code and PKCE; the token stays on the server, for this session alone', async () => {
      const { user, appId, credential, fields, client, page: path } = await offer();
      const page = await client.get(path);
      assert.match(page.text, /\(with sign-in\)<\/option>/);
      assert.match((await send(client, fields)).error, /Get a token first/);
      const url = await begin(client, fields);
      const query = Object.fromEntries(url.searchParams);
      assert.deepEqual(
        [url.origin, query.response_type, query.redirect_uri, query.code_challenge_method, query.scope],
        [idp.issuer, 'code', redirectUrl, 'S256', 'gold orders'],
      );
      const done = await client.get(await signIn(url));
      assert.equal(done.status, 200, done.text);
      assert.match(done.text, /<h1>Signed in<\/h1>/);
      const [action, object, , status] = await readLastAudit(app());
      assert.deepEqual([action, object, status], ['completeSignInForToken', fields.credential, 200]);

      const { result, text } = await send(client, fields);
      assert.equal(result?.status, 200, text);
      const [, token] = /^Bearer (.+)$/.exec(upstream.requests.at(-1)!.headers.authorization!)!;
      for (const shown of [text, done.text, page.text]) assert.ok(!shown.includes(token!));
      const rows = await app()
        .application.installation.services.records.db.selectFrom('sign_in_tokens')
        .selectAll()
        .execute();
      assert.ok(!JSON.stringify(rows).includes(token!), 'the token is sealed');
      assert.equal(await hasToken(await signedInClient(app(), user), fields), false);

      const registered = await idp.findClient(credential.OAuthClientID);
      assert.deepEqual(registered!.redirect_uris, [ownRedirectUrl, redirectUrl]);
      const shown = (await client.get(`/portal/private/apps/${appId}`)).text;
      assert.ok(shown.includes(ownRedirectUrl) && !shown.includes(redirectUrl));
    });

    test('a response with another state or issuer, in another browser, without its cookie or repeated gives no token', async () => {
      const { fields, client } = await offer();
      const refuse = async (answer: string, browser = client) => {
        const { status, text } = await browser.get(answer);
        assert.equal(status, 422, text);
        assert.equal(await hasToken(client, fields), false);
        return text;
      };
      const alter = async (change: (query: URLSearchParams) => void) => {
        const url = new URL(await signIn(await begin(client, fields)), portalUrl);
        change(url.searchParams);
        return refuse(url.pathname + url.search);
      };
      assert.match(await alter(it => it.set('state', 'x')), /does not belong to this sign-in/);
      assert.match(await alter(it => it.set('iss', 'https://evil.example')), /another identity provider/);
      assert.match(await alter(it => it.set('code', 'forged')), /gave no token/);
      const cancelled = await alter(it => {
        it.delete('code');
        it.set('error', 'access_denied');
      });
      assert.match(cancelled, /responded with access_denied/);
      assert.doesNotMatch(await alter(it => it.set('error', '<script>')), /&lt;script|<script>/);

      const answer = await signIn(await begin(client, fields));
      assert.match(await refuse(answer, createSiteClient(app())), /begun in another browser/);
      const other = await offer();
      await begin(other.client, other.fields);
      assert.match(await refuse(answer, other.client), /does not belong to this sign-in/);
      assert.equal((await client.get(answer)).status, 200);
      assert.equal(await hasToken(client, fields), true);
      assert.equal((await client.get(answer)).status, 422);
    });

    test('a response without the issuer of a provider that sends it gives no token', async () => {
      const { fields, client } = await offer();
      const url = new URL(await signIn(await begin(client, fields)), portalUrl);
      url.searchParams.delete('iss');
      const { status, text } = await client.get(url.pathname + url.search);
      assert.equal(status, 422);
      assert.match(text, /of another identity provider/);
      assert.equal(await hasToken(client, fields), false);
    });

    test('a sign-in is begun by the owner, for a credential that needs it, with the token of the form', async () => {
      const { fields, client } = await offer();
      const other = await offer();
      const post = async (browser: SiteClient, more: Record<string, string>) =>
        (await browser.post(signInPath, { ...fields, ...more })).status;
      assert.equal(await post(client, { credential: other.fields.credential }), 422);
      assert.equal(await post(client, { credential: '' }), 422);
      assert.equal(await post(client, { product: 'unknown' }), 404);
      assert.equal(await post(client, { csrf_token: 'x' }), 403);
      const before = await idp.findClient(other.credential.OAuthClientID);
      assert.deepEqual(before!.redirect_uris, [ownRedirectUrl]);
    });

    test('a client that the identity provider does not change for the portal keeps its addresses', async () => {
      const { credential, fields, client } = await offer();
      idp.intercept = (incoming, response) => {
        if (incoming.method !== 'PUT') return false;
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_redirect_uri"}');
        return true;
      };
      const { status, text } = await client.post(signInPath, fields);
      idp.intercept = undefined;
      assert.equal(status, 422);
      assert.match(text, /does not accept a sign-in for this credential/);
      const services = app().application.installation.services;
      const stored = (await services.portal.credentials.get(credential.ID))!.Client!;
      assert.equal(stored.PortalRedirectURI, '');
      await begin(client, fields);
    });
  },
  { settings: { 'portal.url': portalUrl } },
);
