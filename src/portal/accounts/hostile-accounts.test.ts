import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient } from '../../../tests/support/site-client.ts';
import { signInToSite } from '../../../tests/support/site-session.ts';

describe('Hostile visitors of accounts', () => {
  let app: TestApp;
  let mail: MailServer;
  before(async () => {
    mail = await startMailServer({ user: 'gw', password: 'secret' });
    app = await startApp('sqlite', {
      settings: {
        'mail.smtp_url': mail.url,
        'mail.from': 'portal@example.org',
        'mail.require_tls': 'false',
        'portal.registration': 'open',
        'sign_in.max_address_failures': '4',
      },
    });
  });
  after(async () => {
    await app?.close();
    await mail?.close();
  });

  test('a session that was planted before the sign-in is not the one after it, and opens nothing', async () => {
    const user = await addDeveloper(app, { Password: sitePassword });
    const attacker = await addDeveloper(app, { Password: sitePassword });
    const planted = await signInToSite(app, { Email: attacker.Email, Password: sitePassword });
    const form = await fetch(`${app.url.portal}/auth/password/login`, {
      headers: { cookie: planted },
      redirect: 'manual',
    });
    assert.equal(form.status, 303, 'a visitor who is signed in sees no form');
    const read = async (cookie: string) =>
      (await fetch(`${app.url.portal}/portal/private/profile`, { headers: { cookie }, redirect: 'manual' })).text();
    const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await read(planted)) ?? [];
    const body = new URLSearchParams({ login: user.Email, password: sitePassword, csrf_token });
    const response = await fetch(`${app.url.portal}/auth/password/login`, {
      ...{ method: 'POST', body, redirect: 'manual' },
      headers: { cookie: planted },
    });
    assert.equal(response.status, 303, await response.text());
    const session = response.headers.getSetCookie().find(it => it.startsWith('portal-session='))!;
    const own = session.split(';')[0]!;
    assert.notEqual(own, planted);
    assert.match(await read(own), new RegExp(user.Email, 'i'));
    assert.doesNotMatch(await read(planted), /@example\.org/);
  });

  test('a user of single sign-on gets no link to set a password, and has the answer of an unknown address', async () => {
    const profile = { ID: 'company', Name: 'Company', ActionType: 'GenerateOrLoginDeveloperProfile' };
    await requestPortal(app, 'POST', '/portal-api/sso_profiles', { ...profile, ProviderName: 'SAMLProvider' }, 201);
    const signOn = await addDeveloper(app, { Provider: 'company' });
    const local = await addDeveloper(app, { Password: sitePassword });
    const texts = [];
    for (const { Email } of [signOn, local]) {
      const visitor = createSiteClient(app);
      await visitor.get('/auth/password/new');
      const { text } = await visitor.post('/auth/password/new', { email: Email });
      texts.push(text.replaceAll(Email.toLowerCase(), '…'));
    }
    assert.equal(texts[0], texts[1]);
    for (;;) {
      const { to, text } = await mail.take();
      if (!/^Subject: Reset/m.test(text)) continue;
      assert.deepEqual(to, [local.Email.toLowerCase()], 'the only link is that of the local account');
      break;
    }
  });

  test('a flood of sign-ups of one client is refused, with ever new addresses too', async () => {
    const visitor = createSiteClient(app);
    await visitor.get('/auth/password/register');
    const fields = { first: 'New', last: 'Dev', password1: sitePassword, password2: sitePassword };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const email = `flood-${createPublicId().toLowerCase()}@example.org`;
      statuses.push((await visitor.post('/auth/password/register', { email, ...fields })).status);
    }
    assert.equal(statuses[0], 200, String(statuses));
    assert.equal(statuses.at(-1), 429, String(statuses));
  });

  test('guessed links of invitations, of sign-ups and of new passwords are limited by client, and a real one is not', async () => {
    const limited = await startApp('sqlite', { settings: { 'sign_in.max_address_failures': '6' } });
    try {
      const Email = `invited-${createPublicId().toLowerCase()}@example.org`;
      const { portal } = limited.application.installation.services;
      const { token, Digest } = portal.invitations.createToken();
      const { ID } = await requestPortal(limited, 'POST', '/portal-api/invitations', { Email }, 201);
      await portal.invitations.change(ID, it => ({ ...it, Digest }));
      const visitor = createSiteClient(limited);
      const open = async (path: string) => (await visitor.get(path)).status;
      for (let count = 0; count < 20; count++)
        assert.equal(await open(`/auth/password/register?token=${token}`), 200, 'the right link does not count');
      const guesses = ['/auth/password/register', '/auth/password/edit', '/auth/verify'];
      const statuses = [];
      for (const path of [...guesses, ...guesses]) statuses.push(await open(`${path}?token=${createPublicId()}`));
      assert.deepEqual(statuses, [410, 410, 410, 410, 410, 410]);
      for (const path of guesses) assert.equal(await open(`${path}?token=${createPublicId()}`), 429, path);
      const posted = await visitor.post('/auth/invitation', { token: createPublicId() });
      assert.equal(posted.status, 429);
    } finally {
      await limited.close();
    }
  });
});
