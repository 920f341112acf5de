import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { type CookieJar, dashboardUrl, openSignedOnBrowser, visit } from '../../../../tests/support/oidc.ts';
import { type SamlTestProvider, startSamlProvider } from '../../../../tests/support/saml.ts';
import { createSamlFlow } from '../../../../tests/support/saml-flow.ts';

let provider: SamlTestProvider;
before(async () => {
  provider = await startSamlProvider();
});
after(() => provider?.close());

onEveryEngine(
  'Single sign-on with SAML',
  app => {
    const flow = createSamlFlow(app, () => provider);
    const { begin, post, signOn } = flow;
    const claims = { SAMLForenameClaim: 'first', SAMLSurnameClaim: 'last' };
    const createProfile = (more: object = {}) =>
      flow.createProfile({ CustomUserGroupField: 'groups', ...more }, claims);

    test('a user signs on with the permissions of the mapped groups', async () => {
      const group = { name: 'g', user_permissions: { apis: 'read' } };
      const { Meta } = (await app().ask('POST', '/api/usergroups', { body: group })).body;
      const login = await createProfile({ UserGroupMapping: { 'API devs': Meta } });
      provider.user = {
        id: 'ann',
        attributes: { email: 'ann@example.org', first: 'Ann', last: 'Example', groups: ['staff', 'API devs'] },
      };
      const { jar, response } = await signOn(`${login}`);
      assert.deepEqual([response.status, response.headers.get('location')], [303, '/']);
      const { session } = await openSignedOnBrowser(app(), jar);
      assert.deepEqual([session.user.email_address, session.user.first_name], ['ann@example.org', 'Ann Example']);
      assert.deepEqual(session.permissions, { apis: 'read' });
      provider.user = { id: 'bob', attributes: { email: 'bob@example.org', groups: 'none' } };
      const other = await signOn(login);
      assert.deepEqual((await openSignedOnBrowser(app(), other.jar)).session.permissions, {});
    });

    test('a response is accepted once, and only in the browser that began the sign-on', async () => {
      provider.user = { id: 'ann', attributes: { email: 'ann@example.org' } };
      const login = await createProfile();
      const jar: CookieJar = new Map();
      const encoded = await begin(login, jar);
      const posted = await post(login, encoded);
      const location = app().url.dashboard + posted.headers.get('location');
      assert.equal((await post(login, encoded)).status, 403);
      const other: CookieJar = new Map();
      await begin(login, other);
      assert.equal((await visit(location, new Map())).status, 403);
      assert.equal((await visit(location, other)).status, 403);
      assert.equal((await visit(location, jar)).status, 403);
      assert.equal((await signOn(login)).response.status, 303);
    });

    test('a response for another profile is refused', async () => {
      const first = await createProfile();
      const second = await createProfile();
      const jar: CookieJar = new Map();
      assert.equal((await post(second, await begin(first, jar))).status, 403);
    });

    test('a malformed, repeated, missing or oversized response is refused', async () => {
      const login = await createProfile();
      const send = async (body: string) =>
        (
          await visit(`${login}/callback`, new Map(), {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        ).status;
      assert.equal(await send(''), 400);
      assert.equal(await send('SAMLResponse='), 400);
      assert.equal(await send('SAMLResponse=YQ==&SAMLResponse=YQ=='), 400);
      assert.equal(await send(`SAMLResponse=${'A'.repeat(600_000)}`), 400);
      assert.equal(await send(`SAMLResponse=${'A'.repeat(2_000_000)}`), 413);
      assert.equal(await send('SAMLResponse=%%%'), 403);
      assert.equal(await send('SAMLResponse=PGEvPg=='), 403);
    });

    test('attributes of a response are stored for a test of the profile alone, sealed and bounded', async () => {
      const login = await createProfile();
      const id = new URL(login).pathname.split('/')[3]!;
      const names = Array.from({ length: 150 }, (_none, n) => `attribute-${n}`);
      const attributes = { email: 'ann@example.org', long: 'x'.repeat(5000), many: Array(3000).fill('y') };
      provider.user = { id: 'ann', attributes: { ...attributes, ...Object.fromEntries(names.map(it => [it, 'z'])) } };
      const { records, services } = app().application.installation;
      const receive = async (url: string, jar: CookieJar) => {
        const posted = await post(login, await begin(url, jar));
        assert.equal(posted.status, 303, await posted.text());
        const query = records.db.selectFrom('sign_in_tokens').select('body').where('purpose', '=', 'saml');
        const rows = await query.where('user_id', '=', id).execute();
        assert.equal(rows.length, 1);
        assert.doesNotMatch(rows[0]!.body, /ann@example|attribute-/);
        const { user } = JSON.parse(services.vault.open(rows[0]!.body, 'pending SAML assertion'));
        assert.equal(user.email, 'ann@example.org');
        const response = await visit(app().url.dashboard + posted.headers.get('location'), jar);
        return { claims: user.claims, response };
      };
      const plain = await receive(login, new Map());
      assert.deepEqual([plain.claims, plain.response.status], [undefined, 303]);
      const { body } = await app().ask('POST', `/api/sso/profiles/${id}/test`);
      const tested = await receive(body.test_url.replace(dashboardUrl, app().url.dashboard), new Map());
      assert.equal(Object.keys(tested.claims).length, 100);
      assert.deepEqual(tested.claims.long, ['x'.repeat(1000)]);
      assert.deepEqual(tested.claims.many, Array(500).fill('y'));
      assert.equal(tested.response.status, 200);
      const page = await tested.response.text();
      assert.match(page, /<th scope="row">attribute-0<\/th><td>\[&#34;z&#34;\]<\/td>/);
      assert.doesNotMatch(page, /attribute-149/);
    });

    test('only registered users: the address of an account of the organisation signs on to it', async () => {
      const person = await addPerson(app(), { user_permissions: { apis: 'read' } });
      const login = await createProfile({ SSOOnlyForRegisteredUsers: true });
      provider.user = { id: 'x', attributes: { email: person.username } };
      const { jar } = await signOn(login);
      assert.equal((await openSignedOnBrowser(app(), jar)).session.user.id, person.id);
      provider.user = { id: 'y', attributes: { email: 'unknown@example.org' } };
      assert.equal((await signOn(login)).response.status, 403);
    });

    test('the metadata of this side names the consumer, and unusable metadata of a provider is reported', async () => {
      const login = await createProfile();
      const metadata = await fetch(`${login}/metadata`);
      assert.equal(metadata.headers.get('content-type'), 'application/samlmetadata+xml');
      const path = new URL(login).pathname;
      assert.match(await metadata.text(), new RegExp(`Location="${dashboardUrl}${path}/callback"`));
      for (const IDPMetadata of ['<a/>', 'no XML', '<!DOCTYPE a><a/>']) {
        const broken = await flow.createProfileOf({ IDPMetadata });
        assert.equal((await visit(flow.toLogin(broken), new Map())).status, 502, IDPMetadata);
      }
      const inline = await (await fetch(provider.metadataUrl)).text();
      provider.user = { id: 'ann', attributes: { email: 'ann@example.org' } };
      const own = await flow.createProfileOf({ IDPMetadata: inline });
      assert.equal((await signOn(flow.toLogin(own))).response.status, 303);
    });
  },
  { settings: { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' } },
);
