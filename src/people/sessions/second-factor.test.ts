import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser, type Person } from '../../../tests/support/browser.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const nextStep = () => {
  nowMs += 30_000;
};

onEveryEngine(
  'Second factor',
  app => {
    const code = (secret: string) => computeTotp(secret, toTotpStep(nowMs));
    const trySignIn = ({ username, password }: Person, otp?: string) =>
      openBrowser(app()).signIn({ username, password, ...(otp !== undefined && { otp }) });

    /** A user with an authenticator app, signed in. */
    async function enrol() {
      const person = await addPerson(app());
      const browser = openBrowser(app());
      await browser.signIn({ username: person.username, password: person.password });
      const { body } = await browser.ask('POST', '/api/session/totp', { body: { password: person.password } });
      const confirmed = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code(body.secret) } });
      assert.equal(confirmed.status, 200, confirmed.text);
      nextStep();
      return { person, browser, secret: body.secret as string, codes: confirmed.body.recovery_codes as string[] };
    }

    test('TOTP counts from the first confirmed code on, and ends the other sessions', async () => {
      const person = await addPerson(app());
      const [browser, other] = [openBrowser(app()), openBrowser(app())];
      const { username, password } = person;
      for (const it of [browser, other]) await it.signIn({ username, password });
      assert.equal((await browser.ask('POST', '/api/session/totp', { body: { password: 'wrong' } })).status, 403);
      const { body } = await browser.ask('POST', '/api/session/totp', { body: { password } });
      assert.match(
        body.uri,
        /^otpauth:\/\/totp\/Gatewright:p\w+%40example\.org\?secret=[A-Z2-7]{32}&issuer=Gatewright$/,
      );
      assert.equal((await trySignIn(person)).status, 200, 'a pending secret is not required');
      const wrong = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: '000' } });
      assert.equal(wrong.status, 400);
      const confirmed = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code(body.secret) } });
      assert.equal(confirmed.body.recovery_codes.length, 10);
      assert.equal((await other.ask('GET', '/api/session')).status, 401);
      const own = (await browser.ask('GET', '/api/session')).body;
      assert.deepEqual([own.second_factors, own.recovery_codes_left], [['totp'], 10]);
      const again = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code(body.secret) } });
      assert.equal(again.status, 404);
    });

    test('a sign-in requires the code after the right password only', async () => {
      const { person, secret } = await enrol();
      const missing = await trySignIn(person);
      assert.deepEqual([missing.status, missing.body.second_factors], [401, ['totp']]);
      assert.deepEqual(missing.headers.getSetCookie(), []);
      const { username } = person;
      const wrong = await openBrowser(app()).signIn({ username, password: 'wrong', otp: code(secret) });
      const wrongCode = await trySignIn(person, '000 000');
      assert.deepEqual(
        [wrong.status, wrong.text, wrongCode.status, wrongCode.text],
        [401, wrongCode.text, 401, wrong.text],
      );
      assert.equal(wrong.body.second_factors, undefined);
      assert.equal((await trySignIn(person, code(secret))).status, 200);
    });

    test('a code is accepted once, also concurrently, and no earlier one after it', async () => {
      const { person, secret } = await enrol();
      const used = code(secret);
      const answers = await Promise.all([1, 2, 3].map(() => trySignIn(person, used)));
      assert.deepEqual(answers.map(it => it.status).sort(), [200, 401, 401]);
      nextStep();
      assert.equal((await trySignIn(person, code(secret))).status, 200);
      nowMs -= 30_000;
      assert.equal((await trySignIn(person, used)).status, 401);
      nextStep();
    });

    test('concurrent enrolments leave one secret, whose recovery codes are the only ones', async () => {
      const { username, password, id } = await addPerson(app());
      const browser = openBrowser(app());
      await browser.signIn({ username, password });
      const create = () => browser.ask('POST', '/api/session/totp', { body: { password } });
      const created = await Promise.all([create(), create(), create()]);
      assert.deepEqual(
        created.map(it => it.status),
        [200, 200, 200],
      );
      const secret = (await app().application.installation.services.factors.findTotpSecret(id, 'totp_pending'))!;
      const confirm = () => browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code(secret) } });
      const confirmed = await Promise.all([confirm(), confirm(), confirm()]);
      assert.deepEqual(confirmed.map(it => it.status).sort(), [200, 404, 404]);
      nextStep();
      const { recovery_codes: codes } = confirmed.find(it => it.status === 200)!.body;
      const renewals = await Promise.all(
        [codes[0], codes[1]].map(otp =>
          browser.ask('POST', '/api/session/recovery-codes', { body: { password, otp } }),
        ),
      );
      assert.ok(renewals.every(it => it.status === 200 || it.status === 403));
      assert.equal((await browser.ask('GET', '/api/session')).body.recovery_codes_left, 10);
    });

    test('a recovery code is accepted once, also concurrently', async () => {
      const { person, codes } = await enrol();
      const answers = await Promise.all([1, 2, 3].map(() => trySignIn(person, codes[0])));
      assert.deepEqual(answers.map(it => it.status).sort(), [200, 401, 401]);
    });

    test('a recovery code replaces the code once, with or without dashes, for its own user only', async () => {
      const { person, browser, codes } = await enrol();
      const other = await enrol();
      assert.equal((await trySignIn(other.person, codes[0])).status, 401);
      assert.equal((await trySignIn(person, codes[0]!.toUpperCase())).status, 200);
      assert.equal((await trySignIn(person, codes[0])).status, 401);
      assert.equal((await trySignIn(person, codes[1]!.replaceAll('-', ' '))).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).body.recovery_codes_left, 8);
    });

    test('wrong codes are limited like wrong passwords', async () => {
      const { person, secret } = await enrol();
      for (let index = 0; index < 5; index++) assert.equal((await trySignIn(person, '000')).status, 401);
      assert.equal((await trySignIn(person, code(secret))).status, 429);
      nowMs += 901_000;
      assert.equal((await trySignIn(person, code(secret))).status, 200);
    });

    test('an access key without the password and a code neither replaces nor removes the factor', async () => {
      const { person, secret, codes } = await enrol();
      const { accessKey: credential, password } = person;
      const ask = (path: string, body: object) => app().ask('POST', path, { credential, body });
      for (const path of ['/api/session/totp', '/api/session/totp/disable', '/api/session/recovery-codes']) {
        assert.equal((await ask(path, { password: 'wrong', otp: codes[0] })).status, 403, path);
        const missing = await ask(path, { password });
        assert.deepEqual([missing.status, missing.body.second_factors], [403, ['totp']], path);
        nowMs += 901_000;
      }
      assert.equal((await trySignIn(person)).status, 401);
      const renewed = await ask('/api/session/recovery-codes', { password, otp: codes[0] });
      assert.equal(renewed.status, 200, renewed.text);
      assert.equal((await trySignIn(person, codes[1])).status, 401, 'earlier codes are void');
      assert.equal((await ask('/api/session/totp/disable', { password, otp: code(secret) })).status, 200);
      assert.equal((await trySignIn(person)).status, 200);
      assert.equal((await ask('/api/session/recovery-codes', { password })).status, 404);
      assert.equal((await ask('/api/session/totp/disable', { password })).status, 404);
    });

    test('an administrator with ResetPassword removes the factor of another user, not its own', async () => {
      const [{ person, browser }, admin] = [await enrol(), await enrol()];
      const remove = (id: string, credential: string) =>
        app().ask('DELETE', `/api/users/${id}/second-factor`, { credential });
      const { accessKey: stranger } = await app().stranger();
      const weak = await addPerson(app(), { user_permissions: { users: 'write' } });
      assert.equal((await remove(person.id, stranger)).status, 404);
      assert.equal((await remove(person.id, weak.accessKey)).status, 403);
      assert.equal((await remove(admin.person.id, admin.person.accessKey)).status, 409);
      const restricted = await addPerson(app(), { user_permissions: { IsAdmin: 'admin' } });
      const refused = await remove(person.id, restricted.accessKey);
      assert.deepEqual([refused.status, /ResetPassword/.test(refused.text)], [403, true]);
      assert.equal((await remove(person.id, admin.person.accessKey)).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      assert.equal((await remove(person.id, admin.person.accessKey)).status, 404);
      assert.equal((await trySignIn(person)).status, 200);
    });

    test('the operator removes the factor of any user, such as of the only administrator', async () => {
      const { person, browser } = await enrol();
      const path = `/admin/users/${person.id}/second-factor`;
      assert.equal((await app().ask('DELETE', path, { credential: person.accessKey })).status, 401);
      assert.equal((await app().ask('DELETE', path)).status, 200);
      assert.equal((await browser.ask('GET', '/api/session')).status, 401);
      assert.equal((await app().ask('DELETE', path)).status, 404);
      assert.equal((await trySignIn(person)).status, 200);
    });

    test('a new password keeps the factor, and secrets and codes are not readable in the database', async () => {
      const { person, secret, codes } = await enrol();
      const { records, services } = app().application.installation;
      const other = await addPerson(app());
      const stored = await services.users.get(other.orgId, other.id);
      await services.users.change({ id: person.id }, it => ({ ...it, password: stored!.password }));
      assert.equal((await trySignIn({ ...person, password: other.password })).status, 401);
      const rows = await records.db.selectFrom('user_factors').selectAll().where('user_id', '=', person.id).execute();
      const text = JSON.stringify(rows);
      assert.equal(rows.length, 11);
      for (const value of [secret, ...codes]) assert.ok(!text.includes(value));
      await app().ask('DELETE', `/api/users/${person.id}`);
      const left = await records.db.selectFrom('user_factors').selectAll().where('user_id', '=', person.id).execute();
      assert.deepEqual(left, []);
    });
  },
  { clock, settings: { 'sign_in.max_account_failures': '5', 'sign_in.max_address_failures': '0' } },
);

onEveryEngine(
  'Second factor without limits on sign-ins',
  app => {
    test('codes of one user are limited all the same, by window and by day', async () => {
      const { username, password } = await addPerson(app());
      const browser = openBrowser(app());
      await browser.signIn({ username, password });
      const { secret } = (await browser.ask('POST', '/api/session/totp', { body: { password } })).body;
      const code = () => computeTotp(secret, toTotpStep(nowMs));
      await browser.ask('POST', '/api/session/totp/confirm', { body: { otp: code() } });
      nextStep();
      const tryCode = (otp: string) => openBrowser(app()).signIn({ username, password, otp });
      const answers = await Promise.all(Array.from({ length: 12 }, () => tryCode('000')));
      const statuses = answers.map(it => it.status);
      assert.deepEqual([statuses.filter(it => it === 401).length, statuses.filter(it => it === 429).length], [10, 2]);
      assert.equal((await tryCode(code())).status, 429);
      nowMs += 901_000;
      assert.equal((await tryCode(code())).status, 200);
      for (let failures = 10; failures < 50; failures += 10) {
        nowMs += 901_000;
        await Promise.all(Array.from({ length: 10 }, () => tryCode('000')));
      }
      nowMs += 901_000;
      assert.equal((await tryCode(code())).status, 429);
      nowMs += 86_400_000;
      assert.equal((await tryCode(code())).status, 200);
    });
  },
  { clock, settings: { 'sign_in.max_account_failures': '0', 'sign_in.max_address_failures': '0' } },
);
