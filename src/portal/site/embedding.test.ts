import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SitePageReply, signedInClient } from '../../../tests/support/site-client.ts';
import { formatPostDay } from '../posts/store.ts';

const origins = 'https://www.example.org, http://docs.example:8080';
const framed = 'https://www.example.org http://docs.example:8080';
const catalogue = '/portal/catalogue-products';

const readFrameAncestors = ({ headers }: SitePageReply) =>
  /frame-ancestors ([^;]+)/.exec(headers.get('content-security-policy') ?? '')?.[1];

onEveryEngine('embedded pages of the portal', app => {
  const embed = (value: string | null) =>
    requestPortal(app(), 'PUT', '/portal-api/general-settings', { 'portal.embed_origins': value });
  afterEach(() => embed(null));
  const visit = (path: string) => createSiteClient(app()).get(path);

  test('a public page with embed=1 is for the listed origins, without header and footer', async () => {
    await embed(origins);
    for (const path of ['/?embed=1', '/blog?embed=1', `${catalogue}?page=1&embed=1`]) {
      const page = await visit(path);
      assert.deepEqual([page.status, readFrameAncestors(page)], [200, framed], path);
      assert.doesNotMatch(page.text, /<header|<footer|Skip to content/, path);
      assert.match(page.text, /<main id="content"/, path);
      assert.match(page.text, /name="robots" content="noindex"/, path);
      assert.equal(page.headers.get('set-cookie'), null, path);
    }
    for (const path of ['/blog', '/blog?embed=0', '/blog?embed=1&embed=1', '/missing?embed=1']) {
      const page = await visit(path);
      assert.equal(readFrameAncestors(page), "'none'", path);
      assert.match(page.text, /<header class="site">/, path);
    }
  });

  test('without origins, embed=1 changes nothing', async () => {
    const [plain, embedded] = [await visit('/blog'), await visit('/blog?embed=1')];
    assert.equal(embedded.text, plain.text);
    assert.equal(readFrameAncestors(embedded), "'none'");
  });

  test('private, sign-in and admin pages are framed by no origin, and a private site by none at all', async () => {
    await embed(origins);
    const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
    for (const path of ['/portal/private/apps', '/portal/private/profile', '/auth/password/login', '/admin/general']) {
      const page = await admin.get(`${path}?embed=1`);
      assert.ok(["'none'", undefined].includes(readFrameAncestors(page)), path);
      assert.ok(page.status !== 200 || readFrameAncestors(page) === "'none'", path);
    }
    const general = '/portal-api/general-settings';
    await requestPortal(app(), 'PUT', general, { 'portal.visibility': 'private' });
    try {
      const closed = await admin.get('/blog?embed=1');
      assert.deepEqual([closed.status, readFrameAncestors(closed)], [401, "'none'"]);
    } finally {
      await requestPortal(app(), 'PUT', general, { 'portal.visibility': null });
    }
  });

  test('a signed-in visitor gets the embedded page of signed-out ones', async () => {
    await embed(origins);
    const hidden = await addProduct(app(), { DisplayName: 'For members', Catalogues: [2] });
    const client = await signedInClient(app(), await addSiteDeveloper(app()));
    assert.match((await client.get(catalogue)).text, /For members/);
    assert.doesNotMatch((await client.get(`${catalogue}?embed=1`)).text, /For members/);
    const page = await client.get(`${catalogue}/${hidden.Path}?embed=1`);
    assert.deepEqual([page.status, readFrameAncestors(page)], [404, "'none'"]);
  });

  test('links of an embedded page lead to embedded pages, and to private ones in a new tab', async () => {
    await embed(origins);
    const body = {
      Title: 'Links',
      Path: 'links',
      Status: 'published',
      MarkdownEnabled: true,
      Content: 'c',
      MarkdownContent: `[a](/blog?page=2#x) [b](/portal/private/apps) [c](https://other.example/) [d](#here)`,
    };
    const { CreatedAt } = await requestPortal(app(), 'POST', '/portal-api/posts', body, 201);
    const day = formatPostDay(Date.parse(CreatedAt.replace(' ', 'T')));
    const { text } = await visit(`/blog/${day}/links?embed=1`);
    assert.match(text, /href="\/blog\?page=2&amp;embed=1#x"/);
    assert.match(text, /href="\/portal\/private\/apps"[^>]* target="_blank">/);
    assert.match(text, /href="https:\/\/other\.example\/"[^>]* target="_blank"/);
    assert.match(text, /<a href="#here">/);
    assert.match(
      (await visit(`${catalogue}?embed=1`)).text,
      /<form[^>]*method="get"[^>]*><input type="hidden" name="embed"/,
    );
    assert.equal((await visit('/portal?embed=1')).location, `${catalogue}?embed=1`);
  });
});
