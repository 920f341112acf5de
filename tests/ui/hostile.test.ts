import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { openBrowser, type Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { eventually } from '../support/traffic.ts';

const markup = '<img src=x onerror="document.title=1"><script>alert(1)</script>';
const admin = { user_permissions: { IsAdmin: 'admin' } };

describe('Hostile content in the dashboard', () => {
  const dashboard = testDashboard();
  let person: Person;
  before(async () => {
    person = await dashboard.addPerson(admin);
    const { ask, url } = dashboard.app();
    const proxy = { listen_path: '/hostile/', target_url: 'http://127.0.0.1:9', strip_listen_path: true };
    const definition = { api_id: 'hostile', name: markup, use_keyless: true, proxy };
    const { status, text } = await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
    assert.equal(status, 200, text);
    const rights = { hostile: { api_id: 'hostile', api_name: markup, versions: ['Default'] } };
    await ask('POST', '/api/keys', { body: { alias: markup, access_rights: rights } });
    await ask('POST', '/api/portal/policies', { body: { name: markup, state: 'active', access_rights: rights } });
    const get = {
      operationId: 'readX',
      summary: markup,
      description: markup,
      responses: { 200: { description: markup } },
    };
    const document = {
      openapi: '3.0.3',
      info: { title: markup, version: '1', description: markup },
      paths: { '/x': { get } },
      'x-gw-api-gateway': {
        info: { id: 'described', name: markup, state: { active: true } },
        server: { listenPath: { value: '/described/', strip: true } },
        upstream: { url: 'http://127.0.0.1:9' },
      },
    };
    assert.equal((await ask('POST', '/api/apis/oas?wait=applied', { body: document })).status, 200);
    await fetch(`${url.gateway}/hostile/${encodeURIComponent('<img src=x onerror="document.title=1">')}`, {
      headers: { 'user-agent': markup },
    });
    await eventually(async () => {
      const now = Math.floor(Date.now() / 1000);
      const { body } = await ask('GET', `/api/logs?start=${now - 600}&end=${now + 600}`);
      assert.equal(body.data.length, 1);
    });
  });

  const paths = [
    '/apis',
    '/apis/hostile',
    '/apis/hostile/code',
    '/apis/described/endpoints?endpoint=readX',
    '/keys',
    '/keys/new',
    '/policies',
    '/logs',
    '/analytics',
    '/welcome?api=hostile',
  ];
  for (const path of paths)
    test(`markup in names, aliases, paths and descriptions is text on ${path}`, async () => {
      const page = await dashboard.openAs(person, path);
      page.on('dialog', () => assert.fail('a script of the content ran'));
      await page
        .getByText(path === '/logs' ? '/hostile/' : markup, { exact: false })
        .filter({ visible: true })
        .first()
        .waitFor();
      assert.equal(await page.locator('img').count(), 0);
      assert.match(await page.title(), /Gatewright/);
    });

  test('markup in the search of the palette and in the address is text', async () => {
    const page = await dashboard.openAs(person, `/apis?q=${encodeURIComponent(markup)}`);
    await page.getByRole('link', { name: markup }).first().waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('<img');
    await page.getByRole('option', { name: markup }).first().waitFor();
    assert.equal(await page.locator('img').count(), 0);
  });

  test('no page can be framed, also the page of a reset link', async () => {
    for (const path of ['/', '/login', '/apis', '/login/reset?token=x']) {
      const { headers } = await dashboard
        .app()
        .ask('GET', path, { credential: null, headers: { accept: 'text/html' } });
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
    }
  });

  test('a write with the cookie alone is refused, from a page of another site too', async () => {
    const browser = openBrowser(dashboard.app());
    await browser.signIn({ username: person.username, password: person.password });
    const body = { name: 'forged', state: 'active', access_rights: {} };
    const { status } = await browser.ask('POST', '/api/portal/policies', { body, headers: { 'x-csrf-token': '' } });
    assert.equal(status, 403);
    const token = openBrowser(dashboard.app());
    await token.signIn({ username: person.username, password: person.password });
    const foreign = { 'x-csrf-token': token.csrfToken };
    assert.equal((await browser.ask('POST', '/api/portal/policies', { body, headers: foreign })).status, 403);
  });

  test('a session that was planted before the sign-in is not the one after it', async () => {
    const planted = `authorisation=${'a'.repeat(43)}`;
    const browser = openBrowser(dashboard.app());
    browser.cookie = planted;
    assert.equal((await browser.signIn({ username: person.username, password: person.password })).status, 200);
    assert.notEqual(browser.cookie, planted);
    const attacker = openBrowser(dashboard.app());
    attacker.cookie = planted;
    assert.equal((await attacker.ask('GET', '/api/session')).status, 401);
  });
});
