import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { addDeveloper, addProduct, requestPortal } from '../../../tests/support/portal.ts';

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
