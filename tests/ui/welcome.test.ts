import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const admin = { user_permissions: { IsAdmin: 'admin' } };

describe('Introduction', () => {
  const dashboard = testDashboard();
  const signIn = async (page: Page, { username, password }: Pick<Person, 'username' | 'password'>) => {
    await page.getByLabel('E-mail address').fill(username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  test('an empty installation leads from the sign-in to an API, a key, a response and a live chart', async () => {
    const person = await dashboard.addPerson(admin);
    const page = await dashboard.openAnonymous('/login');
    await signIn(page, person);
    await page.getByRole('heading', { name: 'Welcome to Gatewright' }).waitFor();
    await page.getByRole('button', { name: 'Publish API' }).click();
    await page.getByText('Sample orders is published at').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Shown only now').waitFor();
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByText('The key is created').waitFor();
    assert.equal(await page.getByText('Shown only now').count(), 0);
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 200', { exact: true }).waitFor();
    await page.getByText('"Teapot"').waitFor();
    await page.getByRole('button', { name: 'Send without the key' }).click();
    await page.getByText('Status 401', { exact: true }).waitFor();
    await page.getByText('Refused: Authentication field missing').waitFor();
    await page.getByText(/^Requests since this page was opened: [12]$/).waitFor();
    await assertAccessible(page, 'introduction with a response');
    await page.getByRole('button', { name: 'Finish introduction' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const { body } = await dashboard.app().ask('GET', '/api/portal/policies/search?q=Starter');
    assert.deepEqual(
      body.Data.map(({ name, rate, per }: Record<string, unknown>) => [name, rate, per]),
      [['Starter: Sample orders', 100, 60]],
    );
  });

  test('a reload goes on with the published API, and with an API the sign-in leads home', async () => {
    const person = await dashboard.addPerson(admin);
    const { body } = await dashboard.app().ask('GET', '/api/apis');
    const page = await dashboard.openAs(person, `/welcome?api=${body.apis[0].api_definition.api_id}`);
    await page.getByText('Sample orders is published at').waitFor();
    await page.getByRole('button', { name: 'Continue without a key' }).click();
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Status 401', { exact: true }).waitFor();
    const other = await dashboard.openAnonymous('/login');
    await signIn(other, person);
    await other.getByRole('heading', { name: 'Home' }).waitFor();
  });

  test('an upstream that cannot be reached is named, and the sample is offered in its place', async () => {
    const person = await dashboard.addPerson(admin);
    const page = await dashboard.openAs(person, '/welcome');
    await page.getByText('Your own upstream').click();
    await page.getByLabel(/^Name/).fill('Unreachable API');
    await page.getByLabel(/^Upstream/).fill('http://127.0.0.1:1/');
    await page.getByRole('button', { name: 'Publish API' }).click();
    await page.getByText('Unreachable API is published at').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByRole('button', { name: 'Send request' }).click();
    const notice = page.getByRole('region', { name: 'Upstream unreachable' });
    await notice.getByText('The gateway could not reach the upstream http://127.0.0.1:1/.').waitFor();
    await notice.getByRole('link', { name: 'Change the upstream' }).waitFor();
    await assertAccessible(page, 'unreachable upstream');
    await notice.getByRole('link', { name: 'Go back and publish the sample' }).click();
    await page.getByText('What should the gateway publish?').waitFor();
  });

  test('without permission to write keys the page says so, and without one to write APIs it is not offered', async () => {
    const { body } = await dashboard.app().ask('GET', '/api/apis');
    const address = `/welcome?api=${body.apis[0].api_definition.api_id}`;
    const writer = await dashboard.addPerson({ user_permissions: { apis: 'write' } });
    const page = await dashboard.openAs(writer, address);
    await page.getByText('Creating a key needs the permission keys:write').waitFor();
    const reader = await dashboard.addPerson({ user_permissions: { apis: 'read' } });
    const refused = await dashboard.openAs(reader, address);
    await refused.getByRole('heading', { name: 'This page needs the permission apis:write' }).first().waitFor();
  });
});

describe('Sign-in page', () => {
  const dashboard = testDashboard();

  test('a link sets a new password once, and leads back to the sign-in', async () => {
    const person = await dashboard.addPerson(admin);
    const { body } = await dashboard.app().ask('POST', `/api/users/${person.id}/actions/reset-link`, { body: {} });
    const { pathname, search } = new URL(body.Meta.link);
    const page = await dashboard.openAnonymous(pathname + search);
    const password = 'Correct horse 71 battery';
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByLabel('New password again').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill(person.username);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Welcome to Gatewright' }).waitFor();
    await page.goto(dashboard.app().url.dashboard + pathname + search);
    await page.getByRole('link', { name: 'Request a new link' }).click();
    await page.getByText('This installation sends no mail').waitFor();
  });
});
