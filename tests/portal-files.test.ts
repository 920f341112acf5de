import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { addProduct, requestPortal } from './support/portal.ts';

async function withSite(settings: Record<string, string>, use: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await startApp('sqlite', { settings });
  try {
    const shown = await addProduct(app, { Name: 'shown', DisplayName: 'Shown [one]', Description: 'For all' });
    const secret = await addProduct(app, { Name: 'unseen', DisplayName: 'Unseen' });
    await requestPortal(app, 'PUT', '/portal-api/catalogues/1', { Products: [shown.ID] });
    await requestPortal(app, 'PUT', '/portal-api/catalogues/2', { Products: [secret.ID] });
    const post = { Title: 'A <post>', Content: 'x', Status: 'published', Path: 'a-post' };
    await requestPortal(app, 'POST', '/portal-api/posts', post, 201);
    await use(app);
  } finally {
    await app.close();
  }
}

const read = async (app: TestApp, path: string) => {
  const response = await fetch(app.url.portal + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

describe('Files of the portal for crawlers', () => {
  test('without portal.indexing and portal.llms_txt, crawlers are refused and there is no sitemap', async () => {
    await withSite({}, async app => {
      assert.equal((await read(app, '/robots.txt')).text, 'User-agent: *\nDisallow: /\n');
      assert.equal((await read(app, '/sitemap.xml')).status, 404);
      assert.equal((await read(app, '/llms.txt')).status, 404);
      assert.match((await read(app, '/')).text, /<meta name="robots" content="noindex">/);
    });
  });

  test('portal.indexing and portal.llms_txt list public content, with the addresses of portal.url', async () => {
    const settings = { 'portal.indexing': 'true', 'portal.llms_txt': 'true', 'portal.url': 'https://dev.example.org/' };
    await withSite(settings, async app => {
      assert.match((await read(app, '/robots.txt')).text, /Sitemap: https:\/\/dev\.example\.org\/sitemap\.xml/);
      const sitemap = await read(app, '/sitemap.xml');
      assert.match(sitemap.text, /<loc>https:\/\/dev\.example\.org\/portal\/catalogue-products\/shown<\/loc>/);
      const agents = await read(app, '/llms.txt');
      assert.match(agents.text, /- \[Shown \\\[one\\\]\]\(https:\/\/dev\.example\.org\/portal\/.*\/shown\): For all/);
      const feed = await read(app, '/feed.xml');
      assert.equal(feed.type, 'application/atom+xml; charset=utf-8');
      assert.match(feed.text, /<title>A &lt;post&gt;<\/title><link href="https:\/\/dev\.example\.org\/blog\/\d{4}\//);
      for (const { text } of [sitemap, agents, feed]) assert.doesNotMatch(text, /unseen/i);
      assert.doesNotMatch((await read(app, '/')).text, /name="robots"/);
      assert.match((await read(app, '/search?q=shown')).text, /name="robots" content="noindex"/);
      assert.doesNotMatch((await read(app, '/search?q=unseen')).text, /Unseen/);
    });
  });
});
