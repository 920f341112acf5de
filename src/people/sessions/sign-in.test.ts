import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeTotp, createTotpSecret, toTotpStep } from '#base/totp.ts';
import { type Answer, onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const nextWindow = () => {
  nowMs += 901_000;
};

onEveryEngine(
  'Sign-in',
  app => {
    const trySignIn = (credentials: object, headers: Record<string, string> = {}) =>
      openBrowser(app()).ask('POST', '/api/session', { body: credentials, headers });
    const from = (address: string) => ({ 'x-forwarded-for': address });

    test('an unknown address, a wrong password and a user without one get the same response', async () => {
      nextWindow();
      const { username } = await addPerson(app());
      const bare = { email_address: 'bare@example.org', first_name: 'B', last_name: 'C', active: true };
      await app().ask('POST', '/admin/users', { body: bare });
      const answers: Answer[] = [];
      for (const name of [username, 'bare@example.org', 'unknown@example.org'])
        answers.push(await trySignIn({ username: name, password: 'wrong' }));
      assert.deepEqual(
        answers.map(it => [it.status, it.text]),
        Array.from({ length: 3 }, () => [401, answers[0]!.text]),
      );
      assert.equal(answers[0]!.body.Message, 'Wrong e-mail address, password or code');
      assert.deepEqual(answers[0]!.headers.getSetCookie(), []);
    });

    test('a sign-in to an inactive account gets 403 with the right password only', async () => {
      nextWindow();
      const { username, password, id } = await addPerson(app());
      await app().ask('PUT', `/admin/users/${id}`, { body: { active: false } });
      assert.equal((await trySignIn({ username, password: 'wrong' })).status, 401);
      const right = await trySignIn({ username, password });
      assert.deepEqual(
        [right.status, right.body.Message],
        [403, 'This account is inactive; an administrator can activate it'],
      );
    });

    test('failures of an account are limited by address, and other addresses still sign in', async () => {
      nextWindow();
      const { username, password } = await addPerson(app());
      const wrong = { username, password: 'wrong' };
      const statuses = await Promise.all(Array.from({ length: 8 }, () => trySignIn(wrong, from('10.0.0.1'))));
      assert.deepEqual(
        statuses.map(it => it.status).sort(),
        [401, 401, 401, 429, 429, 429, 429, 429],
        'also concurrently',
      );
      const limited = await trySignIn({ username, password }, from('10.0.0.1'));
      assert.equal(limited.status, 429, 'the right password is not tried');
      assert.match(limited.body.Message, /^Too many failed sign-ins; try again in 900 seconds$/);
      assert.equal(limited.headers.get('retry-after'), '900');
      assert.equal((await trySignIn({ username, password }, from('10.0.0.2'))).status, 200);
      nextWindow();
      assert.equal((await trySignIn({ username, password }, from('10.0.0.1'))).status, 200);
    });

    test('an unknown account is limited as a known one', async () => {
      nextWindow();
      const wrong = { username: 'not-there@example.org', password: 'wrong', org_id: 'none' };
      const statuses = await Promise.all(Array.from({ length: 4 }, () => trySignIn(wrong, from('10.0.0.3'))));
      assert.deepEqual(statuses.map(it => it.status).sort(), [401, 401, 401, 429]);
    });

    test('failures of an account from many addresses are limited too', async () => {
      nextWindow();
      const { username, password } = await addPerson(app());
      for (let index = 0; index < 30; index++)
        await trySignIn({ username, password: 'wrong' }, from(`10.1.0.${index}`));
      assert.equal((await trySignIn({ username, password }, from('10.2.0.1'))).status, 429);
    });

    test('failures of an address with many accounts are limited', async () => {
      nextWindow();
      const person = await addPerson(app());
      const others = await Promise.all(Array.from({ length: 5 }, () => addPerson(app())));
      for (const { username } of others) await trySignIn({ username, password: 'wrong' }, from('10.3.0.1'));
      const right = { username: person.username, password: person.password };
      assert.equal((await trySignIn(right, from('10.3.0.1'))).status, 429);
      assert.equal((await trySignIn(right, from('10.3.0.2'))).status, 200);
    });

    test('failures of one IPv6 network count together', async () => {
      nextWindow();
      const person = await addPerson(app());
      const others = await Promise.all(Array.from({ length: 5 }, () => addPerson(app())));
      for (const [index, { username }] of others.entries())
        await trySignIn({ username, password: 'wrong' }, from(`2001:db8:1:1::${index}`));
      const right = { username: person.username, password: person.password };
      assert.equal((await trySignIn(right, from('2001:db8:1:1:9::9'))).status, 429);
      assert.equal((await trySignIn(right, from('2001:db8:1:2::1'))).status, 200);
    });

    test('an IPv4 address that is mapped into IPv6 counts as that address', async () => {
      nextWindow();
      const person = await addPerson(app());
      const others = await Promise.all(Array.from({ length: 5 }, () => addPerson(app())));
      for (const [index, { username }] of others.entries())
        await trySignIn({ username, password: 'wrong' }, from(index % 2 ? '::ffff:10.5.0.1' : '10.5.0.1'));
      const right = { username: person.username, password: person.password };
      assert.equal((await trySignIn(right, from('::ffff:a05:1'))).status, 429);
    });

    test('sign-ins and sign-ons of one address have one limit', async () => {
      nextWindow();
      const headers = from('10.6.0.1');
      const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', DiscoverURL }];
      const body = { Name: 'F', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
      const { Meta } = (await app().ask('POST', '/api/sso/profiles', { body })).body;
      const callback = `/tib/auth/${Meta}/openid-connect/callback?code=c&state=s`;
      for (let index = 0; index < 3; index++)
        assert.equal((await app().ask('GET', callback, { credential: null, headers })).status, 403);
      const { username, password } = await addPerson(app());
      for (let index = 0; index < 2; index++)
        assert.equal((await trySignIn({ username, password: 'x' }, headers)).status, 401);
      assert.equal((await trySignIn({ username, password }, headers)).status, 429);
      assert.equal((await app().ask('GET', callback, { credential: null, headers })).status, 429);
    });

    test('guesses of the own password with a session or access key are limited', async () => {
      nextWindow();
      const person = await addPerson(app());
      const { accessKey: credential, id, password } = person;
      const headers = from('10.7.0.1');
      const reset = (current_password: string) =>
        app().ask('POST', `/api/users/${id}/actions/reset`, {
          credential,
          headers,
          body: { current_password, new_password: 'Another one 1' },
        });
      for (let index = 0; index < 3; index++) assert.equal((await reset(`wrong ${index}`)).status, 403);
      assert.equal((await reset(password)).status, 429);
      nextWindow();
      assert.equal((await reset(password)).status, 200);
    });

    test('a new own e-mail address requires the password and the code', async () => {
      nextWindow();
      const person = await addPerson(app(), { user_permissions: { users: 'write' } });
      const { accessKey: credential, id, password, username } = person;
      const write = { first_name: 'P', last_name: 'Q', active: true, user_permissions: { users: 'write' } };
      const put = (more: object) =>
        app().ask('PUT', `/api/users/${id}`, { credential, body: { ...write, email_address: username, ...more } });
      const moved = { email_address: `n${username}` };
      assert.equal((await put({ first_name: 'N' })).status, 200);
      assert.equal((await put(moved)).status, 403);
      assert.equal((await put({ ...moved, current_password: 'wrong' })).status, 403);
      const { factors, users } = app().application.installation.services;
      const user = (await users.get(person.orgId, id))!;
      const secret = createTotpSecret();
      await factors.activateTotp(user, secret, 0, [], nowMs);
      const missing = await put({ ...moved, current_password: password });
      assert.deepEqual([missing.status, missing.body.second_factors], [403, ['totp']], missing.text);
      const otp = computeTotp(secret, toTotpStep(nowMs));
      assert.equal((await put({ ...moved, current_password: password, otp })).status, 200);
      const stored = JSON.stringify(await users.get(person.orgId, id));
      assert.ok(
        stored.includes(moved.email_address) && !stored.includes('current_password') && !stored.includes('otp'),
      );
    });

    test('sign-ins that succeed do not count, and give an attacker no more attempts', async () => {
      nextWindow();
      const own = await addPerson(app());
      const right = { username: own.username, password: own.password };
      for (let index = 0; index < 7; index++) assert.equal((await trySignIn(right, from('10.4.0.1'))).status, 200);
      const others = await Promise.all(Array.from({ length: 5 }, () => addPerson(app())));
      for (const [index, { username }] of others.entries()) {
        await trySignIn({ username, password: 'wrong' }, from('10.4.0.1'));
        if (index < 4) assert.equal((await trySignIn(right, from('10.4.0.1'))).status, 200);
      }
      assert.equal((await trySignIn(right, from('10.4.0.1'))).status, 429);
    });

    test('sign-ins and failed attempts are audited with the account, never with the user name of the request', async () => {
      nextWindow();
      const person = await addPerson(app());
      const { username, password } = person;
      await trySignIn({ username, password });
      await trySignIn({ username, password: 'typed secret' });
      await trySignIn({ username: 'typed-secret', password: 'x' });
      const { records } = app().application.installation;
      const rows = await records.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(3).execute();
      assert.deepEqual(
        rows.map(it => [it.action, it.actor, it.org_id, it.status]),
        [
          ['signIn', 'unknown user', '', 401],
          ['signIn', username, person.orgId, 401],
          ['signIn', username, person.orgId, 200],
        ],
      );
      assert.ok(!JSON.stringify(rows).includes('typed'));
    });

    test('an address with accounts in several organisations gets those whose password is right, to choose from', async () => {
      nextWindow();
      const email_address = 'several@example.org';
      const [first, second] = [await app().stranger(), await app().stranger()];
      const one = await addPerson(app(), { email_address, org_id: first.orgId });
      const two = await addPerson(app(), { email_address, org_id: second.orgId });
      const { username, password } = one;
      assert.equal((await trySignIn({ username, password })).body.organisation.id, first.orgId);
      assert.equal((await trySignIn({ username, password: two.password })).body.organisation.id, second.orgId);
      assert.equal((await trySignIn({ username, password, org_id: second.orgId })).status, 401);
      const { users } = app().application.installation.services;
      const stored = await users.get(one.orgId, one.id);
      await users.change({ id: two.id }, user => ({ ...user, password: stored!.password }));
      const choice = await trySignIn({ username, password });
      assert.equal(choice.status, 409);
      assert.deepEqual(
        choice.body.organisations.map((it: { id: string }) => it.id).sort(),
        [first.orgId, second.orgId].sort(),
      );
      assert.deepEqual(choice.headers.getSetCookie(), []);
      const chosen = await trySignIn({ username, password, org_id: second.orgId });
      assert.equal(chosen.body.organisation.id, second.orgId);
    });

    test('an oversized body of a public operation is refused', async () => {
      const body = { username: 'a@example.org', password: 'x'.repeat(70_000) };
      assert.equal((await trySignIn(body)).status, 413);
    });
  },
  {
    clock,
    settings: {
      'management.trusted_proxies': '127.0.0.1',
      'sign_in.max_account_failures': '3',
      'sign_in.max_address_failures': '5',
    },
  },
);
