import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { fillChangelog } from '../../../tests/support/full-changelog.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';

for (const engine of engines)
  describe(`changelogs of products on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      const server = { 'mail.smtp_url': mail.url, 'mail.from': 'portal@example.org', 'mail.require_tls': 'false' };
      app = await startApp(engine, { settings: { ...server, 'portal.url': 'https://dev.example.org' } });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app, method, `/portal-api${path}`, body, status);
    const ask = (method: string, path: string, body?: unknown) =>
      app.ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
    const entry = { Kind: 'added', Headline: 'Orders can be cancelled', Text: 'With *one* call.', Version: '1.1' };
    const anEntry = (productId: number, more: Record<string, unknown> = {}) =>
      ok('POST', `/products/${productId}/changelog`, { ...entry, ...more }, 201);
    const siteOf = ({ Path }: { Path: string }) => `/portal/catalogue-products/${Path}`;

    test('entries are created, read, changed without moving the release, and deleted', async () => {
      const product = await addProduct(app, { Catalogues: [1] });
      const path = `/products/${product.ID}/changelog`;
      const old = await anEntry(product.ID, { ReleasedAt: '2020-01-31 12:00', Headline: 'First release' });
      const created = await anEntry(product.CID);
      assert.deepEqual(await ok('GET', path), [created, old]);
      const changed = await ok('PUT', `${path}/${old.ID}`, {
        ...old,
        Headline: 'Release',
        ReleasedAt: '2021-01-31 12:00',
      });
      assert.deepEqual([changed.Headline, changed.ReleasedAt, changed.Kind], ['Release', '2020-01-31 12:00', 'added']);
      for (const [member, value] of Object.entries({
        Kind: 'broken',
        Headline: 'a\nb',
        ReleasedAt: '2020-02-99 1',
        Txt: 1,
      }))
        assert.match((await ask('POST', path, { ...entry, [member]: value })).body.errors[0], new RegExp(member));
      const other = await addProduct(app);
      for (const [method, status] of [
        ['GET', 404],
        ['PUT', 422],
        ['DELETE', 404],
      ] as const) {
        const body = method === 'PUT' ? {} : undefined;
        assert.equal((await ask(method, `/products/${other.ID}/changelog/${old.ID}`, body)).status, status, method);
        assert.equal((await ask(method, `/products/999999/changelog/${old.ID}`, body)).status, status, method);
      }
      assert.equal((await ask('GET', '/products/999999/changelog')).status, 404);
      assert.equal((await ask('POST', '/products/999999/changelog', entry)).status, 422);
      await ok('DELETE', `${path}/${old.ID}`);
      await ok('DELETE', `/products/${product.ID}`);
    });

    test('a product has a bounded number of entries', async () => {
      const product = await addProduct(app);
      const { ID } = await anEntry(product.ID);
      await fillChangelog(app.application.installation.records, product.ID, 1999);
      const path = `/portal-api/products/${product.ID}/changelog`;
      await expectProblem(app, 'createChangelogEntry', problem.too_many_changes, path, { body: entry });
      await ok('DELETE', `/products/${product.ID}/changelog/${ID}`);
      await anEntry(product.ID);
      await ok('DELETE', `/products/${product.ID}`);
    });

    test('the tab and the feed show entries to those who see the product', async () => {
      const [open, hidden] = [await addProduct(app, { Catalogues: [1] }), await addProduct(app, { Catalogues: [2] })];
      const visitor = createSiteClient(app);
      assert.equal((await visitor.get(`${siteOf(open)}/changelog`)).status, 404);
      assert.doesNotMatch((await visitor.get(siteOf(open))).text, /Changelog/);
      for (const { ID } of [open, hidden]) await anEntry(ID, { Headline: 'A <b>change</b>' });
      const { text } = await visitor.get(`${siteOf(open)}/changelog`);
      assert.match(text, /A &lt;b&gt;change&lt;\/b&gt;/);
      assert.match(text, /With <em>one<\/em> call/);
      const feed = await visitor.get(`${siteOf(open)}/changelog.xml`);
      assert.match(feed.headers.get('content-type')!, /atom/);
      assert.match(feed.text, new RegExp(`<link href="https://dev.example.org${siteOf(open)}/changelog#change-`));
      for (const end of ['changelog', 'changelog.xml'])
        assert.equal((await visitor.get(`${siteOf(hidden)}/${end}`)).status, 404);
    });

    test('every subscriber is notified of an entry, in pages after the first hundred', async () => {
      const product = await addProduct(app, { DisplayName: 'Crowd', Catalogues: [1] });
      const { services, records } = app.application.installation;
      const { portal } = services;
      const first = await addDeveloper(app);
      const { ID: _id, ...user } = (await portal.users.get(first.ID))!;
      const users = [first.ID];
      await records.write(async () => {
        for (let count = 1; count < 105; count++)
          users.push(
            (await portal.users.insert({ ...user, CID: `crowd-${count}`, Email: `c${count}@example.org` })).ID,
          );
        for (const id of users) await portal.changelog.subscribe(product.ID, id);
      });
      const { ID } = await anEntry(product.ID, { Headline: 'For all' });
      await eventually(async () =>
        assert.equal((await portal.changelog.get(product.ID, ID))!.AnnouncedTo, undefined, 'it is finished'),
      );
      const counts = new Map<string, number>();
      const mails = await ok('GET', '/mail-outbox?per_page=1000');
      const addresses = new Set([...(await portal.users.byIds(users)).values()].map(it => it.Email));
      for (const { To, Name } of mails)
        if (Name === 'announce' && addresses.has(To)) counts.set(To, (counts.get(To) ?? 0) + 1);
      assert.deepEqual([counts.size, Math.max(...counts.values())], [105, 1]);
      await ok('DELETE', `/products/${product.ID}`);
    });

    test('subscribers to whom the product is visible get a mail and a notification, until they end it', async () => {
      const product = await addProduct(app, { DisplayName: 'Orders', Catalogues: [1] });
      await anEntry(product.ID);
      const user = await addDeveloper(app, { Password: sitePassword });
      const client = await signedInClient(app, user);
      const subscribe = (wanted: string) => client.post(`/portal/private/subscriptions/${product.Path}`, { wanted });
      const mailsOf = async (): Promise<string[]> =>
        (await ok('GET', '/mail-outbox?per_page=1000'))
          .filter((it: { To: string; Name: string }) => it.To === user.Email && it.Name === 'announce')
          .map((it: { Name: string }) => it.Name);
      assert.match((await client.get(`${siteOf(product)}/changelog`)).text, />Notify me</);
      assert.equal((await subscribe('yes')).location, `${siteOf(product)}/changelog`);
      await subscribe('yes');
      await anEntry(product.ID, { Headline: 'Hourly values' });
      let text = '';
      while (!/Subject: Orders: Hourly values/.test(text)) ({ text } = await mail.take());
      assert.match((await client.get('/portal/private/notifications')).text, /Orders: Hourly values/);
      await anEntry(product.ID, { Notify: false });
      await ok('PUT', `/products/${product.ID}`, { Catalogues: [] });
      await anEntry(product.ID, { Headline: 'Hidden change' });
      assert.equal((await subscribe('yes')).status, 404);
      await ok('PUT', `/products/${product.ID}`, { Catalogues: [1] });
      await subscribe('');
      await anEntry(product.ID, { Headline: 'Last change' });
      assert.equal((await mailsOf()).length, 1);
    });
  });
