import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

describe('Endpoints, trial and history of an API', () => {
  const dashboard = testDashboard();
  const seen: string[] = [];
  const upstream = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end(`upstream ${request.url}`);
  });
  let upstreamUrl = '';
  let admin: Person;
  before(async () => {
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    upstream.unref();
    upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
  });
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  const create = async (id: string, isProtected = false) => {
    const scheme = { authToken: { type: 'apiKey', in: 'header', name: 'Authorization' } };
    const authentication = {
      enabled: true,
      securitySchemes: { authToken: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
    };
    const document = {
      openapi: '3.0.3',
      info: { title: id, version: '1.0.0' },
      ...(isProtected ? { components: { securitySchemes: scheme }, security: [{ authToken: [] }] } : {}),
      paths: {
        '/items': { get: { operationId: 'list', responses: { 200: { description: 'x' } } } },
        '/items/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          get: { operationId: 'read', responses: { 200: { description: 'x' } } },
          delete: { operationId: 'remove', responses: { 204: { description: 'x' } } },
        },
      },
      'x-gw-api-gateway': {
        info: { id, name: id, state: { active: true } },
        server: { listenPath: { value: `/${id}/`, strip: true }, ...(isProtected ? { authentication } : {}) },
        upstream: { url: upstreamUrl },
      },
    };
    const created = await dashboard.app().ask('POST', '/api/apis/oas?wait=applied', { body: document });
    assert.equal(created.status, 200, JSON.stringify(created.body));
  };

  test('a mock and a rewrite of the endpoint form answer at the gateway, and the filter lists their endpoints', async () => {
    await create('lane');
    const page = await dashboard.openAs(admin, '/apis/lane/endpoints?endpoint=list');
    const addMiddleware = async (name: string) => {
      await page.getByRole('button', { name: 'Add middleware' }).click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await addMiddleware('Mock response');
    const mock = page.getByRole('region', { name: 'Mock response' }).first();
    await mock.getByLabel('Body', { exact: true }).fill('{"mocked":true}');
    await page.getByRole('button', { name: 'GET /items/{id}' }).click();
    await page.getByRole('heading', { name: '/items/{id}' }).waitFor();
    await addMiddleware('URL rewrite');
    await page.getByLabel('Pattern').fill('/items/(.*)');
    await page.getByLabel('Rewrite to').first().fill('/other/$1');
    await page.getByText('The definition is valid').waitFor();
    await page.getByText('Test with unsaved changes').click();
    await page.getByLabel('Sample path').fill('/items/9');
    await page.getByRole('button', { name: 'Run test' }).click();
    const result = page.getByRole('region', { name: 'Result of the test' });
    await result.getByText(`GET ${upstreamUrl}/other/9`, { exact: true }).waitFor();
    await result.getByText('Status 200', { exact: true }).waitFor();
    assert.deepEqual(seen, ['/other/9']);
    await assertAccessible(page, 'endpoint with middleware');
    await page.getByRole('button', { name: 'Review and save' }).click();
    const review = page.getByRole('dialog', { name: 'Review changes' });
    await review.getByLabel('Note (optional)').fill('Naïve – but fast');
    await review.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API lane saved. Live on all traffic threads').waitFor();
    const { body: history } = await dashboard.app().ask('GET', '/api/revisions/apis/lane');
    assert.equal(history.revisions[0].note, 'Naïve – but fast');
    const { gateway } = dashboard.app().url;
    seen.length = 0;
    assert.equal(await (await fetch(`${gateway}/lane/items`)).text(), '{"mocked":true}');
    assert.deepEqual(seen, []);
    assert.equal(await (await fetch(`${gateway}/lane/items/7`)).text(), 'upstream /other/7');
    await page.getByRole('combobox', { name: 'Any middleware' }).selectOption('Mock response');
    const list = page.getByRole('navigation', { name: 'Endpoints' });
    await list.getByRole('button').nth(1).waitFor({ state: 'detached' });
    assert.match((await list.getByRole('button').textContent()) ?? '', /^GET\/items1 rule$/);
  });

  test('text, method and middleware narrow seven endpoints to exactly those that match', async () => {
    const block = { enabled: true };
    const responses = { 200: { description: 'x' } };
    const path = (name: string, ...methods: string[]) =>
      Object.fromEntries(methods.map(method => [method, { operationId: `${method}-${name}`, responses }]));
    const document = {
      openapi: '3.0.3',
      info: { title: 'seven', version: '1.0.0' },
      paths: {
        '/orders': path('orders', 'get', 'post'),
        '/items': path('items', 'get', 'put', 'delete'),
        '/orders/open': path('open', 'get', 'head'),
      },
      'x-gw-api-gateway': {
        info: { id: 'seven', name: 'seven', state: { active: true } },
        server: { listenPath: { value: '/seven/', strip: true } },
        upstream: { url: upstreamUrl },
        middleware: { operations: { 'get-orders': { block }, 'put-items': { block } } },
      },
    };
    const created = await dashboard.app().ask('POST', '/api/apis/oas?wait=applied', { body: document });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const page = await dashboard.openAs(admin, '/apis/seven/endpoints');
    const entries = page.getByRole('navigation', { name: 'Endpoints' }).getByRole('button');
    const waitForEntries = async (...names: string[]) => {
      await entries.nth(names.length).waitFor({ state: 'detached' });
      const shown = (await entries.allTextContents()).map(it => it.replace(/\d+ rules?$/, ''));
      assert.deepEqual(shown.sort(), names.sort());
    };
    await entries.nth(6).waitFor();
    await page.getByRole('searchbox').fill('orders');
    await page.waitForURL(/q=orders/);
    await waitForEntries('GET/orders', 'POST/orders', 'GET/orders/open', 'HEAD/orders/open');
    await page.getByRole('combobox', { name: 'Any method' }).selectOption('GET');
    await waitForEntries('GET/orders', 'GET/orders/open');
    await page.getByRole('combobox', { name: 'Any middleware' }).selectOption('Block');
    await waitForEntries('GET/orders');
    await page.reload();
    await entries.first().waitFor();
    await waitForEntries('GET/orders');
  });

  test('an added endpoint is part of the document, a removed one is not', async () => {
    await create('grown');
    const page = await dashboard.openAs(admin, '/apis/grown/endpoints');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add endpoint' });
    await dialog.getByLabel('Path').fill('/items');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByText('GET /items exists already').waitFor();
    await dialog.getByLabel('Path').fill('/orders/{id}');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('heading', { name: '/orders/{id}' }).waitFor();
    await page.getByRole('button', { name: 'DELETE /items/{id}' }).click();
    await page.getByRole('button', { name: 'Remove DELETE /items/{id}' }).click();
    await page.getByText('The definition is valid').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API grown saved').waitFor();
    const { paths } = (await dashboard.app().ask('GET', '/api/apis/oas/grown')).body;
    assert.deepEqual(Object.keys(paths['/items/{id}']), ['parameters', 'get']);
    assert.deepEqual(Object.keys(paths['/orders/{id}']), ['get']);
  });

  test('a refused request opens the refusing step, whose link leads to its setting; a credential stays in its field', async () => {
    await create('tried', true);
    const rights = { tried: { api_id: 'tried', api_name: 'tried', versions: ['Default'] } };
    const key = (await dashboard.app().ask('POST', '/api/keys?wait=applied', { body: { access_rights: rights } })).body;
    const page = await dashboard.openAs(admin, '/apis/tried/try?method=GET&path=/items');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 401').waitFor();
    const refusing = page.locator('details[open]');
    await refusing.getByRole('link', { name: 'Change this setting' }).waitFor();
    await assertAccessible(page, 'explained refusal');
    await page.getByLabel('Authorization').fill(key.key_id);
    await page.keyboard.press('Control+Enter');
    await page.getByText('Status 200').waitFor();
    await page.getByText('upstream /items').waitFor();
    await page.getByRole('tab', { name: 'Snippets' }).click();
    await page.getByText('YOUR-KEY').first().waitFor();
    assert.ok(!(await page.locator('main').innerText()).includes(key.key_id), 'the key is in its field only');
    assert.ok(
      !(await page.evaluate('JSON.stringify({...localStorage, ...sessionStorage})'))!.toString().includes(key.key_id),
    );
    await page.getByLabel('Authorization').fill('');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.locator('details[open]').getByRole('link', { name: 'Change this setting' }).click();
    await page.waitForURL(/settings\?section=authentication/);
    await page.getByText('Require authentication').waitFor();
  });

  test('two revisions are compared by member, and a restored one is a new revision that is served', async () => {
    await create('dated');
    const { ask, url } = dashboard.app();
    const document = (await ask('GET', '/api/apis/oas/dated')).body;
    document['x-gw-api-gateway'].server.listenPath.value = '/moved/';
    const headers = { 'x-gw-change-note': encodeURIComponent('INC-17: another path – for now') };
    await ask('PUT', '/api/apis/oas/dated?wait=applied', { body: document, headers });
    const page = await dashboard.openAs(admin, '/apis/dated/history');
    await page.getByRole('checkbox', { name: 'Select revision 1' }).check();
    await page.getByRole('checkbox', { name: 'Select revision 2' }).check();
    await page.getByRole('button', { name: 'Compare the two' }).click();
    await page.waitForURL(/from=1&to=2/);
    const changes = page.getByRole('list', { name: 'Changed fields' });
    await changes.getByText(/listenPath\/value$/).waitFor();
    await page.getByText('INC-17: another path – for now').waitFor();
    await assertAccessible(page, 'comparison of revisions');
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.getByRole('button', { name: 'Actions for revision 2' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export' }).click();
    assert.equal((await saved).suggestedFilename(), 'dated-revision-2.json');
    await page.getByRole('button', { name: 'Actions for revision 1' }).click();
    await page.getByRole('menuitem', { name: 'Restore' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Restore revision 1?' });
    await dialog.getByText('"/dated/"').first().waitFor();
    await dialog.getByRole('button', { name: 'Restore revision 1' }).click();
    await page.getByText('Revision 1 restored. Live on all traffic threads').waitFor();
    await page.getByRole('checkbox', { name: 'Select revision 3' }).waitFor();
    assert.equal(await (await fetch(`${url.gateway}/dated/x`)).text(), 'upstream /x');
  });
});
