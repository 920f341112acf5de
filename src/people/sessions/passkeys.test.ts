import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { type Authenticator, type CeremonyFault, createAuthenticator } from '../../../tests/support/authenticator.ts';
import { addPerson, type Browser, openBrowser, type Person } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const origin = 'https://gw.example.org';

onEveryEngine(
  'Passkeys',
  app => {
    // Failures of earlier tests no longer count.
    beforeEach(() => {
      nowMs += 901_000;
    });

    async function openSession(person?: Person) {
      const owner = person ?? (await addPerson(app()));
      const browser = openBrowser(app());
      const { status } = await browser.signIn({ username: owner.username, password: owner.password });
      assert.equal(status, 200);
      return { person: owner, browser };
    }
    const start = async (browser: Browser, { password }: Person) => {
      const { status, body, text } = await browser.ask('POST', '/api/session/passkeys/challenge', {
        body: { password },
      });
      assert.equal(status, 200, text);
      return body.publicKey;
    };
    const add = (browser: Browser, credential: unknown, name = 'Laptop') =>
      browser.ask('POST', '/api/session/passkeys', { body: { name, credential } });
    const requestOptions = async () =>
      (await openBrowser(app()).ask('POST', '/api/session/passkey/challenge', { body: {} })).body.publicKey;
    const send = (credential: unknown, browser = openBrowser(app())) =>
      browser.ask('POST', '/api/session/passkey', { body: { credential } });
    const signIn = async (authenticator: Authenticator, fault?: CeremonyFault) =>
      send(authenticator.get(await requestOptions(), fault));

    /** A user with a passkey. */
    async function enrol(algorithm?: 'ES256' | 'EdDSA' | 'RS256', person?: Person) {
      const opened = await openSession(person);
      const authenticator = createAuthenticator(origin, algorithm);
      const added = await add(opened.browser, authenticator.create(await start(opened.browser, opened.person)));
      assert.equal(added.status, 200, added.text);
      return { ...opened, authenticator, passkey: added.body };
    }

    test('a passkey of each algorithm is added and signs in without password and code', async () => {
      for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
        const { person, authenticator } = await enrol(algorithm);
        const browser = openBrowser(app());
        const answer = await send(authenticator.get(await requestOptions()), browser);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.user.id, person.id);
        assert.match(
          answer.headers.getSetCookie()[0] ?? '',
          /^authorisation=[\w-]{43}; .*HttpOnly; SameSite=Lax; Secure$/,
        );
        assert.equal((await browser.ask('GET', '/api/session')).body.passkeys, 1);
      }
    });

    test('creation options name the relying party, the user and known passkeys, and require verification', async () => {
      const { person, browser, authenticator } = await enrol();
      const options = await start(browser, person);
      assert.deepEqual(options.rp, { id: 'example.org', name: 'Gatewright' });
      assert.equal(Buffer.from(options.user.id, 'base64url').toString(), person.id);
      assert.equal(options.user.name, person.username);
      assert.deepEqual(
        options.excludeCredentials.map((it: { id: string }) => it.id),
        [authenticator.id],
      );
      assert.equal(options.authenticatorSelection.userVerification, 'required');
      assert.equal(options.authenticatorSelection.residentKey, 'required');
      assert.equal(options.attestation, 'none');
      assert.equal((await requestOptions()).userVerification, 'required');
    });

    test('a new passkey needs the password, however the request is authenticated', async () => {
      const { person, browser } = await openSession();
      const path = '/api/session/passkeys/challenge';
      assert.equal((await browser.ask('POST', path, { body: { password: 'wrong' } })).status, 403);
      const { accessKey: credential } = person;
      assert.equal((await app().ask('POST', path, { credential, body: { password: 'wrong' } })).status, 403);
      assert.equal((await app().ask('POST', path, { credential, body: {} })).status, 400);
    });

    test('an account with an authenticator app adds a passkey with a code, and signs in without one', async () => {
      const { person, browser } = await openSession();
      const { username, password } = person;
      const { secret } = (await browser.ask('POST', '/api/session/totp', { body: { password } })).body;
      const code = () => computeTotp(secret, toTotpStep(nowMs));
      await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code() } });
      const path = '/api/session/passkeys/challenge';
      assert.equal((await browser.ask('POST', path, { body: { password } })).status, 403);
      assert.deepEqual((await openBrowser(app()).signIn({ username, password })).body.second_factors, ['totp']);
      nowMs += 30_000;
      const started = await browser.ask('POST', path, { body: { password, otp: code() } });
      const authenticator = createAuthenticator(origin);
      assert.equal((await add(browser, authenticator.create(started.body.publicKey))).status, 200);
      const missing = await openBrowser(app()).signIn({ username, password });
      assert.deepEqual([missing.status, missing.body.second_factors], [401, ['totp', 'passkey']]);
      assert.equal((await signIn(authenticator)).status, 200);
      const other = await addPerson(app());
      const list = `/api/users/second-factors?ids=${other.id},${person.id}`;
      assert.deepEqual((await app().ask('GET', list)).body.users, [{ id: person.id, totp: true, passkeys: 1 }]);
      const { accessKey: credential } = await app().stranger();
      assert.deepEqual((await app().ask('GET', list, { credential })).body.users, []);
    });

    test('a faulty registration is rejected with a reason, and adds nothing', async () => {
      const { person, browser } = await openSession();
      const faults: [CeremonyFault, RegExp][] = [
        [{ origin: 'https://evil.example' }, /its origin is not https:\/\/gw\.example\.org/],
        [{ origin: `${origin}.evil.example` }, /its origin is not/],
        [{ rpId: 'evil.example' }, /not for the relying party example\.org/],
        [{ type: 'webauthn.get' }, /its type is not webauthn\.create/],
        [{ crossOrigin: true }, /frame of another site/],
        [{ withoutFlags: 4 }, /the user was not verified/],
        [{ withoutFlags: 1 }, /the user was not present/],
        [{ withFlags: 16 }, /backup flags/],
        [{ withoutFlags: 64 }, /surplus bytes/],
        [{ surplus: Buffer.from([0]) }, /surplus bytes/],
        [{ withFlags: 128 }, /truncated/],
        [{ coseKey: Buffer.from([0xa0]) }, /unsupported algorithm/],
        [{ coseKey: Buffer.from([0x5f]) }, /indefinite length/],
        [{ challenge: (await requestOptions()).challenge }, /challenge/],
        [{ challenge: 'AAAA' }, /challenge/],
      ];
      for (const [fault, reason] of faults) {
        const answer = await add(browser, createAuthenticator(origin).create(await start(browser, person), fault));
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.body.Message, reason);
      }
      assert.deepEqual((await browser.ask('GET', '/api/session/passkeys')).body.passkeys, []);
    });

    test('a registration challenge is for one user, once and for five minutes', async () => {
      const [ann, ben] = [await openSession(), await openSession()];
      const foreign = createAuthenticator(origin).create(await start(ann.browser, ann.person));
      assert.equal((await add(ben.browser, foreign)).status, 400);
      const options = await start(ann.browser, ann.person);
      const credentials = [1, 2, 3].map(() => createAuthenticator(origin).create(options));
      const answers = await Promise.all(credentials.map(it => add(ann.browser, it)));
      assert.deepEqual(answers.map(it => it.status).sort(), [200, 400, 400]);
      const late = createAuthenticator(origin).create(await start(ann.browser, ann.person));
      nowMs += 300_000;
      assert.equal((await add(ann.browser, late)).status, 400);
    });

    test('a passkey belongs to one account of the installation', async () => {
      const { authenticator } = await enrol();
      const { orgId } = await app().stranger();
      const other = await openSession(await addPerson(app(), { org_id: orgId }));
      const answer = await add(other.browser, authenticator.create(await start(other.browser, other.person)));
      assert.deepEqual([answer.status, answer.body.Message], [409, 'This passkey is registered already']);
    });

    test('a sign-in challenge works once, also concurrently, and for five minutes', async () => {
      const { authenticator, person } = await enrol();
      const used = authenticator.get(await requestOptions(), { signCount: 0 });
      const answers = await Promise.all([send(used), send(used), send(used)]);
      assert.deepEqual(answers.map(it => it.status).sort(), [200, 400, 400]);
      // Also after a change that ends the sessions of the user.
      await app().application.installation.services.users.change({ id: person.id }, it => ({
        ...it,
        email_address: `new-${it.email_address}`,
      }));
      assert.equal((await send(used)).status, 400);
      const late = authenticator.get(await requestOptions());
      nowMs += 300_000;
      assert.equal((await send(late)).status, 400);
    });

    test('an assertion of another origin, relying party or user, or without verification, opens no session', async () => {
      const { authenticator } = await enrol();
      const other = await enrol();
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const faults: [CeremonyFault, number][] = [
        [{ origin: 'https://evil.example' }, 400],
        [{ rpId: 'gw.example.org' }, 400],
        [{ type: 'webauthn.create' }, 400],
        [{ withoutFlags: 4 }, 400],
        [{ withoutFlags: 1 }, 400],
        [{ surplus: Buffer.from([1]) }, 400],
        [{ challenge: (await start(other.browser, other.person)).challenge }, 400],
        [{ key: privateKey }, 401],
        [{ userHandle: Buffer.from(other.person.id).toString('base64url') }, 401],
      ];
      for (const [fault, status] of faults) {
        const answer = await signIn(authenticator, fault);
        assert.equal(answer.status, status, `${Object.keys(fault)}: ${answer.text}`);
        assert.deepEqual(answer.headers.getSetCookie(), []);
      }
      assert.equal((await signIn(createAuthenticator(origin), { userHandle: 'AAAA' })).status, 401);
      const options = await requestOptions();
      const foreign = { ...authenticator.get(options), id: other.authenticator.id };
      assert.equal((await send(foreign)).status, 401);
      const broken = authenticator.get(options);
      for (const signature of ['AAAA', broken.response.signature.slice(0, 40)])
        assert.equal((await send({ ...broken, response: { ...broken.response, signature } })).status, 401);
      assert.equal((await signIn(authenticator)).status, 200);
    });

    test('a signature counter that does not grow is refused', async () => {
      const { authenticator } = await enrol();
      assert.equal(
        (await signIn(authenticator, { signCount: 0 })).status,
        200,
        'synchronised passkeys have no counter',
      );
      assert.equal((await signIn(authenticator, { signCount: 7 })).status, 200);
      for (const signCount of [7, 6, 0]) assert.equal((await signIn(authenticator, { signCount })).status, 401);
      assert.equal((await signIn(authenticator, { signCount: 8 })).status, 200);
    });

    test('passkeys are listed, renamed and removed by their user only', async () => {
      const { person, browser, authenticator, passkey } = await enrol();
      const stranger = await openSession();
      const path = `/api/session/passkeys/${passkey.id}`;
      assert.equal((await browser.ask('PUT', path, { body: { name: ' Phone ' } })).body.name, 'Phone');
      assert.equal((await browser.ask('PUT', path, { body: { name: ' ' } })).status, 400);
      const used = await signIn(authenticator);
      assert.equal(used.status, 200);
      const [listed] = (await browser.ask('GET', '/api/session/passkeys')).body.passkeys;
      assert.deepEqual([listed.id, listed.name, listed.backed_up], [passkey.id, 'Phone', false]);
      assert.ok(listed.last_used_at);
      assert.deepEqual((await stranger.browser.ask('GET', '/api/session/passkeys')).body.passkeys, []);
      assert.equal((await stranger.browser.ask('PUT', path, { body: { name: 'X' } })).status, 404);
      const remove = (by: { browser: Browser; person: Person }, password = by.person.password) =>
        by.browser.ask('POST', `${path}/remove`, { body: { password } });
      assert.equal((await remove(stranger)).status, 404);
      assert.equal((await remove({ browser, person }, 'wrong')).status, 403);
      assert.equal((await remove({ browser, person })).status, 200);
      assert.equal((await remove({ browser, person })).status, 404);
      assert.equal((await signIn(authenticator)).status, 401);
    });

    test('a challenge of a registration is void after a change of the password', async () => {
      const { person, browser } = await openSession();
      const credential = createAuthenticator(origin).create(await start(browser, person));
      const { users } = app().application.installation.services;
      const other = await addPerson(app());
      const { password } = (await users.get(other.orgId, other.id))!;
      await users.change({ id: person.id }, it => ({ ...it, password }));
      const answer = await app().ask('POST', '/api/session/passkeys', {
        credential: person.accessKey,
        body: { name: 'Thief', credential },
      });
      assert.deepEqual([answer.status, /challenge is invalid/.test(answer.text)], [400, true], answer.text);
    });

    test('a user has at most 20 passkeys, also concurrently', async () => {
      const { person, browser } = await enrol();
      const credentials = [];
      for (let index = 0; index < 22; index++)
        credentials.push(createAuthenticator(origin).create(await start(browser, person)));
      const answers = await Promise.all(credentials.map(it => add(browser, it)));
      assert.equal(answers.filter(it => it.status === 200).length, 19);
      assert.deepEqual([...new Set(answers.map(it => it.status))].sort(), [200, 409]);
    });

    test('an inactive or deleted user, and one whose factors an administrator removed, has no passkey sign-in', async () => {
      const [inactive, deleted, reset] = [await enrol(), await enrol(), await enrol()];
      const { users } = app().application.installation.services;
      await users.change({ id: inactive.person.id }, it => ({ ...it, active: false }));
      assert.equal((await signIn(inactive.authenticator)).status, 403);
      await app().ask('DELETE', `/api/users/${deleted.person.id}`);
      assert.equal((await signIn(deleted.authenticator)).status, 401);
      assert.equal((await app().ask('DELETE', `/api/users/${reset.person.id}/second-factor`)).status, 200);
      assert.equal((await signIn(reset.authenticator)).status, 401);
    });

    test('failed sign-ins with passkeys are limited by address, and are in the audit log with their user', async () => {
      const { person, authenticator } = await enrol();
      assert.equal((await signIn(authenticator, { userHandle: 'AAAA' })).status, 401);
      const { records } = app().application.installation;
      const entry = await records.db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'signInWithPasskey')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      assert.deepEqual([entry.actor, entry.status], [person.username, 401]);
      nowMs += 901_000;
      for (let index = 0; index < 40; index++) await signIn(authenticator, { userHandle: 'AAAA' });
      assert.equal((await signIn(authenticator)).status, 429);
      nowMs += 901_000;
      assert.equal((await signIn(authenticator)).status, 200);
    });
  },
  {
    clock,
    settings: {
      'dashboard.url': origin,
      'sign_in.passkey_rp_id': 'example.org',
      'sign_in.max_account_failures': '0',
      'sign_in.max_address_failures': '40',
    },
  },
);
