import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const settings = { 'portal.indexing': 'true', 'portal.llms_txt': 'true' };

onEveryEngine(
  'visibility on the pages of the portal',
  app => {
    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);

    /** Objects that differ in their audience; each has a word that occurs nowhere else. */
    async function createObjects() {
      const word = (name: string) => `${name}${createPublicId()}`;
      const product = async (name: string, catalogue: number) => {
        const made = await addProduct(app(), { DisplayName: word(name), Catalogues: [catalogue] });
        return { word: made.DisplayName as string, path: `/portal/catalogue-products/${made.Path}` };
      };
      const page = async (name: string, Status: string) => {
        const made = { word: word(name), path: `/${word('p')}` };
        await ok('POST', '/pages', { Title: made.word, Path: made.path, Template: 'page', Status });
        return made;
      };
      const post = async (name: string, Status: string) => {
        const made = { word: word(name), category: word('c') };
        const body = { Title: made.word, Content: 'c', Status, Path: made.word, Categories: [made.category] };
        const { CreatedAt } = await ok('POST', '/posts', body, 201);
        const path = `/blog/${CreatedAt.slice(0, 10).replaceAll('-', '/')}/${made.word}`;
        return { ...made, path };
      };
      return {
        openProduct: await product('openproduct', 1),
        memberProduct: await product('memberproduct', 2),
        openPage: await page('openpage', 'Published'),
        draftPage: await page('draftpage', 'Draft'),
        openPost: await post('openpost', 'published'),
        draftPost: await post('draftpost', 'review'),
      };
    }

    test('pages, search, category, menu, feed, sitemap and llms.txt show a visitor what is for the visitor alone', async () => {
      const objects = await createObjects();
      const Items = Object.values(objects).map(({ word, path }) => ({ Title: word, Path: path }));
      await ok('POST', '/menus', { Name: 'Header', Path: 'Primary', Items }, 201);
      const developer = await signedInClient(app(), await addSiteDeveloper(app()));
      const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
      const seen: readonly (readonly [string, SiteClient, readonly (keyof typeof objects)[]])[] = [
        ['anonymous', createSiteClient(app()), ['openProduct', 'openPage', 'openPost']],
        ['developer', developer, ['openProduct', 'memberProduct', 'openPage', 'openPost']],
        ['administrator', admin, ['openProduct', 'memberProduct', 'openPage', 'draftPage', 'openPost']],
      ];
      for (const [name, client, visible] of seen) {
        const home = (await client.get('/')).text;
        const menu = /<nav aria-label="Site">(.*?)<\/nav>/s.exec(home)![1]!;
        for (const [kind, { word, path }] of Object.entries(objects)) {
          const isVisible = visible.includes(kind as keyof typeof objects);
          assert.equal((await client.get(path)).status, isVisible ? 200 : 404, `${name} ${kind} page`);
          assert.equal(menu.includes(word), isVisible, `${name} ${kind} menu`);
          const found = (await client.get(`/search?q=${word}`)).text;
          const [, results = ''] = /<main[^>]*>(.*)<\/main>/s.exec(found) ?? [];
          const isFound = results.includes(`href="${path}"`);
          assert.ok(isVisible || !isFound, `${name} ${kind} search`);
          assert.ok(!isVisible || isFound || kind.endsWith('Page'), `${name} ${kind} search`);
        }
        for (const kind of ['openPost', 'draftPost'] as const) {
          const { status } = await client.get(`/blog/category/${objects[kind].category}`);
          assert.equal(status, kind === 'openPost' ? 200 : 404, `${name} ${kind} category`);
        }
        // Files are for crawlers and readers without a session: public content alone, for every visitor.
        const files = { '/feed.xml': ['openPost'], '/sitemap.xml': ['openProduct', 'openPage', 'openPost'] };
        for (const [file, kinds] of Object.entries({ ...files, '/llms.txt': ['openProduct'] })) {
          const { text } = await client.get(file);
          for (const [kind, { path, word }] of Object.entries(objects))
            if (kinds.includes(kind)) assert.ok(text.includes(path) || text.includes(word), `${name} ${kind} ${file}`);
            else if (!kind.startsWith('open'))
              assert.ok(!text.includes(path) && !text.includes(word), `${name} ${kind} ${file}`);
        }
      }
    });
  },
  { settings },
);
