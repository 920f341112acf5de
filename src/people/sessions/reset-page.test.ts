import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser, type Person } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const newPassword = 'Correct Horse 9';

onEveryEngine(
  'Page to set a password',
  app => {
    const createToken = async ({ id }: Person): Promise<string> =>
      (await app().ask('POST', '/admin/users/actions/reset-link', { body: { user_id: id } })).body.Meta.token;
    const open = (token: string) => app().ask('GET', `/login/reset?token=${encodeURIComponent(token)}`);
    const submit = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      app().ask('POST', '/login/reset', {
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    const set = (token: string, password = newPassword, repeated = password) =>
      submit({ token, new_password: password, repeated_password: repeated });

    test('the form sets the password once, also concurrently, and ends the sessions', async () => {
      const person = await addPerson(app());
      const browser = openBrowser(app());
      await browser.signIn({ username: person.username, password: person.password });
      const token = await createToken(person);
      const form = await open(token);
      assert.equal(form.status, 200);
      assert.match(form.text, /<form method="post" action="reset">/);
      assert.ok(form.text.includes(`name="token" value="${token}"`) && form.text.includes(person.username));
      assert.match(form.text, /at least 8 characters.*both upper and lower case.*one of the last 3/s);
      assert.equal((await open(token)).status, 200, 'opening the page uses nothing');
      const answers = await Promise.all([set(token), set(token), set(token)]);
      assert.deepEqual(answers.map(it => it.status).sort(), [200, 400, 400]);
      const done = answers.find(it => it.status === 200)!;
      assert.match(done.text, /The new password is set/);
      assert.ok(!done.text.includes(newPassword));
      assert.match((await open(token)).text, /This link no longer works/);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      const { username } = person;
      assert.equal((await openBrowser(app()).signIn({ username, password: newPassword })).status, 200);
    });

    test('a password that differs from its repetition or breaks the policy is explained, and the link still works', async () => {
      const person = await addPerson(app());
      const token = await createToken(person);
      const differing = await set(token, newPassword, `${newPassword} `);
      assert.equal(differing.status, 400);
      assert.match(differing.text, /role="alert">.*The two passwords differ/s);
      assert.ok(!differing.text.includes(newPassword));
      const short = await set(token, 'short');
      assert.match(short.text, /role="alert"><ul><li>Password must have at least 8 characters<\/li><li>[^<]*case/);
      const earlier = await set(token, person.password);
      assert.match(earlier.text, /role="alert"><ul><li>Password may not be one of the last 3</);
      assert.equal((await set(token)).status, 200);
    });

    test('an unknown, expired, incomplete or doubled token gets a clear page and changes nothing', async () => {
      const person = await addPerson(app());
      const token = await createToken(person);
      for (const answer of [
        await open(''),
        await open('x'.repeat(300)),
        await app().ask('GET', '/login/reset'),
        await app().ask('GET', `/login/reset?token=${token}&token=${token}`),
        await set(`${token.slice(0, -1)}*`),
        await submit({}),
      ]) {
        assert.equal(answer.status, 400);
        assert.match(answer.text, /This link no longer works.*The password was not changed/s);
      }
      nowMs += 86_400_000;
      assert.match((await open(token)).text, /This link no longer works/);
      assert.match((await set(token)).text, /This link no longer works/);
      const { username, password } = person;
      assert.equal((await openBrowser(app()).signIn({ username, password })).status, 200);
    });

    test('pages run no script, load the stylesheet only, are not framed, stored or named to other sites', async () => {
      const person = await addPerson(app());
      const hostile = await open('"><script>alert(1)</script>');
      const form = await open(await createToken(person));
      for (const { headers, text } of [hostile, form]) {
        assert.doesNotMatch(text, /<script/i);
        assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(
          headers.get('content-security-policy'),
          "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        );
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.equal(headers.get('referrer-policy'), 'no-referrer');
      }
      const css = await app().ask('GET', '/login/page.css');
      assert.deepEqual([css.status, css.headers.get('content-type')], [200, 'text/css; charset=utf-8']);
    });

    test('a form of another encoding or size is refused with a page', async () => {
      const token = await createToken(await addPerson(app()));
      const json = await submit({ token }, { 'content-type': 'application/json' });
      assert.deepEqual([json.status, json.headers.get('content-type')], [415, 'text/html; charset=utf-8']);
      const large = await set(token, 'x'.repeat(70_000));
      assert.deepEqual([large.status, large.headers.get('content-type')], [413, 'text/html; charset=utf-8']);
      assert.equal((await open(token)).status, 200);
    });

    test('a password set by the form is in the audit log, without token and password', async () => {
      const person = await addPerson(app());
      const token = await createToken(person);
      await set(token);
      const { records } = app().application.installation;
      const query = records.db.selectFrom('audit').selectAll().where('action', '=', 'resetForgottenPassword');
      const entry = await query.orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
      assert.deepEqual(
        [entry.actor, entry.url, entry.status, entry.ip],
        [person.username, '/login/reset', 200, '127.0.0.1'],
      );
      assert.ok(!JSON.stringify(entry).includes(token) && !JSON.stringify(entry).includes(newPassword));
    });

    test('the portal and the traffic port have no such page', async () => {
      for (const url of [app().url.portal, app().url.gateway])
        assert.equal((await fetch(`${url}/login/reset?token=x`)).status, 404);
    });
  },
  {
    clock,
    settings: { 'users.password_min_length': '8', 'users.password_multi_case': 'true', 'users.password_history': '3' },
  },
);
