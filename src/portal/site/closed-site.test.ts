import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const word = 'Confidential';
const shared = { 'portal.indexing': 'true', 'portal.llms_txt': 'true', 'portal.try_it': 'all' };
/** Sign-up needs a mail server; none of these tests sends a mail. */
const signUp = {
  'portal.registration': 'open',
  'mail.smtp_url': 'smtp://127.0.0.1:9',
  'mail.from': 'portal@example.org',
};

/** Every kind of address with content, which no closed site may name. */
const contentPaths = [
  '/',
  '/confidential-page',
  '/no-such-page',
  '/portal/catalogue-products',
  '/portal/catalogue-products/confidential',
  '/portal/catalogue-products/confidential/changelog.xml',
  '/blog',
  '/search?q=confidential',
  '/search?q=confidential&format=json',
  '/feed.xml',
  '/sitemap.xml',
  '/llms.txt',
];
const signInPages = ['/auth/password/login', '/auth/password/new'];

for (const [visibility, anonymousStatus] of [
  ['private', 401],
  ['hidden', 404],
] as const)
  onEveryEngine(
    `portal.visibility ${visibility}`,
    app => {
      const write = (path: string, body: unknown, status = 200) =>
        requestPortal(app(), 'POST', `/portal-api${path}`, body, status);
      let created: Promise<unknown> | undefined;
      async function createContent() {
        await addProduct(app(), { Name: 'confidential', DisplayName: `${word} product`, Catalogues: [1] });
        const page = { Title: `${word} page`, Path: '/confidential-page', Template: 'page', Status: 'Published' };
        await write('/pages', page);
        const post = { Title: `${word} post`, Content: word, Status: 'published', Path: 'confidential-post' };
        await write('/posts', post, 201);
      }
      const ensureContent = () => {
        created ??= createContent();
        return created;
      };

      /** Asserts that no address with content opens, each with the same reply. */
      async function assertClosed(client: SiteClient, status: number, text: RegExp) {
        for (const path of contentPaths) {
          const page = await client.get(path);
          assert.equal(page.status, status, path);
          assert.match(page.text, text, path);
          assert.ok(!page.text.includes(word), `${path} names content`);
          assert.doesNotMatch(page.text, /href="\/(?:feed\.xml|blog|portal\/catalogue-products)"|role="search"/, path);
        }
        const refused = await client.get('/portal/private/api/search?q=confidential');
        assert.deepEqual([refused.status, Object.keys(JSON.parse(refused.text))], [status, ['errors']]);
        const tried = await client.post('/portal/private/api/try', {});
        assert.equal(tried.status, status, 'try-it');
      }

      test('a signed-out visitor opens no address with content, and can sign in', async () => {
        await ensureContent();
        const visitor = createSiteClient(app());
        await assertClosed(visitor, anonymousStatus, /This portal is (?:private|disabled)/);
        for (const path of signInPages) {
          const page = await visitor.get(path);
          assert.equal(page.status, 200, path);
          assert.match(page.text, /name="robots" content="noindex"/);
          assert.ok(!page.text.includes(word), path);
        }
        const callback = await visitor.get('/portal/private/api/try/sign-in/callback?code=a&state=b');
        assert.deepEqual([callback.status, /The sign-in has expired/.test(callback.text)], [422, true]);
        assert.equal((await visitor.get('/robots.txt')).text, 'User-agent: *\nDisallow: /\n');
        const registration = await visitor.get('/auth/password/register');
        assert.equal(registration.status, visibility === 'hidden' ? 404 : 200);
        const apps = await visitor.get('/portal/private/apps');
        if (visibility === 'hidden') assert.equal(apps.status, 404);
        else assert.match(apps.location ?? '', /^\/auth\/password\/login\?next=/);
      });

      test('a developer opens a private site and no hidden one', async () => {
        await ensureContent();
        const developer = await signedInClient(app(), await addSiteDeveloper(app()));
        if (visibility === 'hidden') {
          await assertClosed(developer, 404, /This portal is disabled/);
          assert.equal((await developer.get('/portal/private/apps')).status, 404);
          return;
        }
        for (const path of contentPaths.filter(it => !['/no-such-page', '/sitemap.xml'].includes(it)))
          assert.equal((await developer.get(path)).status, 200, path);
        assert.equal((await developer.get('/sitemap.xml')).status, 404, 'nothing is indexed');
        assert.match((await developer.get('/')).text, /name="robots" content="noindex"/);
        assert.equal((await developer.get('/portal/private/apps')).status, 200);
      });

      test('an administrator opens every page', async () => {
        await ensureContent();
        const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
        const page = await admin.get('/portal/catalogue-products/confidential');
        assert.deepEqual([page.status, page.text.includes(word)], [200, true]);
        assert.equal((await admin.get('/portal/private/profile')).status, 200);
      });

      test('terms of the site open on a private site alone, those of a product on none', async () => {
        await ensureContent();
        const visitor = createSiteClient(app());
        const product = await addProduct(app(), { Catalogues: [1] });
        const terms = { Version: 'product-1', Content: word, ProductID: product.ID, Published: true };
        await write('/terms', terms, 201);
        const ofProduct = await visitor.get('/portal/terms/product-1');
        assert.deepEqual([ofProduct.status, ofProduct.text.includes(word)], [404, false]);
        await write('/terms', { Version: 'site-1', Content: 'Be kind', Published: true }, 201);
        assert.equal((await visitor.get('/portal/terms')).status, visibility === 'private' ? 200 : 404);
      });
    },
    { settings: { ...shared, ...signUp, 'portal.visibility': visibility } },
  );
