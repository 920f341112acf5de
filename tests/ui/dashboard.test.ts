import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { openBrowser, type Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const run = promisify(execFile);
const admin = { user_permissions: { IsAdmin: 'admin' } };

describe('Dashboard', () => {
  const dashboard = testDashboard();
  const upstream = createServer((_request, response) => response.end('from the upstream'));
  let upstreamUrl = '';
  let person: Person;
  before(async () => {
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    // A failed hook must not leave the process waiting for it.
    upstream.unref();
    upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    person = await dashboard.addPerson(admin);
  });
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  const signIn = async (page: Page, { username, password }: Pick<Person, 'username' | 'password'>) => {
    await page.getByLabel('E-mail address').fill(username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  test('the right password leads to the page that was asked for, a wrong one to a neutral text', async () => {
    const page = await dashboard.openAnonymous('/apis?q=orders');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('Passkeys need a host name').waitFor();
    assert.equal(await page.getByRole('button', { name: 'passkey' }).count(), 0, 'at an IP address');
    await signIn(page, { ...person, password: 'wrong' });
    await page.getByRole('alert').getByText('Wrong e-mail address, password or code').waitFor();
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    await signIn(page, person);
    await page.getByRole('heading', { name: 'APIs' }).waitFor();
    assert.equal(new URL(page.url()).search, '?q=orders');
  });

  test('a return address of another host is not followed', async () => {
    for (const next of ['https://example.org/x', '//example.org/x', '/\\example.org', '/.//example.org', '//[']) {
      const page = await dashboard.openAnonymous(`/login?next=${encodeURIComponent(next)}`);
      await signIn(page, person);
      await page.getByRole('heading', { name: 'Welcome to Gatewright' }).waitFor();
      assert.equal(new URL(page.url()).origin, dashboard.app().url.dashboard);
    }
  });

  test('a new API gets the settings of a template and its gateway tags', async () => {
    const { ask } = dashboard.app();
    const cors = { enabled: true, allowedOrigins: ['https://shop.example'] };
    const data = { 'x-gw-api-gateway': { middleware: { global: { cors } } } };
    const made = await ask('POST', '/api/assets', { body: { kind: 'oas-template', name: 'Shop rules', data } });
    assert.equal(made.status, 201, made.text);
    const page = await dashboard.openAs(person, '/apis/new');
    await page.getByLabel('Name').fill('Ruled shop');
    await page.getByLabel('Upstream URL').fill(upstreamUrl);
    await page.getByText('Template and gateway tags').click();
    await page.getByLabel('Template').selectOption('Shop rules');
    await page.getByLabel('Gateway tags').fill('edge\nwest');
    await page.getByText('3 set').waitFor();
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByRole('heading', { name: 'Ruled shop' }).waitFor();
    const apiId = new URL(page.url()).pathname.split('/').at(-1);
    const { body } = await ask('GET', `/api/apis/oas/${apiId}`);
    await ask('DELETE', `/api/apis/oas/${apiId}`);
    const { server, middleware } = body['x-gw-api-gateway'];
    assert.deepEqual(server.gatewayTags, { enabled: true, tags: ['edge', 'west'] });
    assert.deepEqual(middleware.global.cors.allowedOrigins, cors.allowedOrigins);
  });

  test('a published API answers through the gateway when the message appears, and a key for it is shown once', async () => {
    const page = await dashboard.openAs(person, '/apis/new');
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('Enter a name').waitFor();
    await page.getByLabel('Name').fill('Book shop');
    await page.getByLabel('Upstream URL').fill(upstreamUrl);
    assert.equal(await page.getByLabel('Listen path').inputValue(), '/book-shop/');
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('API Book shop created. Live on all traffic threads').waitFor();
    const address = `${dashboard.app().url.gateway}/book-shop/`;
    assert.equal((await fetch(address)).status, 401);
    await page.getByRole('heading', { name: 'Book shop' }).waitFor();
    await page.getByText('Served', { exact: true }).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/apis/new`);
    await page.getByLabel('Name').fill('Book shop');
    await page.getByText(/already has the listen path .book-shop/).waitFor();
    await page.getByLabel('Listen path').fill('/another/');
    await page.getByText(/already has the listen path .book-shop/).waitFor({ state: 'detached' });

    await page.goto(`${dashboard.app().url.dashboard}/keys/new`);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('alert').getByText('Choose at least one policy or API').waitFor();
    await page.getByLabel('Book shop').check();
    await page.getByLabel('Alias').fill('Reader');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: 'The key is created' });
    const key = await dialog.locator('code').first().textContent();
    const copyCommand = dialog.getByRole('button', { name: 'Copy command' });
    await copyCommand.waitFor();
    await assertAccessible(page, 'dialog of a new key');
    await page.keyboard.press('Escape');
    assert.equal(await dialog.isVisible(), true, 'closed by its button only');
    const response = await fetch(address, { headers: { authorization: key! } });
    assert.equal(await response.text(), 'from the upstream');
    await copyCommand.click();
    const { stdout } = await run('sh', ['-c', String(await page.evaluate('navigator.clipboard.readText()'))]);
    assert.equal(stdout, 'from the upstream');
    await dialog.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByRole('searchbox').fill('read');
    await page.getByRole('cell', { name: 'Reader', exact: true }).waitFor();
    assert.ok(!(await page.content()).includes(key!), 'the list does not contain the key');
  });

  test('an edited definition is checked, compared, saved and served; a change in between is a conflict', async () => {
    const { ask, url } = dashboard.app();
    const definition = (path: string) => ({
      api_id: 'edited',
      name: 'Edited',
      use_keyless: true,
      proxy: { listen_path: path, target_url: upstreamUrl, strip_listen_path: true },
    });
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition('/edited/') } });
    const page = await dashboard.openAs(person, '/apis/edited/code');
    const editor = page.getByRole('textbox', { name: 'Definition of Edited' });
    const replace = async (text: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await editor.click();
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+V');
    };
    await editor.waitFor();
    await replace('{ not json');
    await page.getByRole('alert').getByText('This is not JSON').waitFor();
    await replace(JSON.stringify({ ...definition('/edited/'), listen_pth: 1 }));
    await page.getByText('Unsaved changes: 1 fault').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
    await replace(JSON.stringify(definition('/moved/'), null, 2));
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    const review = page.getByRole('dialog', { name: 'Review changes' });
    await review.getByText('"/moved/"').first().waitFor();
    await assertAccessible(page, 'review of changes');
    await review.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Edited saved. Live on all traffic threads').waitFor();
    assert.equal(await (await fetch(`${url.gateway}/moved/`)).text(), 'from the upstream');

    await page.getByText('No changes', { exact: true }).waitFor();
    await replace(JSON.stringify(definition('/mine/'), null, 2));
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await ask('PUT', '/api/apis/edited', { body: { api_definition: definition('/theirs/') } });
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog', { name: 'The API was changed in the meantime' }).waitFor();
    await page.getByRole('button', { name: 'Discard mine and load the stored one' }).click();
    await editor.getByText('"/theirs/"').waitFor();
  });

  test('a definition edited as YAML is checked and saved; text that is no YAML stays and cannot be saved', async () => {
    const { ask, url } = dashboard.app();
    const proxy = { listen_path: '/yaml/', target_url: upstreamUrl, strip_listen_path: true };
    const api_definition = { api_id: 'yaml', name: 'Yaml', use_keyless: true, proxy };
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition } });
    const page = await dashboard.openAs(person, '/apis/yaml/code');
    await page.getByLabel('Notation').selectOption('YAML');
    const editor = page.getByRole('textbox', { name: 'Definition of Yaml' });
    await editor.getByText('listen_path: /yaml/').waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('\n- [');
    await page.getByRole('alert').getByText('This is not YAML').waitFor();
    assert.equal(await page.getByLabel('Notation').isDisabled(), true);
    const text =
      'api_id: yaml\nname: Yaml\nuse_keyless: true\nproxy:\n  listen_path: /moved-yaml/\n  strip_listen_path: true\n';
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(`${text}  target_url: ${upstreamUrl}\n`)})`);
    await editor.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+V');
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await assertAccessible(page, 'definition as YAML');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Yaml saved. Live on all traffic threads').waitFor();
    assert.equal((await fetch(`${url.gateway}/moved-yaml/`)).status, 200);
  });

  test('after the end of a session the page stays, and the failed call is repeated after a sign-in', async () => {
    const own = await dashboard.addPerson(admin);
    const page = await dashboard.openAs(own, '/keys');
    await page.getByRole('searchbox').fill('read');
    await page.waitForURL(/q=read/);
    const other = openBrowser(dashboard.app());
    await other.signIn({ username: own.username, password: own.password });
    assert.equal((await other.ask('DELETE', `/api/users/${own.id}/sessions`)).status, 200);
    const isList = (url: string) => url.includes('/api/keys/detailed');
    const refused = page.waitForResponse(it => isList(it.url()) && it.status() === 401);
    const dialog = page.getByRole('dialog', { name: 'The session has ended' });
    // A tab that is looked at again reads its data again.
    let isRefused = false;
    refused.then(
      () => (isRefused = true),
      () => (isRefused = true),
    );
    while (!isRefused) await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await refused;
    const repeated = page.waitForResponse(it => isList(it.url()) && it.status() === 200);
    await dialog.getByLabel('Password', { exact: true }).fill(own.password);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await repeated;
    await page.getByRole('cell', { name: 'Reader', exact: true }).waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'read');
  });

  test('the palette leads to a page and to an object by keyboard alone, and the theme is stored', async () => {
    const own = await dashboard.addPerson(admin);
    const page = await dashboard.openAs(own, '/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('book sh');
    await page.getByRole('option', { name: 'Book shop' }).waitFor();
    await assertAccessible(page, 'command palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Book shop' }).waitFor();
    const api_id = new URL(page.url()).pathname.split('/').at(-1)!;
    const access_rights = { [api_id]: { api_id, versions: ['Default'] } };
    const { key_id, key_hash } = (await dashboard.app().ask('POST', '/api/keys', { body: { access_rights } })).body;
    const isSearch = (url: string) => new URL(url).pathname === '/api/search';
    const addresses: string[] = [];
    page.on('request', it => isSearch(it.url()) && addresses.push(`${it.method()} ${new URL(it.url()).search}`));
    await page.keyboard.press('Control+K');
    await page.keyboard.insertText(key_id);
    await page.getByRole('option', { name: `${key_hash} Keys` }).waitFor();
    assert.deepEqual(addresses, ['POST ']);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/keys/${key_hash}`));
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    // The portal is another origin, which tests must not open.
    await page.evaluate('open = url => document.body.setAttribute("data-opened", url)');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Portal admin' }).click();
    await page.locator(`body[data-opened$="/admin"]`).waitFor();
    await page.getByRole('button', { name: 'Theme' }).click();
    const isSaved = page.waitForResponse(
      it => it.url().endsWith('/api/preferences') && it.request().method() === 'PUT',
    );
    await page.getByRole('menuitemcheckbox', { name: 'Dark theme' }).click();
    assert.equal((await isSaved).status(), 200);
    await page.reload();
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  test('an API is deleted after a tick, and its address is gone', async () => {
    const page = await dashboard.openAs(person, '/apis');
    await page.getByRole('button', { name: 'Actions for Book shop' }).click();
    await page.getByRole('menuitem', { name: 'Purge cached responses' }).click();
    await page.getByText('Cached responses of Book shop purged').waitFor();
    await page.getByRole('button', { name: 'Actions for Book shop' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete Book shop?' });
    const confirm = dialog.getByRole('button', { name: 'Delete API Book shop' });
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByRole('checkbox').check();
    await assertAccessible(page, 'confirmation');
    await confirm.click();
    await page.getByText('API Book shop deleted').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Book shop' }).count(), 0);
  });
});
