import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../../../tests/support/app.ts';
import { addApi, addDeveloper, addProduct, requestPortal, toFileForm } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

const document = { openapi: '3.0.3', info: {}, paths: { '/orders': { get: { operationId: 'list', responses: {} } } } };

/** A product with one API and its reference. */
async function offer(app: TestApp, name: string, api: Record<string, unknown>) {
  const APIID = await addApi(app, name, api);
  const product = await addProduct(app, { APIDetails: [{ APIID }], Catalogues: [1] });
  const path = `/portal-api/products/${product.ID}/api-details/${APIID}/oas`;
  assert.ok((await app.ask('POST', path, { body: toFileForm(JSON.stringify(document)) })).status < 300);
  await waitUntilApplied(app);
  const url = `/portal/catalogue-products/${product.Path}/${APIID}/docs/list`;
  return { url, fields: { product: product.Path as string, api: APIID, operation: 'list', format: 'json' } };
}

describe('portal.try_it', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());
  const keyless = (name: string) => ({
    use_standard_auth: false,
    use_keyless: true,
    proxy: { listen_path: `/${name}/`, target_url: upstream.url },
  });

  test('with all, signed-out visitors call APIs without credentials, and no others', async () => {
    const app = await startApp('sqlite', { settings: { 'portal.try_it': 'all' } });
    try {
      const open = await offer(app, 'open', keyless('open'));
      const locked = await offer(app, 'locked', {});
      const client = createSiteClient(app);
      assert.match((await client.get(open.url)).text, /Send request/);
      const reply = await client.post('/portal/private/api/try', open.fields);
      assert.equal(JSON.parse(reply.text).result.status, 200, reply.text);
      assert.match((await client.get(locked.url)).text, /Sign in<\/a> to call/);
      assert.equal((await client.post('/portal/private/api/try', locked.fields)).status, 404);
    } finally {
      await app.close();
    }
  });

  test('a developer makes no calls before the terms in force are accepted', async () => {
    const app = await startApp('sqlite');
    try {
      const { url, fields } = await offer(app, 'open', keyless('open'));
      const user = await addDeveloper(app, { Password: sitePassword });
      const client = await signedInClient(app, user);
      await client.get(url);
      const send = async () => JSON.parse((await client.post('/portal/private/api/try', fields)).text);
      assert.equal((await send()).result.status, 200);
      const terms = await requestPortal(app, 'POST', '/portal-api/terms', { Version: '1', Content: 'Be fair.' }, 201);
      await requestPortal(app, 'PUT', `/portal-api/terms/${terms.ID}`, { Published: true });
      assert.match((await send()).error, /Accept the new terms of use first/);
      await client.get('/portal/private/terms');
      await client.post('/portal/private/terms', { terms: String(terms.ID) });
      assert.equal((await send()).result.status, 200);
    } finally {
      await app.close();
    }
  });

  test('with off, there is no form and no call', async () => {
    const app = await startApp('sqlite', { settings: { 'portal.try_it': 'off' } });
    try {
      const { url, fields } = await offer(app, 'open', keyless('open'));
      const client = createSiteClient(app);
      assert.doesNotMatch((await client.get(url)).text, /Try it/);
      await client.get('/auth/password/login');
      assert.equal((await client.post('/portal/private/api/try', fields)).status, 404);
    } finally {
      await app.close();
    }
  });
});
