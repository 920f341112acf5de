import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { createZip } from '../support/zip.ts';

describe('Import, versions and consumers of APIs', () => {
  const dashboard = testDashboard();
  let described: Buffer | undefined;
  const upstream = createServer((request, response) =>
    response.end(request.url === '/description' ? described : `upstream ${request.url}`),
  );
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

  const toYaml = (paths: string) => `openapi: 3.0.3
info: { title: Pets, version: 1.0.0 }
servers: [{ url: '${upstreamUrl}' }]
paths:
${paths}`;
  const pets = `  /pets:
    get:
      operationId: listPets
      responses:
        '200':
          description: Pets
          content: { application/json: { example: [{ name: Rex }] } }
`;
  const owners = `  /owners:
    get:
      operationId: listOwners
      responses: { '200': { description: Owners } }
`;

  test('a YAML document becomes the previewed API, a broken one is refused in place, and a newer one updates it', async () => {
    const page = await dashboard.openAs(admin, '/apis/import');
    const text = page.getByLabel('Description');
    await text.fill('openapi: 3.0.3\ninfo: [broken');
    await page.getByRole('button', { name: 'Check description' }).click();
    await page
      .getByRole('alert')
      .getByText(/it is not YAML at character 28 \(line 2\)/)
      .waitFor();
    assert.deepEqual((await dashboard.app().ask('GET', '/api/apis')).body.apis, [], 'nothing is created');
    await text.fill(toYaml('  /pets:\n    get:\n      responses: none\n'));
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByRole('alert').getByText('/paths/~1pets/get/responses (line 7): must be an object').waitFor();
    assert.deepEqual((await dashboard.app().ask('GET', '/api/apis')).body.apis, [], 'nothing is created');
    const dropped = await page.evaluateHandle(
      `(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(toYaml(pets))}], 'pets.yaml'));
        return data;
      })()`,
    );
    await page.getByRole('region', { name: 'Source' }).dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByRole('heading', { name: 'Pets (openapi)' }).waitFor();
    assert.equal(await page.getByLabel('Listen path').inputValue(), '/pets/');
    assert.equal(await page.getByLabel('Upstream URL').inputValue(), upstreamUrl);
    await page.getByRole('switch', { name: 'Reply with mocks' }).check();
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByRole('row', { name: /GET \/pets Mock response/ }).waitFor();
    await assertAccessible(page, 'preview of an import');
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('API Pets created. Live on all traffic threads').waitFor();
    await page.getByRole('heading', { name: '/pets' }).waitFor();
    const { gateway } = dashboard.app().url;
    assert.deepEqual(await (await fetch(`${gateway}/pets/pets`)).json(), [{ name: 'Rex' }]);

    const id = new URL(page.url()).pathname.split('/')[2];
    const archive = {
      openapi: '3.0.3',
      info: { title: 'Pets archive', version: '1.0.0' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: 'Pets archive', state: { active: true } },
        server: { listenPath: { value: '/archive/' } },
        upstream: { url: upstreamUrl },
      },
    };
    assert.equal((await dashboard.app().ask('POST', '/api/apis/oas', { body: archive })).status, 200);
    await page.goto(`${dashboard.app().url.dashboard}/apis/import`);
    await page.getByLabel('Description').fill(toYaml(pets + owners));
    await page.getByRole('button', { name: 'Check description' }).click();
    const targets = page.getByLabel('Store as').locator('option');
    await targets.nth(1).waitFor({ state: 'attached' });
    assert.deepEqual(await targets.allTextContents(), ['New API', 'Update of Pets (/pets/)']);
    await page.getByLabel('Store as').selectOption({ label: 'Update of Pets (/pets/)' });
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByText('1 added').waitFor();
    await page.getByText('0 changed').waitFor();
    await page.getByText('0 removed').waitFor();
    await page.getByRole('button', { name: 'Update API' }).click();
    await page.getByText('API Pets updated. Live on all traffic threads').waitFor();
    assert.equal(new URL(page.url()).pathname, `/apis/${id}/endpoints`);
    assert.deepEqual(await (await fetch(`${gateway}/pets/pets`)).json(), [{ name: 'Rex' }], 'the mock stays');
    assert.equal(await (await fetch(`${gateway}/pets/owners`)).text(), 'upstream /owners');

    const rights = { [id!]: { api_id: id, api_name: 'Pets', versions: ['Default'] } };
    await dashboard
      .app()
      .ask('POST', '/api/portal/policies', { body: { id: 'keepers', name: 'Keepers', access_rights: rights } });
    await page.goto(`${dashboard.app().url.dashboard}/apis/import`);
    await page.getByLabel('Description').fill(toYaml(owners.replace('description: Owners', 'description: All owners')));
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByLabel('Store as').selectOption({ label: 'Update of Pets (/pets/)' });
    await page.getByRole('button', { name: 'Preview import' }).click();
    const removed = page.getByRole('list', { name: 'Removed operations and their middleware' });
    await removed.getByText('GET /pets').waitFor();
    await removed.getByText('Mock response').waitFor();
    await page.getByText('1 changed GET /owners').waitFor();
    await page.getByText('Policies and keys keep their access to the API').waitFor();
    await page.getByRole('button', { name: 'Update API' }).click();
    await page.getByText('API Pets updated. Live on all traffic threads').waitFor();
    assert.equal(await (await fetch(`${gateway}/pets/pets`)).text(), 'upstream /pets', 'the mock is gone');
    const { body: policy } = await dashboard.app().ask('GET', '/api/portal/policies/keepers');
    assert.deepEqual(Object.keys(policy.access_rights), [id], 'the policy keeps its access');
  });

  test('a cURL command becomes an endpoint, and a taken listen path is named before the write', async () => {
    const proxy = { listen_path: '/taken/', target_url: upstreamUrl };
    await dashboard
      .app()
      .ask('POST', '/api/apis', { body: { api_definition: { name: 'Taken', use_keyless: true, proxy } } });
    const page = await dashboard.openAs(admin, '/apis/import');
    await page.getByLabel('Description').fill(`curl -X POST '${upstreamUrl}/orders' -H 'x-a: b' -d '{"a":1}'`);
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByLabel('Listen path').fill('/taken/');
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page
      .getByRole('alert')
      .getByText(/listen ?path/i)
      .first()
      .waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create API' }).isDisabled(), true);
    await page.getByLabel('Listen path').fill('/recorded/');
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByRole('row', { name: /POST \/orders/ }).waitFor();
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('Live on all traffic threads').waitFor();
    const response = await fetch(`${dashboard.app().url.gateway}/recorded/orders`, { method: 'POST', body: '{}' });
    assert.equal(await response.text(), 'upstream /orders');
    await page.getByRole('link', { name: 'Try endpoint' }).click();
    assert.equal(await page.getByLabel('Path', { exact: true }).inputValue(), '/orders');
    assert.match(await page.getByLabel('Headers').inputValue(), /^Content-Type: application\/json\nx-a: /);
    assert.deepEqual(JSON.parse(await page.getByLabel('Body').inputValue()), { a: 1 });
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 200').waitFor();
    await page.getByText('upstream /orders').waitFor();
    await page.getByRole('tab', { name: 'Timing' }).click();
    await page.getByText('Steps before the upstream').waitFor();
    await page.getByRole('tab', { name: 'Sent upstream' }).click();
    await page.getByText(`POST ${upstreamUrl}/orders`).waitFor();
    await page.getByLabel('Path', { exact: true }).fill('/orders?size=1&api_key=planted');
    await page.getByRole('textbox', { name: 'Headers' }).fill('X-Token: planted\nX-Own: b');
    await page.getByLabel('Body').fill('{"a":2}');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Last 2 requests').click();
    await assertAccessible(page, 'last requests');
    await page.getByLabel('Body').fill('');
    await page.getByRole('button', { name: 'POST /orders?size=1', exact: true }).click();
    assert.equal(await page.getByLabel('Path', { exact: true }).inputValue(), '/orders?size=1');
    assert.equal(await page.getByRole('textbox', { name: 'Headers' }).inputValue(), 'X-Own: b');
    assert.equal(await page.getByLabel('Body').inputValue(), '{"a":2}');
  });

  test('a description is fetched from its address, or bundled from the files of an archive', async () => {
    const main = toYaml("  /herds: { $ref: 'paths/herds.yaml' }\n").replace('title: Pets', 'title: Herds');
    const herds = "get: { operationId: listHerds, responses: { '200': { description: Herds } } }";
    const archive = createZip([
      { name: 'openapi.yaml', content: main },
      { name: 'paths/herds.yaml', content: herds },
    ]);
    const page = await dashboard.openAs(admin, '/apis/import');
    const url = page.getByLabel('Source URL');
    await url.fill('http://169.254.169.254/latest');
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByRole('alert').getByText('Requests to 169.254.169.254 are not allowed').waitFor();
    described = archive;
    await url.fill(`${upstreamUrl}/description`);
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByRole('heading', { name: 'Herds (openapi)' }).waitFor();
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'herds.zip', mimeType: 'application/zip', buffer: archive });
    await page.getByText('Archive herds.zip').waitFor();
    assert.equal(await url.inputValue(), '', 'the archive takes the place of the address');
    await page.getByRole('button', { name: 'Check description' }).click();
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByRole('row', { name: /GET \/herds/ }).waitFor();
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('API Herds created. Live on all traffic threads').waitFor();
    assert.equal(await (await fetch(`${dashboard.app().url.gateway}/herds/herds`)).text(), 'upstream /herds');
  });

  test('a new version answers by its header, is promoted to base, and keys are listed as consumers', async () => {
    const { ask, url } = dashboard.app();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Shop', version: '1.0.0' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'shop', name: 'Shop', state: { active: true } },
        server: { listenPath: { value: '/shop/', strip: true } },
        upstream: { url: upstreamUrl },
      },
    };
    await ask('POST', '/api/apis/oas?wait=applied', { body: document });
    const rights = { shop: { api_id: 'shop', api_name: 'Shop', versions: ['Default'] } };
    await ask('POST', '/api/keys', { body: { alias: 'Shop client', access_rights: rights } });
    const page = await dashboard.openAs(admin, '/apis/shop/versions');
    await page.getByRole('heading', { name: 'No versions' }).waitFor();
    await page.getByRole('button', { name: 'New version' }).click();
    const dialog = page.getByRole('dialog', { name: 'New version' });
    await dialog.getByLabel('Name of the new version').fill('v2');
    await dialog.getByRole('button', { name: 'Create version' }).click();
    await page.getByText('Version v2 created. Live on all traffic threads').waitFor();
    await page.getByRole('row', { name: /v2 Shop v2/ }).waitFor();
    await assertAccessible(page, 'versions');
    const byHeader = () => fetch(`${url.gateway}/shop/x`, { headers: { 'x-gw-version': 'v2' } });
    assert.equal((await byHeader()).status, 200);
    for (const name of ['v1', 'v2']) await page.getByLabel(`Select ${name}`, { exact: true }).check();
    await page.getByRole('button', { name: 'Compare two versions' }).click();
    const comparison = page.getByRole('dialog', { name: 'Versions v1 and v2' });
    await comparison.getByText('"/shop-v2/"').waitFor();
    await assertAccessible(page, 'comparison of versions');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear selection' }).click();
    const choose = async (version: string, item: string) => {
      await page.getByRole('button', { name: `Actions for ${version}` }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('v2', 'Rename');
    const renaming = page.getByRole('dialog', { name: 'Rename version v2' });
    await renaming.getByLabel('Name of the version').fill('v1');
    await renaming.getByText('Another version has this name').waitFor();
    await renaming.getByLabel('Name of the version').fill('next');
    await renaming.getByRole('button', { name: 'Rename version' }).click();
    await page.getByRole('row', { name: /next Shop v2/ }).waitFor();
    const byNextHeader = () => fetch(`${url.gateway}/shop/x`, { headers: { 'x-gw-version': 'next' } });
    assert.deepEqual([(await byNextHeader()).status, (await byHeader()).status], [200, 404]);
    await choose('next', 'Set expiry');
    const expiry = page.getByRole('dialog', { name: 'Expiry of version next' });
    await expiry.getByLabel('Expires').fill('2020-01-31T12:00');
    await expiry.getByRole('button', { name: 'Save expiry' }).click();
    await page.getByRole('row', { name: /next .*2020.*12:00/ }).waitFor();
    assert.equal((await byNextHeader()).status, 403);
    await choose('next', 'Set expiry');
    await expiry.getByLabel('Expires').fill('');
    await expiry.getByRole('button', { name: 'Save expiry' }).click();
    await page.getByRole('row', { name: /next .*never/i }).waitFor();
    assert.equal((await byNextHeader()).status, 200);
    await choose('next', 'Rename');
    await page.getByRole('dialog', { name: 'Rename version next' }).getByLabel('Name of the version').fill('v2');
    await page.getByRole('button', { name: 'Rename version' }).click();
    await page.getByRole('row', { name: /v2 Shop v2/ }).waitFor();
    await page.getByRole('button', { name: 'Actions for v2' }).click();
    await page.getByRole('menuitem', { name: 'Promote to base' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Promote version v2' }).click();
    await page.getByText('Version v2 is the base').waitFor();
    assert.equal((await fetch(`${url.gateway}/shop/x`)).status, 200);
    assert.equal((await fetch(`${url.gateway}/shop-v2/x`)).status, 200);
    await page.getByRole('heading', { name: 'A version of Shop v2' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'New version' }).count(), 0);
    await page.getByRole('link', { name: 'Versions of Shop v2' }).click();
    await page.getByRole('row', { name: /v1 .*Shop/ }).waitFor();
    await page.goto(`${url.dashboard}/apis/shop`);
    const addresses = page.getByRole('list', { name: 'Further addresses' });
    await addresses.getByText('with the header x-gw-version: v1').waitFor();
    await page.getByRole('link', { name: 'Consumers' }).click();
    await page.getByRole('cell', { name: 'Key', exact: true }).waitFor();
  });
});
