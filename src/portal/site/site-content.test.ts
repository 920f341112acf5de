import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const settings = { 'portal.indexing': 'true', 'portal.url': 'https://dev.example.org' };

onEveryEngine(
  'content of the portal site',
  app => {
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);
    const read = async (
      path: string,
      init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
    ) => {
      const headers = { accept: 'text/html', ...init.headers };
      const response = await fetch(app().url.portal + path, { redirect: 'manual', ...init, headers });
      return { status: response.status, text: await response.text(), headers: response.headers };
    };
    const publish = async (more: Record<string, unknown>) => {
      const product = await addProduct(app(), { Catalogues: [1], ...more });
      return { ...product, url: `/portal/catalogue-products/${product.Path}` };
    };
    const document = (more: object) => ({ Title: 'T', Content: 'c', Status: 'published', ...more });

    test('a page number beyond the range of the database shows an empty page', async () => {
      for (const page of ['99999999999999999999', '9223372036854775807', '1e99', '-1', 'x'])
        for (const path of ['/portal/catalogue-products', '/blog'])
          assert.equal((await read(`${path}?page=${page}`)).status, 200, `${path} ${page}`);
    });

    test('a search ignores the case of letters outside of ASCII, in texts and tags', async () => {
      const { url } = await publish({ DisplayName: 'Überweisung 100%', Tags: ['Größe'] });
      for (const text of ['üBERWEIS', 'ÜBERWEISUNG 100%', 'größe', 'GRÖßE'])
        assert.ok((await read(`/search?q=${encodeURIComponent(text)}`)).text.includes(url), text);
      assert.ok((await read(`/portal/catalogue-products?tag=${encodeURIComponent('Größe')}`)).text.includes(url));
      assert.ok(!(await read('/search?q=100_')).text.includes(url));
    });

    test('a search finds words by their beginnings, all of them, and follows changes and removals', async () => {
      const [first, second] = [`w${createPublicId()}`, `w${createPublicId()}`].map(it => it.toLowerCase());
      const { ID, url } = await publish({ Description: `${first}, of <b>${second}</b>` });
      const isFound = async (text: string) =>
        (await read(`/portal/catalogue-products?q=${encodeURIComponent(text)}`)).text.includes(`href="${url}"`);
      for (const text of [first!, second!.slice(0, -2), `${second} ${first!.slice(0, 5)}`, first!.toUpperCase()])
        assert.equal(await isFound(text), true, text);
      for (const text of [first!.slice(2), `${first} unheard`, '%', '_', '"'])
        assert.equal(await isFound(text), false, text);
      await requestPortal(app(), 'PUT', `/portal-api/products/${ID}`, { Description: second });
      assert.deepEqual([await isFound(first!), await isFound(second!)], [false, true]);
      await requestPortal(app(), 'DELETE', `/portal-api/products/${ID}`);
      assert.equal(await isFound(second!), false);
    });

    test('found words are marked in results of the search and the catalogue, as text', async () => {
      const word = `w${createPublicId()}`;
      const { url } = await publish({ DisplayName: `${word} <i>`, Description: `On ${word}s & more`, Tags: [word] });
      const body = document({ Title: `Post ${word}`, Lede: `<b>${word}</b>`, Path: word });
      await ok('POST', '/posts', body, 201);
      for (const path of [`/search?q=${word}`, `/portal/catalogue-products?q=${word.toLowerCase()}`]) {
        const { text } = await read(path);
        assert.ok(text.includes(`<a href="${url}">\n<mark>${word}</mark> &lt;i&gt;</a>`), path);
        assert.ok(text.includes(`On <mark>${word}s</mark> &amp; more`), path);
        assert.ok(text.includes(`#<mark>${word}</mark>`), path);
      }
      const { text } = await read(`/search?q=${word}`);
      assert.ok(text.includes(`Post <mark>${word}</mark>`));
      assert.ok(text.includes(`&lt;b&gt;<mark>${word}</mark>&lt;/b&gt;`));
      assert.doesNotMatch((await read('/portal/catalogue-products')).text, /<mark>/);
    });

    test('the catalogue is a list where the address says so, with the filters kept', async () => {
      const word = `w${createPublicId()}`;
      const { url } = await publish({ DisplayName: word, Description: 'Listed' });
      const list = (await read(`/portal/catalogue-products?q=${word}&view=list`)).text;
      assert.match(list, new RegExp(`<ul class="rows products"><li><div><h2><a href="${url}">`));
      assert.ok(list.includes(`<a href="/portal/catalogue-products?q=${word}">Cards</a>`));
      assert.match(list, /<input type="hidden" name="view" value="list">/);
      const cards = (await read(`/portal/catalogue-products?q=${word}`)).text;
      assert.match(cards, /<ul class="cards"><li class="card product">/);
      assert.ok(cards.includes(`<a href="/portal/catalogue-products?q=${word}&amp;view=list">List</a>`));
    });

    test('a developer finds products by the own access, and credentials and requests on their pages', async () => {
      const word = `w${createPublicId()}`;
      const [own, revoked, waiting, other] = await Promise.all(
        ['own', 'revoked', 'waiting', 'other'].map(name => publish({ DisplayName: `${word} ${name}` })),
      );
      const user = await addSiteDeveloper(app());
      const { ID: appId } = await addApp(app(), { UserID: user.ID, Name: `Shop ${word}` });
      const plan = await addPlan(app(), { DisplayName: 'Gold' });
      const request = async ({ ID }: { ID: number }, ProvisionImmediately: boolean, of = appId) => {
        const body = { PlanID: plan.ID, ProductIDs: [ID], ProvisionImmediately };
        return (await ok('PUT', `/apps/${of}/provision`, body)).AccessRequestID as number;
      };
      await request(own!, true);
      const former = await request(revoked!, true);
      const { Credentials } = await ok('GET', `/access_requests/${former}`);
      await ok('DELETE', `/apps/${appId}/access-requests/${former}/credentials/${Credentials[0].ID}`);
      const waits = await request(waiting!, false);
      await request(other!, true, (await addApp(app())).ID);
      const client = await signedInClient(app(), user);
      const list = async (query: string) => (await client.get(`/portal/catalogue-products?q=${word}${query}`)).text;
      const links = (text: string) => [...text.matchAll(/<h2><a href="([^"]+)">/g)].map(([, url]) => url!).sort();
      assert.deepEqual(links(await list('&access=own')), [own!.url]);
      assert.equal(links(await list('')).length, 4);
      assert.equal((await list('')).match(/You have access/g)?.length, 1);
      const visitor = createSiteClient(app());
      assert.doesNotMatch((await visitor.get('/portal/catalogue-products')).text, /I have access/);
      assert.deepEqual(links((await visitor.get(`/portal/catalogue-products?q=${word}&access=own`)).text), []);
      const expect = async ({ url }: { url: string }, mark: RegExp) => {
        const { status, text } = await client.get(`${url}/my-access`);
        assert.equal(status, 200, text);
        assert.match(text, mark);
        return text;
      };
      const text = await expect(own!, new RegExp(`Shop ${word}</a></strong> <span class="badge success">Active`));
      assert.ok(text.includes(`href="/portal/private/analytics?product=${own!.ID}"`));
      assert.ok(text.includes(`href="/portal/private/apps/${appId}"`) && text.includes('Gold: '));
      await expect(revoked!, /Revoked/);
      await expect(waiting!, /Waits for approval/);
      await ok('PUT', `/access_requests/${waits}/reject?reason=${encodeURIComponent('Not <now>')}`);
      await expect(waiting!, /Rejected.*Not &lt;now&gt;/s);
      await expect(other!, /Your apps have no access to this product/);
      assert.match((await client.get(own!.url)).text, new RegExp(`href="${own!.url}/my-access">My access`));
      assert.doesNotMatch((await visitor.get(own!.url)).text, /my-access/);
      assert.match((await visitor.get(`${own!.url}/my-access`)).location, /^\/auth\/password\/login\?next=/);
      const hidden = await addProduct(app());
      assert.equal((await client.get(`/portal/catalogue-products/${hidden.Path}/my-access`)).status, 404);
    });

    test('a product has the newest published posts with one of its tags', async () => {
      const tag = `t${createPublicId()}`;
      const { url } = await publish({ Tags: [tag] });
      const titles = Array.from({ length: 4 }, (_, place) => `Related ${place} ${tag}`);
      for (const [place, Title] of titles.entries())
        await ok('POST', '/posts', document({ Title, Path: `${tag}${place}`, Tags: [tag] }), 201);
      await ok(
        'POST',
        '/posts',
        document({ Title: `Draft ${tag}`, Path: `${tag}d`, Tags: [tag], Status: 'review' }),
        201,
      );
      const { text } = await read(url);
      assert.deepEqual(
        [...text.matchAll(/>(Related \d)/g)].map(([, title]) => title),
        ['Related 3', 'Related 2', 'Related 1'],
      );
      assert.ok(!text.includes(`Draft ${tag}`));
      assert.doesNotMatch((await read((await publish({})).url)).text, /Related posts/);
    });

    test('a page is at its path also where that is encoded in URLs; a draft is not', async () => {
      const Path = `/über/${createPublicId()}`;
      const page = { Title: 'On us', Path, Template: 'page', Status: 'Published' };
      const { ID } = await ok('POST', '/pages', page);
      for (const path of [Path, encodeURI(Path), `${encodeURI(Path)}/`]) {
        const { status, text } = await read(path);
        assert.equal(status, 200, path);
        assert.match(text, /<h1>On us<\/h1>/);
      }
      assert.match((await read('/')).text, new RegExp(`href="${encodeURI(Path)}"`));
      await ok('PUT', `/pages/${ID}`, { Status: 'Draft' });
      assert.equal((await read(encodeURI(Path))).status, 404);
      for (const path of ['/%00', '/portal/catalogue-products/%00', '/%zz', '/blog/2026/01/01/%00'])
        assert.ok([400, 404].includes((await read(path)).status), path);
    });

    test('the navigation has six pages, the sitemap all published ones', async () => {
      const paths = Array.from({ length: 8 }, (_, place) => `/more-${place}-${createPublicId()}`);
      for (const Path of paths)
        await ok('POST', '/pages', { Title: Path, Path, Template: 'page', Status: 'Published' });
      const navigation = /<nav aria-label="Site">(.*?)<\/nav>/s.exec((await read('/')).text)![1]!;
      assert.equal(navigation.match(/<li>/g)!.length, 2 + 6);
      const sitemap = (await read('/sitemap.xml')).text;
      for (const path of paths) assert.ok(sitemap.includes(`<loc>https://dev.example.org${path}</loc>`), path);
    });

    test('a published guide is shown behind a hundred drafts, which are not', async () => {
      const { ID, url } = await publish({});
      for (let place = 0; place < 100; place++)
        await ok(
          'POST',
          `/products/${ID}/docs`,
          document({ Title: 'Unfinished', Status: 'draft', Path: `d-${place}` }),
          201,
        );
      await ok('POST', `/products/${ID}/docs`, document({ Title: 'Finished', Path: 'last' }), 201);
      assert.match((await read(url)).text, /\/guides"/);
      const guides = await read(`${url}/guides`);
      assert.match(guides.text, /<h2>Finished<\/h2>/);
      assert.doesNotMatch(guides.text, /Unfinished/);
      assert.equal((await read(`${url}/guides/d-1`)).status, 404);
    });

    test('the blog shows a link to the next page without a number of pages', async () => {
      for (let place = 0; place < 11; place++)
        await ok('POST', '/posts', document({ Title: `Post ${place}`, Path: `p-${createPublicId()}` }), 201);
      const [first, second] = [await read('/blog'), await read('/blog?page=2')];
      assert.match(first.text, /<span>Page 1<\/span><a href="\/blog\?page=2" rel="next">/);
      assert.match(second.text, /rel="prev">Previous<\/a>\s*<span>Page 2<\/span><\/nav>/);
    });

    test('a sign-in, a failed one and a sign-out are in the audit log, with the user', async () => {
      const password = 'correct horse battery staple';
      const { ID, Email } = await addDeveloper(app(), { Password: password });
      const form = await read('/auth/password/login');
      const send = async (path: string, cookie: string, fields: Record<string, string>) => {
        const body = new URLSearchParams(fields);
        return read(path, { method: 'POST', headers: { cookie }, body });
      };
      const tokenOf = (text: string) => /name="csrf_token" value="([^"]+)"/.exec(text)![1]!;
      const cookieOf = (headers: Headers) => headers.get('set-cookie')!.split(';')[0]!;
      const signIn = (login: string, secret: string) => {
        const fields = { csrf_token: tokenOf(form.text), login, password: secret };
        return send('/auth/password/login', cookieOf(form.headers), fields);
      };
      const audited = () => readLastAudit(app());
      await signIn(Email, 'wrong');
      assert.deepEqual(await audited(), ['signInToPortal', `portal:${ID}`, '', 401]);
      await signIn('unknown@example.org', password);
      assert.deepEqual(await audited(), ['signInToPortal', '', '', 401]);
      const { headers } = await signIn(Email, password);
      assert.deepEqual(await audited(), ['signInToPortal', `portal:${ID}`, '', 303]);
      const home = await read('/', { headers: { cookie: cookieOf(headers) } });
      await send('/auth/logout', cookieOf(headers), { csrf_token: tokenOf(home.text) });
      assert.deepEqual(await audited(), ['signOutOfPortal', `portal:${ID}`, '', 303]);
    });
  },
  { settings },
);

test('a page that fails with the database is a document of the site without links', async () => {
  const app = await startApp('sqlite');
  try {
    const { db } = app.application.installation.records;
    await db.schema.dropTable('portal_pages').execute();
    const response = await fetch(app.url.portal);
    assert.equal(response.status, 500);
    assert.match(response.headers.get('content-security-policy')!, /^default-src 'none'/);
    assert.match(await response.text(), /<h1>Request failed<\/h1>/);
  } finally {
    await app.close();
  }
});
