import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const newPassword = 'A brand new 1';

for (const engine of engines)
  describe(`Password reset by mail (${engine})`, () => {
    let app: TestApp;
    let mail: MailServer;
    let logged = '';
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'p@ss/word' });
      const settings = {
        'mail.smtp_url': mail.url,
        'mail.from': 'Gatewright <gw@example.org>',
        'mail.require_tls': 'false',
        'dashboard.url': 'https://dash.example.org/',
        'users.password_history': '2',
      };
      const onLog = (line: string) => {
        logged += line;
      };
      app = await startApp(engine, { clock, settings, onLog });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });

    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      openBrowser(app).ask('POST', path, { body, headers });
    const forget = (email: string) => post('/api/session/forgot', { email });
    const reset = (token: string, password = newPassword) =>
      post('/api/session/reset', { token, new_password: password });
    const readToken = ({ text }: { text: string }) =>
      /https:\/\/dash\.example\.org\/login\/reset\?token=([\w-]{43})/.exec(text)?.[1] ?? assert.fail(text);

    test('sign-in options name the reset by mail where a mail server is configured', async () => {
      assert.equal((await openBrowser(app).ask('GET', '/api/session/options')).body.password_reset_by_mail, true);
    });

    test('a mailed link sets a new password once, also concurrently, and ends the sessions', async () => {
      const person = await addPerson(app);
      const browser = openBrowser(app);
      await browser.signIn({ username: person.username, password: person.password });
      const asked = await post(
        '/api/session/forgot',
        { email: person.username.toUpperCase() },
        { host: 'evil.example' },
      );
      assert.deepEqual(
        [asked.status, asked.body.Message],
        [200, 'If the address has an account, a mail with a link is on its way'],
      );
      const received = await mail.take();
      assert.deepEqual([received.to, received.from], [[person.username], 'gw@example.org']);
      const token = readToken(received);
      assert.equal((await reset(token, 'short')).status, 400);
      assert.equal((await browser.ask('GET', '/api/session')).status, 200);
      const statuses = await Promise.all([reset(token), reset(token), reset(token)]);
      assert.deepEqual(statuses.map(it => it.status).sort(), [200, 400, 400]);
      assert.equal(
        (await reset(token)).body.Message,
        'The link is invalid, expired or was used already: request a new one',
      );
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      const { username } = person;
      assert.equal((await openBrowser(app).signIn({ username, password: person.password })).status, 401);
      assert.equal((await openBrowser(app).signIn({ username, password: newPassword })).status, 200);
      assert.ok(!logged.includes(token) && !logged.includes(newPassword));
    });

    test('an unknown and an inactive address get the same response and no mail', async () => {
      const inactive = await addPerson(app);
      await app.ask('PUT', `/admin/users/${inactive.id}`, { body: { active: false } });
      const known = await addPerson(app);
      const answers = [];
      for (const email of ['unknown@example.org', inactive.username, known.username]) answers.push(await forget(email));
      assert.equal(new Set(answers.map(it => `${it.status} ${it.text}`)).size, 1);
      assert.deepEqual((await mail.take()).to, [known.username]);
    });

    test('a link expires, and a password change, a new address and a deactivation make it void', async () => {
      const voiding: ((id: string) => Promise<unknown>)[] = [
        async () => {
          nowMs += 1_000_000;
        },
        id => app.ask('PUT', `/api/users/${id}/actions/key/reset`),
        id => app.ask('PUT', `/admin/users/${id}`, { body: { email_address: `n${id}@example.org` } }),
        id => app.ask('PUT', `/admin/users/${id}`, { body: { active: false } }),
        id => app.ask('DELETE', `/api/users/${id}`),
      ];
      for (const change of voiding) {
        const person = await addPerson(app);
        await forget(person.username);
        const token = readToken(await mail.take());
        await change(person.id);
        assert.equal((await reset(token)).status, 400, String(change));
      }
    });

    test('an unknown address costs the write that a known one does', async () => {
      nowMs += 1_000_000;
      const { records } = app.application.installation;
      const countUnknown = async () => {
        const query = records.db.selectFrom('sign_in_tokens').selectAll().where('purpose', '=', 'reset');
        return (await query.where('user_id', '=', 'unknown address').execute()).length;
      };
      for (let index = 0; index < 10; index++) await forget(`unknown-${index}@many.example.org`);
      const { username } = await addPerson(app);
      await forget(username);
      assert.deepEqual((await mail.take()).to, [username]);
      assert.equal(await countUnknown(), 5, 'and their number is bounded');
    });

    test('one address gets at most three mails in a window, and every request the same response', async () => {
      nowMs += 1_000_000;
      const [person, other] = [await addPerson(app), await addPerson(app)];
      for (let index = 0; index < 5; index++) assert.equal((await forget(person.username)).status, 200);
      await forget(other.username);
      const received = [];
      do received.push(await mail.take());
      while (received.at(-1)!.to[0] !== other.username);
      assert.equal(received.length, 4);
    });

    test('a mail server that refuses changes no response and is logged without the address', async () => {
      nowMs += 1_000_000;
      const person = await addPerson(app);
      mail.refusedRecipients.add(person.username);
      assert.equal((await forget(person.username)).status, 200);
      const later = await addPerson(app);
      await forget(later.username);
      assert.deepEqual((await mail.take()).to, [later.username]);
      assert.match(logged, /"mail":"password reset".*mail not sent/);
      assert.ok(!logged.includes(person.username));
    });

    test('an administrator with ResetPassword creates a link for another user, not for itself', async () => {
      const [admin, colleague] = [await addPerson(app), await addPerson(app)];
      const { accessKey: stranger } = await app.stranger();
      const link = (id: string, credential: string) =>
        app.ask('POST', `/api/users/${id}/actions/reset-link`, { credential });
      const made = await link(colleague.id, admin.accessKey);
      assert.equal(made.status, 200, made.text);
      assert.match(made.body.Meta.link, /^https:\/\/dash\.example\.org\/login\/reset\?token=[\w-]{43}$/);
      assert.equal((await link(admin.id, admin.accessKey)).status, 409);
      assert.equal((await link(colleague.id, stranger)).status, 404);
      const weak = await addPerson(app, { user_permissions: { IsAdmin: 'admin' } });
      const refused = await link(colleague.id, weak.accessKey);
      assert.deepEqual([refused.status, /ResetPassword/.test(refused.text)], [403, true]);
      assert.equal((await reset(made.body.Meta.token)).status, 200);
      const body = { email_address: colleague.username };
      assert.equal((await app.ask('POST', '/admin/users/actions/reset-link', { body })).status, 200);
      const unknown = { email_address: 'unknown@example.org' };
      assert.equal((await app.ask('POST', '/admin/users/actions/reset-link', { body: unknown })).status, 404);
      const inactive = await addPerson(app, { active: false });
      assert.equal((await link(inactive.id, admin.accessKey)).status, 403);
      const named = { email_address: inactive.username };
      assert.equal((await app.ask('POST', '/admin/users/actions/reset-link', { body: named })).status, 403);
    });

    test('users.password_history: the last passwords cannot be set again', async () => {
      const person = await addPerson(app);
      const set = (password: string) => app.ask('PUT', `/admin/users/${person.id}`, { body: { password } });
      assert.equal((await set(person.password)).status, 400);
      assert.equal((await set('Second password')).status, 200);
      const again = await set(person.password);
      assert.deepEqual([again.status, again.body.Message], [400, 'password: Password may not be one of the last 2']);
      const shown = await app.ask('GET', `/admin/users/${person.id}`);
      assert.ok(!shown.text.includes('scrypt') && !shown.text.includes('history'));
    });
  });

for (const engine of engines)
  describe(`Password ageing (${engine})`, () => {
    let app: TestApp;
    before(async () => {
      const settings = { 'users.password_max_days': '30', 'users.reset_first_password': 'true' };
      app = await startApp(engine, { clock, settings });
    });
    after(() => app?.close());

    test('a first sign-in and an expired password get a token to set a new one, and no session', async () => {
      const { username, password } = await addPerson(app);
      const trySignIn = (secret: string) => openBrowser(app).signIn({ username, password: secret });
      const first = await trySignIn(password);
      assert.equal(first.status, 403);
      assert.match(first.body.Message, /^The password has expired/);
      assert.deepEqual(first.headers.getSetCookie(), []);
      assert.equal((await trySignIn('wrong')).body.reset_token, undefined);
      const body = { token: first.body.reset_token, new_password: newPassword };
      assert.equal((await openBrowser(app).ask('POST', '/api/session/reset', { body })).status, 200);
      const { users } = app.application.installation.services;
      const [user] = await users.findByEmail(username);
      assert.equal((await trySignIn(newPassword)).status, 200);
      nowMs += 31 * 86_400_000;
      assert.equal((await trySignIn(newPassword)).status, 403);
      const write = { name: 'Aged', active: true, password_max_days: 40, user_permissions: { apis: 'read' } };
      const { Meta: groupId } = (await app.ask('POST', '/api/usergroups', { body: write })).body;
      await users.change({ id: user!.id }, it => ({ ...it, group_id: groupId }));
      assert.equal((await trySignIn(newPassword)).status, 200, 'the limit of the group counts');
      await users.change({ id: user!.id }, it => ({ ...it, password_max_days: 20 }));
      assert.equal((await trySignIn(newPassword)).status, 403, 'the limit of the user counts first');
    });

    test('without a mail server the response refers to an administrator', async () => {
      const answer = await openBrowser(app).ask('POST', '/api/session/forgot', { body: { email: 'a@example.org' } });
      assert.equal(answer.status, 200);
      assert.match(answer.body.Message, /^No mail server is configured: ask an administrator/);
    });
  });
