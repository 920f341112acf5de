import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type EngineName, engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient } from '../../../tests/support/site-client.ts';

type Mails = { to: string; url: string; text: string };

function describeAccounts(engine: EngineName, registration: string, body: (parts: Parts) => void): void {
  describe(`accounts of the portal on ${engine}, registration ${registration}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      app = await startApp(engine, {
        settings: {
          'mail.smtp_url': mail.url,
          'mail.from': 'portal@example.org',
          'mail.require_tls': 'false',
          'portal.registration': registration,
          'portal.url': 'https://dev.example.org',
          'sign_in.max_address_failures': '1000',
        },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });
    body({
      app: () => app,
      client: () => createSiteClient(app),
      async takeMail(subject = '(Confirm|You already|Reset)') {
        let { to, text } = await mail.take();
        // Other mails report what tests changed.
        while (!new RegExp(`^Subject: ${subject}`, 'm').test(text)) ({ to, text } = await mail.take());
        return { to: to[0]!, text, url: /https:\/\/dev\.example\.org(\/\S*)/.exec(text)?.[1] ?? '' };
      },
    });
  });
}

interface Parts {
  readonly app: () => TestApp;
  readonly client: () => SiteClient;
  readonly takeMail: (subject?: string) => Promise<Mails>;
}

const anAddress = () => `new-${createPublicId().toLowerCase()}@example.org`;
const signUp = async (client: SiteClient, email: string, more: Record<string, string> = {}) => {
  await client.get('/auth/password/register');
  const passwords = { password1: sitePassword, password2: sitePassword };
  return client.post('/auth/password/register', { email, first: 'New', last: 'Dev', ...passwords, ...more });
};
const confirm = (client: SiteClient, token: string, more: Record<string, string> = {}) =>
  client.post('/auth/verify', { token, password: sitePassword, ...more });
/** Page without the address, and without the token of the visitor's forms. */
const toNeutral = (text: string, email: string) =>
  text.replaceAll(email, '…').replaceAll(/name="csrf_token" value="[^"]*"/g, '');
const tokenOf = (url: string) => new URL(url, 'http://localhost').searchParams.get('token')!;

for (const engine of engines) {
  describeAccounts(engine, 'open', ({ app, client, takeMail }) => {
    const findUser = async (email: string) => {
      const users = await requestPortal(app(), 'GET', '/portal-api/users?per_page=1000');
      return users.find((it: { Email: string }) => it.Email === email);
    };

    /** Ends the link of a sign-up before its token. */
    const endLink = async (email: string) => {
      const { db } = app().application.installation.records;
      const { vault } = app().application.installation.services;
      const purpose = 'portal sign-up';
      for (const { digest, body } of await db
        .selectFrom('sign_in_tokens')
        .select(['digest', 'body'])
        .where('purpose', '=', 'portal-sign-up')
        .execute()) {
        const content = JSON.parse(vault.open(body, purpose));
        if (content.email !== email) continue;
        const ended = vault.seal(JSON.stringify({ ...content, linkEndsAt: 1 }), purpose);
        await db.updateTable('sign_in_tokens').set({ body: ended }).where('digest', '=', digest).execute();
      }
    };

    test('a confirmed address has an active account with the least role, once', async () => {
      const email = anAddress();
      const visitor = client();
      const sent = await signUp(visitor, email.toUpperCase(), { next: '/portal/catalogue-products?q=x' });
      assert.match(sent.text, /<h1>Check your mail<\/h1>/);
      const { to, url } = await takeMail();
      assert.equal(to, email);
      assert.equal(await findUser(email), undefined);
      assert.match((await visitor.get(url)).text, /Confirm address/);
      assert.equal(await findUser(email), undefined, 'opening the link creates nothing');
      const confirmed = await confirm(visitor, tokenOf(url));
      assert.match(confirmed.text, /next=%2Fportal%2Fcatalogue-products%3Fq%3Dx/);
      const { ID, Role, Active, OrganisationID } = await findUser(email);
      assert.deepEqual([Role, Active, OrganisationID], ['consumer-team-member', true, 1]);
      assert.deepEqual(await readLastAudit(app()), ['signUpToPortal', `portal:${ID}`, '', 200]);
      assert.equal((await confirm(visitor, tokenOf(url))).status, 410);
      assert.equal((await visitor.signIn(email)).status, 303);
    });

    test('of concurrent confirmations one creates the account', async () => {
      const email = anAddress();
      await signUp(client(), email);
      const token = tokenOf((await takeMail()).url);
      const replies = await Promise.all([1, 2, 3, 4].map(() => confirm(client(), token)));
      assert.deepEqual(replies.map(it => it.status).sort(), [200, 410, 410, 410]);
    });

    test('the owner of the address sets another password where a stranger filled in the form', async () => {
      const email = anAddress();
      await signUp(client(), email);
      const { url } = await takeMail();
      const owner = client();
      const refused = await confirm(owner, tokenOf(url), { password: 'a guess of the owner' });
      assert.equal(refused.status, 422);
      assert.match(refused.text, /This is not the password of the sign-up form/);
      assert.equal(await findUser(email), undefined);
      const [, link = ''] = /<a href="([^"]*own=1)">Set another one/.exec(refused.text) ?? [];
      assert.match((await owner.get(link.replaceAll('&amp;', '&'))).text, /name="new_password"/);
      const own = { own: '1', new_password: 'the password of the owner' };
      assert.equal((await confirm(owner, tokenOf(url), { ...own, confirm_password: 'x' })).status, 422);
      const { new_password: confirm_password } = own;
      assert.equal((await confirm(owner, tokenOf(url), { ...own, confirm_password })).status, 200);
      assert.equal((await client().signIn(email)).status, 401, 'the password of the form opens nothing');
      assert.equal((await owner.signIn(email, own.new_password)).status, 303);
    });

    test('a confirmed address ends the other links to it, also concurrently', async () => {
      const email = anAddress();
      const tokens = [];
      for (let sent = 0; sent < 3; sent++) {
        await signUp(client(), email);
        tokens.push(tokenOf((await takeMail()).url));
      }
      const replies = await Promise.all(tokens.map(token => confirm(client(), token)));
      assert.deepEqual(replies.map(it => it.status).sort(), [200, 410, 410]);
      const { ID } = await findUser(email);
      await requestPortal(app(), 'DELETE', `/portal-api/users/${ID}`);
      for (const token of tokens) assert.equal((await confirm(client(), token)).status, 410);
    });

    test('guesses of the password of a sign-up are limited, and a new one can be set still', async () => {
      const email = anAddress();
      await signUp(client(), email);
      const token = tokenOf((await takeMail()).url);
      const replies = [];
      for (let guess = 0; guess < 12; guess++) replies.push(await confirm(client(), token, { password: `${guess}` }));
      assert.equal(replies.at(-1)!.status, 429);
      const passwords = { new_password: 'the password of the owner', confirm_password: 'the password of the owner' };
      assert.equal((await confirm(client(), token, { own: '1', ...passwords })).status, 200);
    });

    test('a known address gets another mail, and the same answer', async () => {
      const { Email } = await addDeveloper(app());
      const known = await signUp(client(), Email);
      const knownMail = await takeMail();
      const email = anAddress();
      const unknown = await signUp(client(), email);
      await takeMail();
      assert.equal(known.status, unknown.status);
      assert.equal(toNeutral(known.text, Email.toLowerCase()), toNeutral(unknown.text, email));
      assert.match(knownMail.text, /already/);
      assert.equal(knownMail.url, '/auth/password/login');
    });

    test('the mail of a sign-up is sent again, also after its link has expired, to its address alone', async () => {
      const email = anAddress();
      const visitor = client();
      const page = await signUp(visitor, email, { next: '/blog' });
      const first = tokenOf((await takeMail()).url);
      assert.ok(page.text.includes(`name="email" value="${email}"`));
      await endLink(email);
      const dead = await visitor.get(`/auth/verify?token=${first}`);
      assert.equal(dead.status, 410);
      assert.match(dead.text, /action="\/auth\/verify\/again"/);
      assert.equal((await confirm(visitor, first)).status, 410);
      const again = await visitor.post('/auth/verify/again', { email: ` ${email.toUpperCase()} ` });
      assert.match(again.text, /<h1>Check your mail<\/h1>/);
      const { to, url } = await takeMail('Confirm');
      assert.deepEqual([to, tokenOf(url) === first], [email, false]);
      const unknown = anAddress();
      const other = await visitor.post('/auth/verify/again', { email: unknown });
      assert.equal(toNeutral(other.text, unknown), toNeutral(again.text, email));
      assert.equal((await visitor.post('/auth/verify/again', { email: 'nobody' })).status, 422);
      assert.equal((await visitor.post('/auth/verify/again', { email, csrf_token: 'x' })).status, 403);
      assert.match((await confirm(visitor, tokenOf(url))).text, /next=%2Fblog/);
    });

    test('one address gets three mails in a window, without a sign to the client', async () => {
      const email = anAddress();
      const replies = [];
      for (let attempt = 0; attempt < 5; attempt++) replies.push(await signUp(client(), email));
      assert.equal(new Set(replies.map(it => it.text.replaceAll(/value="[^"]*"/g, ''))).size, 1);
      for (let mails = 0; mails < 3; mails++) assert.equal((await takeMail()).to, email);
      const last = anAddress();
      await signUp(client(), last);
      assert.equal((await takeMail()).to, last, 'the next mail is of the next address');
    });

    test('faults of a form are shown with their fields, and roles cannot be chosen', async () => {
      const faulty = await signUp(client(), 'no address', { first: '', password1: 'x', password2: 'y' });
      assert.equal(faulty.status, 422);
      for (const name of ['email', 'first', 'password1'])
        assert.match(faulty.text, new RegExp(`aria-describedby="${name}-note" aria-invalid="true"`), name);
      assert.equal((await signUp(client(), anAddress(), { last: 'Dev\r\n\r\nhttps://example.org/' })).status, 422);
      const email = anAddress();
      const visitor = client();
      await signUp(visitor, email, { Role: 'super-admin', role: 'super-admin', Active: 'true' });
      await confirm(visitor, tokenOf((await takeMail()).url));
      assert.equal((await findUser(email)).Role, 'consumer-team-member');
    });

    test('custom attributes of the sign-up are checked and stored', async () => {
      const attribute = { Identifier: `tax-${createPublicId()}`, Name: 'Tax number', Type: 1, ShowOnSignUp: true };
      const fields = { ...attribute, ValidationRegExp: '^[0-9]+$', Required: true };
      const path = '/portal-api/extended_attributes/1/custom-attributes';
      const { ID } = await requestPortal(app(), 'POST', path, fields, 201);
      try {
        assert.equal((await signUp(client(), anAddress())).status, 422);
        assert.match((await signUp(client(), anAddress(), { [`attribute_${ID}`]: 'x1' })).text, /does not match/);
        const email = anAddress();
        const visitor = client();
        await signUp(visitor, email, { [`attribute_${ID}`]: '42' });
        await confirm(visitor, tokenOf((await takeMail()).url));
        const user = await findUser(email);
        const stored = await requestPortal(app(), 'GET', `/portal-api/users/${user.ID}/custom-attributes/${ID}`);
        assert.equal(stored.Value, '42');
        const owner = anAddress();
        await signUp(visitor, owner, { [`attribute_${ID}`]: '43' });
        const own = { own: '1', new_password: sitePassword, confirm_password: sitePassword };
        assert.equal((await confirm(visitor, tokenOf((await takeMail()).url), own)).status, 200);
        const values = `/portal-api/users/${(await findUser(owner)).ID}/custom-attributes`;
        const kept = await requestPortal(app(), 'GET', values);
        assert.equal(JSON.stringify(kept).includes('"43"'), false, 'a value that another person may have filled in');
      } finally {
        await requestPortal(app(), 'DELETE', `${path}/${ID}`);
      }
    });

    test('a forgotten password is set once by a mailed link, which ends all sessions', async () => {
      const { Email, ID } = await addDeveloper(app(), { Password: 'the first password' });
      const signedIn = client();
      await signedIn.signIn(Email, 'the first password');
      const visitor = client();
      await visitor.get('/auth/password/new');
      await visitor.post('/auth/password/new', { email: Email });
      const { url } = await takeMail();
      assert.match((await visitor.get(url)).text, /Set a new password/);
      const fields = { reset_password_token: tokenOf(url), new_password: sitePassword };
      const differing = await visitor.post('/auth/password/update', { ...fields, confirm_password: 'x' });
      assert.equal(differing.status, 422);
      const set = await visitor.post('/auth/password/update', { ...fields, confirm_password: sitePassword });
      assert.equal(set.status, 200, set.text);
      assert.deepEqual(await readLastAudit(app()), ['resetPortalPassword', `portal:${ID}`, '', 200]);
      const again = await visitor.post('/auth/password/update', { ...fields, confirm_password: sitePassword });
      assert.equal(again.status, 410);
      assert.doesNotMatch((await signedIn.get('/')).text, /Sign out/);
      assert.equal((await visitor.signIn(Email)).status, 303);
    });

    test('a mailed link ends with a change of the password or the address', async () => {
      const newPassword = 'the second password';
      const changes = [
        (user: { ID: number }) =>
          requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { Password: newPassword }),
        (user: { ID: number }) => requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { Email: anAddress() }),
        async (user: { Email: string }) => {
          const signedIn = client();
          await signedIn.signIn(user.Email);
          const passwords = { new_password: newPassword, confirm_password: newPassword };
          const fields = { current_password: sitePassword, ...passwords };
          assert.equal((await signedIn.post('/portal/private/profile/password', fields)).status, 200);
        },
      ];
      for (const change of changes) {
        const user = await addDeveloper(app(), { Password: sitePassword });
        const visitor = client();
        await visitor.get('/auth/password/new');
        await visitor.post('/auth/password/new', { email: user.Email });
        const { url } = await takeMail();
        assert.equal((await visitor.get(url)).status, 200);
        await change(user);
        assert.equal((await visitor.get(url)).status, 410);
        const passwords = { new_password: 'the third password', confirm_password: 'the third password' };
        const reply = await visitor.post('/auth/password/update', { reset_password_token: tokenOf(url), ...passwords });
        assert.equal(reply.status, 410);
      }
    });

    test('a changed password is reported to the address of the account', async () => {
      const { Email } = await addDeveloper(app(), { Password: sitePassword });
      const signedIn = client();
      await signedIn.signIn(Email);
      const passwords = { new_password: 'the second password', confirm_password: 'the second password' };
      await signedIn.post('/portal/private/profile/password', { current_password: sitePassword, ...passwords });
      let mail = await takeMail('Your account was changed');
      while (mail.to !== Email.toLowerCase()) mail = await takeMail('Your account was changed');
      assert.match(mail.text, /The password was changed at .+ from 127\.0\.0\.1/);
    });

    test('an unknown, an inactive and a known address read the same, and only the last gets a mail', async () => {
      const inactive = await addDeveloper(app(), { Active: false });
      const known = await addDeveloper(app());
      const texts = [];
      for (const email of [anAddress(), inactive.Email, known.Email]) {
        const visitor = client();
        await visitor.get('/auth/password/new');
        const { text } = await visitor.post('/auth/password/new', { email });
        texts.push(text.replaceAll(email.toLowerCase(), '…'));
      }
      assert.equal(new Set(texts).size, 1);
      assert.equal((await takeMail()).to, known.Email.toLowerCase());
    });

    test('a forged link, and a form of another site, change nothing', async () => {
      const visitor = client();
      assert.equal((await visitor.get('/auth/password/edit?token=x')).status, 410);
      assert.equal((await visitor.get(`/auth/verify?token=${'x'.repeat(300)}`)).status, 410);
      const headers = { 'sec-fetch-site': 'cross-site' };
      const body = new URLSearchParams({ token: 'x' });
      const response = await fetch(`${app().url.portal}/auth/verify`, { method: 'POST', body, headers });
      assert.equal(response.status, 403);
    });

    test('an account whose password has to be replaced sets one before it is signed in', async () => {
      const { Email } = await addDeveloper(app(), { Password: 'the first password', ResetPassword: true });
      const visitor = client();
      const { location } = await visitor.signIn(Email, 'the first password');
      assert.match(location, /^\/auth\/password\/edit\?token=/);
      assert.doesNotMatch((await visitor.get('/')).text, /Sign out/);
      const passwords = { new_password: sitePassword, confirm_password: sitePassword };
      await visitor.post('/auth/password/update', { reset_password_token: tokenOf(location), ...passwords });
      assert.equal((await visitor.signIn(Email)).location, '/');
    });
  });

  describeAccounts(engine, 'approval', ({ app, client, takeMail }) => {
    test('a confirmed account signs in after an administrator activated it', async () => {
      const email = anAddress();
      const visitor = client();
      await signUp(visitor, email);
      const confirmed = await confirm(visitor, tokenOf((await takeMail()).url));
      assert.match(confirmed.text, /waits for approval/);
      const welcome = await takeMail('Welcome');
      assert.match(welcome.text, /waits for approval/);
      assert.doesNotMatch(welcome.text, /ready|login/);
      assert.equal((await visitor.signIn(email)).status, 401);
      const users = await requestPortal(app(), 'GET', '/portal-api/users?per_page=1000');
      const { ID, State } = users.find((it: { Email: string }) => it.Email === email);
      assert.equal(State, 'waiting');
      const change = (Active: boolean) => requestPortal(app(), 'PUT', `/portal-api/users/${ID}`, { Active });
      assert.equal((await change(true)).State, 'active');
      assert.equal((await change(false)).State, 'deactivated');
      await change(true);
      assert.equal((await visitor.signIn(email)).status, 303);
    });
  });

  describeAccounts(engine, 'off', ({ client }) => {
    test('there is no sign-up, and no link to it', async () => {
      assert.equal((await client().get('/auth/password/register')).status, 404);
      assert.equal((await client().get('/auth/verify?token=x')).status, 410);
      assert.doesNotMatch((await client().get('/auth/password/login')).text, /register/);
    });
  });
}
