import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { openBrowser, type Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';

const wrong = 'Wrong e-mail address, password or code';

const signIn = async (page: Page, { username, password }: Pick<Person, 'username' | 'password'>) => {
  await page.getByLabel('E-mail address').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};
const welcome = (page: Page) => page.getByRole('heading', { name: 'Welcome to Gatewright' }).waitFor();
const admin = { user_permissions: { IsAdmin: 'admin' } };

describe('Limit of sign-ins', () => {
  const settings = { 'sign_in.max_account_failures': '2', 'sign_in.failure_window_seconds': '6' };
  const dashboard = testDashboard({ settings });

  test('after the limit the page counts down, and the right password works once it ends', async () => {
    const person = await dashboard.addPerson(admin);
    const page = await dashboard.openAnonymous('/login');
    // The failures count for seconds: on a busy machine the first may be over before the third.
    for (let status = 0; status !== 429; ) {
      const answered = page.waitForResponse(
        it => it.url().endsWith('/api/session') && it.request().method() === 'POST',
      );
      await signIn(page, { ...person, password: 'wrong' });
      status = (await answered).status();
    }
    const countdown = page.getByRole('button', { name: /^Try again in \d+ s$/ });
    await countdown.waitFor();
    assert.equal(await countdown.isDisabled(), true);
    await signIn(page, person);
    await welcome(page);
  });
});

describe('Forgotten password', () => {
  let mail: MailServer;
  const settings: Record<string, string> = { 'mail.from': 'gw@example.org', 'mail.require_tls': 'false' };
  before(async () => {
    mail = await startMailServer({ user: 'gw', password: 'secret' });
    settings['mail.smtp_url'] = mail.url;
  });
  const dashboard = testDashboard({ settings });
  after(() => mail.close());

  test('the settings of the organisation send a test mail to the own address', async () => {
    const person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(person, '/settings');
    await page.getByText('Stored for 90 days').waitFor();
    await page.getByRole('button', { name: 'Send a test mail to me' }).click();
    assert.deepEqual((await mail.take()).to, [person.username]);
    await page.getByText(`The mail server accepted the mail to ${person.username}`).waitFor();
  });

  test('the mailed link sets a new password, signs other sessions out, and is void the second time', async () => {
    const person = await dashboard.addPerson(admin);
    const other = openBrowser(dashboard.app());
    await other.signIn({ username: person.username, password: person.password });
    const page = await dashboard.openAnonymous('/login');
    await page.getByRole('link', { name: 'Forgotten password' }).click();
    await page.getByLabel('E-mail address').fill(person.username);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('status').waitFor();
    await assertAccessible(page, 'link was requested');
    const link = /https?:\/\/\S+\/login\/reset\?\S+/.exec((await mail.take()).text)![0];
    const { pathname, search } = new URL(link);
    const set = async (password: string) => {
      await page.goto(dashboard.app().url.dashboard + pathname + search);
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('New password again').fill(password);
      await page.getByRole('button', { name: 'Set password' }).click();
    };
    const password = 'Correct horse 72 battery';
    await set(password);
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    assert.equal((await other.ask('GET', '/api/session')).status, 401);
    await page.goto(`${dashboard.app().url.dashboard}${pathname}${search}`);
    await page.getByRole('link', { name: 'Request a new link' }).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/login`);
    await signIn(page, person);
    await page.getByRole('alert').getByText(wrong).waitFor();
    await signIn(page, { ...person, password });
    await welcome(page);
  });
});

describe('Second factor at the sign-in', () => {
  const dashboard = testDashboard();

  test('an enrolled user cannot pass without the code, and a recovery code works once', async () => {
    const person = await dashboard.addPerson(admin);
    const browser = openBrowser(dashboard.app());
    const { username, password } = person;
    await browser.signIn({ username, password });
    const { body: begun } = await browser.ask('POST', '/api/session/totp', { body: { password } });
    const otp = computeTotp(begun.secret, toTotpStep(Date.now()));
    const { body: confirmed } = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp } });
    const [recovery] = confirmed.recovery_codes as string[];
    const page = await dashboard.openAnonymous('/keys');
    const code = page.getByLabel('Code of the authenticator app, or a recovery code');
    await signIn(page, person);
    await code.fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText(wrong).waitFor();
    await signIn(page, person);
    await code.fill(recovery!);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const again = await dashboard.openAnonymous('/keys');
    await signIn(again, person);
    await again.getByLabel('Code of the authenticator app, or a recovery code').fill(recovery!);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.getByRole('alert').getByText(wrong).waitFor();
  });
});
