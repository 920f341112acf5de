import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { makeCertificate } from '../support/certificates.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually } from '../support/traffic.ts';

describe('APIs from trial to conversion', () => {
  const dashboard = testDashboard();
  const upstream = createServer((request, response) => response.end(JSON.stringify(request.headers)));
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

  const createClassic = async (id: string, more: object = {}) => {
    const proxy = { listen_path: `/${id}/`, target_url: upstreamUrl, strip_listen_path: true };
    const api_definition = { api_id: id, name: id, use_keyless: true, proxy, ...more };
    const { status, text } = await dashboard.app().ask('POST', '/api/apis?wait=applied', { body: { api_definition } });
    assert.equal(status, 200, text);
  };
  const createKey = async (apiId: string, alias: string): Promise<string> => {
    const rights = { [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'] } };
    const { body } = await dashboard.app().ask('POST', '/api/keys', { body: { alias, access_rights: rights } });
    return body.key_id;
  };

  test('a chosen key answers 200, and its text is neither in the page nor in its storage nor in the response', async () => {
    const auth = { auth_header_name: 'X-Shop-Key' };
    await createClassic('echo', { use_keyless: false, use_standard_auth: true, auth });
    const key = await createKey('echo', 'Shop client');
    const page = await dashboard.openAs(admin, '/apis/echo/try');
    const chooser = page.getByLabel('Key', { exact: true });
    const label = await chooser.getByRole('option', { name: /^Shop client/ }).textContent();
    await chooser.selectOption({ label: label! });
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 200').waitFor();
    await page.getByText(/x-shop-key.*••••••/).waitFor();
    await assertAccessible(page, 'request with a stored key');
    for (const tab of ['Steps', 'Headers', 'Snippets', 'Response']) {
      await page.getByRole('tab', { name: tab }).click();
      assert.ok(!(await page.content()).includes(key), tab);
    }
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])');
    assert.ok(!(stored as string).includes(key));
  });

  test('a limit that refuses is named with its origin, and a saved example runs after a reload', async () => {
    const auth = { auth_header_name: 'Authorization' };
    await createClassic('scarce', { use_keyless: false, use_standard_auth: true, auth });
    const access_rights = { scarce: { api_id: 'scarce', api_name: 'scarce', versions: ['Default'] } };
    const policy = { id: 'scant', name: 'Scant', rate: 1, per: 3600, access_rights };
    const { ask } = dashboard.app();
    await ask('POST', '/api/portal/policies', { body: policy });
    const { body } = await ask('POST', '/api/keys?wait=applied', { body: { alias: 'One', apply_policies: ['scant'] } });
    const page = await dashboard.openAs(admin, '/apis/scarce/try');
    const typed = page.getByLabel('Authorization', { exact: true });
    await typed.fill(body.key_id);
    await page.getByLabel('Path').fill('/items?page=2&api_key=planted');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 200').waitFor();
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 429').waitFor();
    await page.getByText('Refused by the rate limit of policy Scant: 1 an hour.').waitFor();
    await page.getByLabel('Name of this request').fill('Second page');
    const stored = page.waitForResponse(it => it.url().endsWith('/api/preferences') && it.request().method() === 'PUT');
    await page.getByRole('button', { name: 'Save as example' }).click();
    assert.equal((await stored).status(), 200);
    await page.getByLabel('Path').fill(`/${'p'.repeat(2000)}`);
    await page.getByLabel('Name of this request').fill('Too long');
    await page.getByText('The path is too long to be saved: at most 2,000 characters.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save as example' }).isDisabled());
    await assertAccessible(page, 'refused by a limit');
    await page.reload();
    await page.getByRole('button', { name: 'Second page', exact: true }).click();
    assert.equal(await page.getByLabel('Path').inputValue(), '/items?page=2');
    await typed.fill(body.key_id);
    await page.getByRole('button', { name: 'Run the example' }).click();
    await page.getByRole('list', { name: 'Examples' }).getByText('429').waitFor();
    const { body: preferences } = await ask('GET', '/api/preferences', { credential: admin.accessKey });
    assert.deepEqual(preferences.tried_examples, [
      { api_id: 'scarce', name: 'Second page', method: 'GET', path: '/items?page=2', headers: '', body: '' },
    ]);
  });

  test('a body against the schema is 422 with its pointer, and the mended one passes', async () => {
    const schema = { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } };
    const document = {
      openapi: '3.0.3',
      info: { title: 'Validated', version: '1.0.0' },
      paths: {
        '/items': {
          post: {
            operationId: 'add',
            requestBody: { required: true, content: { 'application/json': { schema } } },
            responses: { 200: { description: 'x' } },
          },
        },
      },
      'x-gw-api-gateway': {
        info: { id: 'validated', name: 'Validated', state: { active: true } },
        server: { listenPath: { value: '/validated/', strip: true } },
        upstream: { url: upstreamUrl },
        middleware: { operations: { add: { validateRequest: { enabled: true, errorResponseCode: 422 } } } },
      },
    };
    const created = await dashboard.app().ask('POST', '/api/apis/oas?wait=applied', { body: document });
    assert.equal(created.status, 200, created.text);
    const page = await dashboard.openAs(admin, '/apis/validated/try');
    await page.getByLabel('Endpoint of the document').selectOption('POST /items');
    await page.getByLabel('Headers').fill('Content-Type: application/json');
    await page.getByLabel('Body').fill('{"count": "two"}');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 422').waitFor();
    await page.getByRole('tab', { name: 'Response' }).click();
    await page.getByRole('tabpanel').getByText(/count/).waitFor();
    await page.getByLabel('Body').fill('{"count": 2}');
    await page.getByLabel('Body').press('Control+Enter');
    await page.getByText('Status 200').waitFor();
  });

  test('a missing certificate is saved and shown as the reason why the API is not served, until it is uploaded', async () => {
    const { certPem, keyPem, fingerprint } = makeCertificate({ cn: 'gateway.example' });
    const id = `${admin.orgId}${fingerprint}`;
    await createClassic('lacking');
    const page = await dashboard.openAs(admin, '/apis/lacking/code');
    const { body } = await dashboard.app().ask('GET', '/api/apis/lacking');
    const definition = { ...body.api_definition, upstream_certificates: { '*': id } };
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(JSON.stringify(definition))})`);
    await page.getByRole('textbox', { name: 'Definition of lacking' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+V');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(`Not served: the upstream certificate ${id} is not in the certificate store`).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/apis`);
    await page.getByLabel('Any state').selectOption('Not served');
    await page.getByRole('row', { name: /lacking.*Not served.*is not in the certificate store/ }).waitFor();
    await eventually(async () => assert.equal(await page.getByRole('row').count(), 2, 'its row and the head'));
    await page.getByRole('link', { name: 'Certificates' }).click();
    await page.getByRole('button', { name: 'Upload certificate' }).first().click();
    await page.getByLabel('PEM text').fill(certPem + keyPem);
    await page.getByRole('dialog').getByRole('button', { name: 'Upload certificate' }).click();
    await page.getByRole('heading', { name: 'gateway.example' }).waitFor();
    await page.getByRole('link', { name: 'lacking' }).click();
    await page.getByText('Served', { exact: true }).waitFor();
    assert.equal((await fetch(`${dashboard.app().url.gateway}/lacking/`)).status, 200);
  });

  test('a certificate that expires is replaced in all uses: the API stays served, and the old one is unused', async () => {
    const { ask } = dashboard.app();
    const notAfter = new Date(Date.now() + 5 * 86_400_000);
    const [old, next] = [makeCertificate({ cn: 'old.example', notAfter }), makeCertificate({ cn: 'new.example' })];
    const uploaded = await ask('POST', '/api/certs', {
      body: old.certPem + old.keyPem,
      headers: { 'content-type': 'application/x-pem-file' },
    });
    assert.equal(uploaded.status, 200, uploaded.text);
    const oldId = uploaded.body.id as string;
    await createClassic('secured', { upstream_certificates: { '*': oldId } });
    const page = await dashboard.openAs(admin, '/apis');
    const banner = page.getByRole('region', { name: 'Needs attention' });
    await banner.getByText(/old\.example expires on/).waitFor();
    await assertAccessible(page, 'banner of a certificate that expires');
    await banner.getByRole('link', { name: 'Open the certificate' }).click();
    await page.getByText(/^Expires in \d+ days?$/).waitFor();
    await page.getByRole('link', { name: 'secured' }).waitFor();
    await page.getByRole('button', { name: 'Replace in all uses' }).click();
    await page.getByLabel('PEM text').fill(next.certPem + next.keyPem);
    await assertAccessible(page, 'replacement of a certificate');
    await page.getByRole('button', { name: 'Upload and replace' }).click();
    await page.getByText('Replaced in 1 API').waitFor();
    await page.getByRole('heading', { name: 'new.example' }).waitFor();
    await page.getByRole('link', { name: 'secured' }).click();
    await page.getByText('Served', { exact: true }).waitFor();
    const { body } = await ask('GET', '/api/apis/secured');
    assert.deepEqual(body.api_definition.upstream_certificates, { '*': `${admin.orgId}${next.fingerprint}` });
    await page.goto(`${dashboard.app().url.dashboard}/certificates/${oldId}`);
    await page.getByText('No API and no key uses it.').waitFor();
    await banner.getByRole('button', { name: 'Mark as read' }).click();
    await banner.waitFor({ state: 'detached' });
  });

  test('the bell counts and lists what needs attention; an entry is marked as read, and its topic muted', async () => {
    const { certPem, keyPem } = makeCertificate({
      cn: 'soon.example',
      notAfter: new Date(Date.now() + 5 * 86_400_000),
    });
    const headers = { 'content-type': 'application/x-pem-file' };
    const uploaded = await dashboard.app().ask('POST', '/api/certs', { body: certPem + keyPem, headers });
    assert.equal(uploaded.status, 200, uploaded.text);
    const page = await dashboard.openAs(admin, '/policies');
    await page.getByRole('button', { name: /^Notifications, \d+ unread$/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Notifications' });
    const entry = dialog.getByRole('listitem').filter({ hasText: 'soon.example' });
    await entry.getByRole('link', { name: 'Open the certificate' }).waitFor();
    await assertAccessible(page, 'notifications');
    await entry.getByRole('button', { name: 'Mark as read' }).click();
    await entry.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
    await dialog.getByRole('switch', { name: 'Certificates that expire' }).click();
    await entry.waitFor({ state: 'detached' });
    await dialog.getByRole('switch', { name: 'Certificates that expire' }).click();
    await entry.getByRole('link', { name: 'Open the certificate' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'soon.example' }).waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Certificates' }).click();
    await page.getByRole('heading', { level: 1, name: 'Certificates' }).waitFor();
  });

  test('a classic API is converted: the dry run shows its document, a staged copy answers, the promotion keeps id and keys', async () => {
    await createClassic('older', { use_keyless: false, use_standard_auth: true });
    const key = await createKey('older', 'Old client');
    const { gateway } = dashboard.app().url;
    const call = async (path: string) => (await fetch(gateway + path, { headers: { authorization: key } })).status;
    const page = await dashboard.openAs(admin, '/apis/older/settings');
    await page.getByRole('link', { name: 'Convert to the OpenAPI format' }).click();
    await page.getByText('x-gw-api-gateway').first().waitFor();
    await assertAccessible(page, 'conversion');
    assert.equal((await dashboard.app().ask('GET', '/api/apis/staging-older')).status, 404, 'nothing is stored yet');
    await page.getByRole('button', { name: 'Stage a copy' }).click();
    await page.getByText(/The staged copy answers at .*gw-staging\/older/).waitFor();
    assert.equal((await fetch(`${gateway}/gw-staging/older/`)).status, 401);
    assert.equal(await call('/older/'), 200);
    await page.getByRole('button', { name: 'Promote the copy' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Promote the copy of older' }).click();
    await page.getByText('API older is in the OpenAPI format').waitFor();
    await page.getByRole('navigation', { name: 'Sections' }).waitFor();
    assert.equal((await dashboard.app().ask('GET', '/api/apis/oas/older')).status, 200);
    assert.equal(await call('/older/'), 200);
  });
});
