import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue } from '../src/catalogue.ts';
import { testChromium } from './support/chromium.ts';
import { withSettings } from './support/with-settings.ts';

withSettings('reference pages of the listener', {}, app => {
  const browser = testChromium();
  const url = (path: string) => app().url.dashboard + path;

  test('the root leads to the reference', async () => {
    const response = await fetch(url('/'));
    assert.equal(new URL(response.url).pathname, '/docs');
    assert.match(await response.text(), /<h1>Gatewright API<\/h1>/);
  });

  test('every operation of the listener has a page', async () => {
    const served = catalogue.filter(({ surface }) => surface !== 'portal');
    for (const { name } of served) {
      const response = await fetch(url(`/docs/${name}`));
      assert.equal(response.status, 200, name);
      assert.ok((await response.text()).includes(`<h1>${name}</h1>`), name);
    }
  });

  test('a page that does not exist is 404', async () => {
    assert.equal((await fetch(url('/docs/unknown'))).status, 404);
    assert.equal((await fetch(url('/docs/%3Cscript%3E'))).status, 404);
  });

  describe('in a browser', () => {
    test('a request is sent from the page and its response displayed', async () => {
      const { page, errors } = await browser.open(url('/docs/listUsers'));
      await page.getByLabel('Credential').fill(app().credentials.admin_access_key);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(/^200 OK, \d+ ms$/).waitFor();
      assert.match((await page.locator('.result pre').textContent()) ?? '', /"users": \[/);
      assert.deepEqual(errors, []);
    });

    test('a refusal is displayed with its message', async () => {
      const { page } = await browser.open(url('/docs/createUser'));
      await page.getByLabel('Credential').fill(app().credentials.admin_access_key);
      await page.getByLabel('Body').fill('{"email_adress":"a@example.org"}');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(/^400 /).waitFor();
      assert.match((await page.locator('.result pre').textContent()) ?? '', /email_adress.*email_address/s);
    });

    test('a session without sign-in cannot write, and the page displays what is missing', async () => {
      const { page } = await browser.open(url('/docs/createUser'));
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('No response: enter a credential, or sign in first').waitFor();
    });

    test('the search works without scripts', async () => {
      const { page } = await browser.open(url('/docs'), { javaScriptEnabled: false });
      await page.getByRole('searchbox').fill('email_address users');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /operations? for “email_address users”/ }).waitFor();
    });

    test('the key / leads to the search', async () => {
      const { page, errors } = await browser.open(url('/docs'));
      await page.keyboard.press('/');
      await page.keyboard.type('email_address users');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /operations? for “email_address users”/ }).waitFor();
      await page
        .locator('main')
        .getByRole('link', { name: /^POST\s*\/api\/users$/ })
        .click();
      await page.getByRole('heading', { name: 'createUser' }).waitFor();
      assert.deepEqual(errors, []);
    });
  });
});
