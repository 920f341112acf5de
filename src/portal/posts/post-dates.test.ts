import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPortalTime } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const dayMs = 86_400_000;
const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '/');

onEveryEngine(
  'dates and images of posts',
  app => {
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);
    const addPost = (more: object) => {
      const Path = `post${createPublicId()}`;
      return ok('POST', '/posts', { Title: Path, Content: 'c', Status: 'published', Path, ...more }, 201);
    };
    const readDate = (text: string) => new Date(text.replace(' ', 'T')).getTime();
    const toUrl = ({ PublishAt, CreatedAt, Path }: { PublishAt: string; CreatedAt: string; Path: string }) =>
      `/blog/${toDay(readDate(PublishAt || CreatedAt))}/${Path}`;
    const upload = async (id: string, bytes: Uint8Array<ArrayBuffer> = new Uint8Array(png)) =>
      app().ask('POST', `/portal-api/posts/${id}/image`, { body: toFileForm(bytes) });

    test('a published post with a time to come is nowhere on the site until then', async () => {
      const nowMs = app().application.installation.services.clock.now();
      const [category, tag] = [createPublicId(), createPublicId()];
      const labels = { Categories: [category], Tags: [tag] };
      const product = await addProduct(app(), { Catalogues: [1] });
      await ok('POST', `/products/${product.ID}/tags`, { Name: tag }, 201);
      const post = await addPost({ ...labels, PublishAt: formatPortalTime(nowMs + 2 * dayMs) });
      await upload(post.ID);
      await ok('POST', '/menus', { Name: 'Header', Path: 'Primary', Items: [{ Title: 'P', Path: toUrl(post) }] }, 201);
      const developer = await signedInClient(app(), await addSiteDeveloper(app()));
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      const places = [
        '/',
        '/blog',
        `/search?q=${post.Path}`,
        '/feed.xml',
        '/sitemap.xml',
        `/portal/catalogue-products/${product.Path}`,
        `/blog/category/${category}`,
      ];
      const listPlaces = async (client: SiteClient, path: string) => {
        const found = [];
        // The text of a search is on its page.
        for (const place of places) if ((await client.get(place)).text.includes(`/${path}`)) found.push(place);
        return found;
      };
      for (const client of [createSiteClient(app()), developer, admin]) {
        assert.deepEqual(await listPlaces(client, post.Path), []);
        for (const path of ['', '/image'])
          assert.equal((await client.get(toUrl(post) + path)).status, 404, 'its address');
      }
      assert.equal(post.IsPublic, false);
      const change = { Title: post.Title, Status: 'published', PublishAt: formatPortalTime(nowMs - dayMs) };
      const due = await ok('PUT', `/posts/${post.ID}`, change);
      assert.deepEqual([due.IsPublic, due.PublishAt], [true, change.PublishAt]);
      assert.deepEqual(
        await listPlaces(createSiteClient(app()), `${toDay(nowMs - dayMs)}/${post.Path}`),
        places,
        'the address of the post has the day of its date',
      );
      assert.equal((await createSiteClient(app()).get(toUrl(due))).status, 200);
      const image = await createSiteClient(app()).get(`${toUrl(due)}/image`);
      assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/png']);
      const { text } = await createSiteClient(app()).get('/feed.xml');
      assert.ok(text.includes(`<published>${new Date(readDate(due.PublishAt)).toISOString()}</published>`), text);
    });

    test('the blog is ordered by the dates of posts, and an empty date is the time of creation', async () => {
      const nowMs = app().application.installation.services.clock.now();
      const older = await addPost({ PublishAt: formatPortalTime(nowMs - 30 * dayMs) });
      const newer = await addPost({ PublishAt: formatPortalTime(nowMs - 20 * dayMs) });
      const list = async () => {
        const { text } = await createSiteClient(app()).get('/blog');
        return [...text.matchAll(/href="\/blog\/\d+\/\d+\/\d+\/([^"]+)"/g)].map(([, path]) => path);
      };
      const isBefore = async (a: { Path: string }, b: { Path: string }) => {
        const paths = await list();
        return paths.includes(b.Path) && paths.indexOf(a.Path) < paths.indexOf(b.Path);
      };
      assert.equal(await isBefore(newer, older), true);
      const kept = await ok('PUT', `/posts/${older.ID}`, { Title: 'Kept', Status: 'published' });
      assert.equal(kept.PublishAt, older.PublishAt);
      const { PublishAt } = await ok('PUT', `/posts/${older.ID}`, {
        ...{ Title: 'Moved', Status: 'published', PublishAt: '' },
      });
      assert.equal(PublishAt, '');
      assert.equal(await isBefore(older, newer), true);
    });

    test('the image of a post is checked, shown in list and post, replaced and deleted with it', async () => {
      const post = await addPost({});
      const path = `/portal-api/posts/${post.ID}/image`;
      assert.equal((await app().ask('GET', path)).status, 400);
      assert.equal((await app().ask('DELETE', path)).status, 400);
      for (const bytes of [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), png.subarray(0, 20)])
        assert.equal((await upload(post.ID, new Uint8Array(bytes))).status, 400);
      const large = Buffer.from(png);
      large.writeUInt32BE(5000, 16);
      assert.match((await upload(post.ID, new Uint8Array(large))).text, /5000 × 1 pixels: at most 4096/);
      assert.equal((await upload('999999')).status, 422);
      assert.equal((await upload(post.ID)).status, 200);
      assert.equal((await ok('GET', `/posts/${post.ID}`)).Image, path);
      const row = (await ok('GET', '/posts?per_page=1'))[0];
      assert.equal(row.Image, path);
      const site = createSiteClient(app());
      const url = toUrl(post);
      for (const page of ['/blog', url])
        assert.match((await site.get(page)).text, new RegExp(`<img[^>]* src="${url}/image"`));
      const { headers, status } = await site.get(`${url}/image`);
      assert.deepEqual(
        [status, headers.get('content-type'), headers.get('x-content-type-options'), headers.get('cache-control')],
        [200, 'image/png', 'nosniff', 'no-store'],
      );
      assert.match(headers.get('content-security-policy')!, /^default-src 'none'; sandbox$/);
      assert.equal((await app().ask('GET', path)).status, 200);
      assert.equal((await app().ask('DELETE', path)).status, 200);
      assert.equal((await site.get(`${url}/image`)).status, 404);
      assert.equal((await app().ask('GET', '/portal-api/posts/999999/image')).status, 404);
      assert.equal((await app().ask('DELETE', '/portal-api/posts/999999/image')).status, 404);
      await upload(post.ID);
      await ok('DELETE', `/posts/${post.ID}`);
      const { portal } = app().application.installation.services;
      assert.deepEqual(await portal.files.listSlots(`posts/${post.ID}`), []);
    });

    test('administrators preview a post in review with its image, and no other visitor does', async () => {
      const post = await addPost({ Status: 'review' });
      await upload(post.ID);
      const url = `/portal/private/posts/${post.ID}`;
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      const page = await admin.get(url);
      assert.equal(page.status, 200);
      assert.match(page.text, /A preview: only administrators of the portal see it/);
      assert.match(page.text, /content="noindex"/);
      assert.equal((await admin.get(`${url}/image`)).status, 200);
      assert.equal((await admin.get('/portal/private/posts/x')).status, 404);
      const developer = await signedInClient(app(), await addSiteDeveloper(app()));
      for (const path of [url, `${url}/image`]) {
        assert.equal((await developer.get(path)).status, 404);
        assert.match((await createSiteClient(app()).get(path)).location, /^\/auth\/password\/login/);
      }
    });
  },
  { settings: { 'portal.indexing': 'true' } },
);
