import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { eventually } from '../../../tests/support/traffic.ts';
import { problem } from '../problems.ts';

const apps = '/portal/private/apps';
const asked = '/portal/private/terms';

for (const engine of engines)
  describe(`terms of use of the portal on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      app = await startApp(engine, {
        settings: {
          'mail.smtp_url': mail.url,
          'mail.from': 'portal@example.org',
          'mail.require_tls': 'false',
          'portal.registration': 'open',
        },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app, method, `/portal-api${path}`, body, status);
    const ask = (method: string, path: string, body?: unknown) =>
      app.ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
    const aVersion = (more: Record<string, unknown> = {}) =>
      ok('POST', '/terms', { Version: `v-${createPublicId()}`, Content: '## Be kind', ...more }, 201);
    const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app, { Password: sitePassword, ...more });
    /** Accepts the terms of the portal that other tests have published. */
    const acceptPortalTerms = async (client: SiteClient) => {
      const [, terms = ''] = /name="terms" value="(\d+)"/.exec((await client.get(asked)).text) ?? [];
      await client.post(asked, { next: apps, terms });
    };
    const acceptancesOf = (id: number) => ok('GET', `/terms/${id}/acceptances`);

    test('a draft is changed, published, and does not change then', async () => {
      const draft = await aVersion();
      assert.deepEqual([draft.Published, draft.InForce, draft.PublishedAt], [false, false, '']);
      assert.equal((await createSiteClient(app).get(`/portal/terms/${draft.Version}`)).status, 404);
      assert.equal((await ask('POST', '/terms', { Version: draft.Version, Content: 'x' })).status, 409);
      const other = await aVersion();
      const body = { Version: draft.Version };
      await expectProblem(app, 'updateTerms', problem.terms_exist, `/portal-api/terms/${other.ID}`, { body });
      await ok('DELETE', `/terms/${other.ID}`);
      await ok('PUT', `/terms/${draft.ID}`, { Content: '## Be *very* kind' });
      const published = await ok('PUT', `/terms/${draft.ID}`, { Published: true });
      assert.deepEqual([published.Published, published.InForce], [true, true]);
      assert.equal((await ok('GET', '/terms?per_page=1'))[0].ID, draft.ID);
      assert.deepEqual((await ok('PUT', `/terms/${draft.ID}`, published)).PublishedAt, published.PublishedAt);
      for (const change of [{ Content: 'other' }, { Version: 'other' }, { Published: false }])
        assert.match((await ask('PUT', `/terms/${draft.ID}`, change)).body.errors[0], /do not change/);
      assert.match((await createSiteClient(app).get('/portal/terms')).text, /Be <em>very<\/em> kind/);
      for (const Version of ['..', 'a/b', ''])
        assert.equal((await ask('POST', '/terms', { Version, Content: 'x' })).status, 422);
      await ok('DELETE', `/terms/${draft.ID}`);
      assert.equal((await ask('DELETE', `/terms/${draft.ID}`)).status, 404);
      assert.equal((await ask('GET', `/terms/${draft.ID}`)).status, 404);
      assert.equal((await ask('GET', `/terms/${draft.ID}/acceptances`)).status, 404);
      assert.equal((await ask('PUT', `/terms/${draft.ID}`, {})).status, 422);
    });

    test('a new version is asked for before any private page, also in an open session, once', async () => {
      const user = await aUser();
      const client = await signedInClient(app, user);
      const first = await aVersion({ Published: true });
      const gate = await client.get(`${apps}?q=x`);
      assert.equal(gate.location, `${asked}?next=${encodeURIComponent(`${apps}?q=x`)}`);
      assert.equal((await client.post(`${apps}`, { name: 'x' })).location, `${asked}?next=%2F`);
      assert.equal((await client.get('/portal/catalogue-products')).status, 200);
      assert.match((await client.get(gate.location)).text, /Be kind/);
      assert.equal((await client.post(asked, { next: apps })).status, 422);
      assert.equal((await client.post(asked, { next: 'https://example.org/', terms: String(first.ID) })).location, '/');
      assert.equal((await client.get(apps)).status, 200);
      const [acceptance, ...others] = await acceptancesOf(first.ID);
      assert.deepEqual([acceptance.UserID, acceptance.Email, others.length], [user.ID, user.Email, 0]);
      assert.match(acceptance.Address, /127\.0\.0\.1/);
      assert.equal((await ask('DELETE', `/terms/${first.ID}`)).status, 422);
      const second = await aVersion({ Published: true });
      assert.equal((await client.post(asked, { next: apps, terms: String(first.ID) })).status, 422);
      await client.post(asked, { next: apps, terms: String(second.ID) });
      assert.equal((await client.get(apps)).status, 200);
      await ok('DELETE', `/users/${user.ID}`);
      assert.deepEqual(await acceptancesOf(second.ID), []);
    });

    test('administrators of the portal are not asked', async () => {
      await aVersion({ Published: true });
      const client = await signedInClient(app, await aUser({ Role: 'provider-admin' }));
      assert.equal((await client.get('/portal/private/profile')).status, 200);
    });

    test('terms of a product are accepted with the first request of access, and are no terms of the portal', async () => {
      const product = await addProduct(app, { Catalogues: [1] });
      const plan = await addPlan(app, { Catalogues: [1] });
      const client = await signedInClient(app, await aUser());
      await acceptPortalTerms(client);
      const { Version, ID } = await aVersion({ ProductID: product.ID, Published: true });
      assert.equal((await ok('GET', `/terms/${ID}`)).InForce, true);
      assert.equal((await client.get(apps)).status, 200);
      const fields = { product: product.Path, plan: String(plan.ID), catalogue: '1' };
      const url = `/portal/private/cart/provision?${new URLSearchParams(fields)}`;
      const order = async (more: Record<string, string>) => {
        const [, request_id = ''] = /name="request_id" value="([^"]+)"/.exec((await client.get(url)).text) ?? [];
        const sent = {
          ...fields,
          request_id,
          'app-action': 'create',
          client_name: 'Shop',
          visibility: 'personal',
          ...more,
        };
        return client.post('/portal/private/cart/provision', sent);
      };
      assert.match((await client.get(url)).text, new RegExp(`terms of ${product.Name}, version ${Version}`));
      const refused = await order({});
      assert.deepEqual([refused.status, /Accept the terms/.test(refused.text)], [422, true]);
      assert.deepEqual(await acceptancesOf(ID), []);
      assert.equal((await order({ terms: String(ID) })).status, 303);
      assert.equal((await acceptancesOf(ID)).length, 1);
      assert.doesNotMatch((await client.get(url)).text, /name="terms"/);
      await aVersion({ ProductID: product.ID, Published: true });
      assert.equal((await order({ client_name: 'Second' })).status, 422);
    });

    test('terms of a product are visible where the product is, and name one that exists', async () => {
      const hidden = await addProduct(app, { Catalogues: [2] });
      const { Version, ID } = await aVersion({ ProductID: hidden.ID, Published: true });
      assert.equal((await createSiteClient(app).get(`/portal/terms/${Version}`)).status, 404);
      assert.equal((await (await signedInClient(app, await aUser())).get(`/portal/terms/${Version}`)).status, 200);
      const unknown = { Version: `v-${createPublicId()}`, Content: 'x', ProductID: 999_999 };
      assert.match((await ask('POST', '/terms', unknown)).body.errors[0], /Product not found/);
      assert.match((await ask('PUT', `/terms/${ID}`, { ProductID: 0 })).body.errors[0], /do not change/);
      const draft = await aVersion({ ProductID: hidden.ID });
      assert.equal((await ok('PUT', `/terms/${draft.ID}`, { ProductID: '0' })).ProductID, 0);
    });

    test('sign-up and invitation need the tick of the version in force, and record it', async () => {
      const { ID } = await aVersion({ Published: true });
      const visitor = createSiteClient(app);
      const email = `new-${createPublicId().toLowerCase()}@example.org`;
      const person = { first: 'New', last: 'Dev', password1: sitePassword, password2: sitePassword };
      assert.match((await visitor.get('/auth/password/register')).text, /I accept the/);
      assert.equal((await visitor.post('/auth/password/register', { email, ...person })).status, 422);
      await visitor.post('/auth/password/register', { email, ...person, terms: String(ID) });
      const token = await eventually(() => {
        const sent = mail.mails.find(it => it.to[0] === email && /verify\?token=/.test(it.text));
        return /verify\?token=(\S+)/.exec(sent?.text ?? '')?.[1] ?? assert.fail(`no mail to ${email}`);
      });
      assert.deepEqual(await acceptancesOf(ID), []);
      await visitor.post('/auth/verify', { token, password: sitePassword });
      const invited = await ok('POST', '/invitations', { Email: `i-${email}` }, 201);
      const link = { token: new URL(invited.InviteURL).searchParams.get('token')!, ...person };
      assert.equal((await visitor.post('/auth/invitation', link)).status, 422);
      assert.equal((await visitor.post('/auth/invitation', { ...link, terms: String(ID) })).status, 303);
      assert.deepEqual(
        (await acceptancesOf(ID)).map((it: { Email: string }) => it.Email),
        [`i-${email}`, email],
      );
      assert.equal((await visitor.get(apps)).status, 200);
    });
  });
