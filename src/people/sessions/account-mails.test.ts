import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { createAuthenticator } from '../../../tests/support/authenticator.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const origin = 'https://gw.example.org';

for (const engine of engines)
  describe(`Mails about changes of an account (${engine})`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      const settings = {
        'mail.smtp_url': mail.url,
        'mail.from': 'Gatewright <gw@example.org>',
        'mail.require_tls': 'false',
        'dashboard.url': origin,
        'sign_in.max_account_failures': '0',
        'sign_in.max_address_failures': '0',
      };
      app = await startApp(engine, { clock, settings });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });

    async function openSession() {
      const person = await addPerson(app);
      const browser = openBrowser(app);
      await browser.signIn({ username: person.username, password: person.password });
      const ask = async (path: string, body: object) => {
        const answer = await browser.ask('POST', path, { body });
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      };
      const expectMail = async (text: RegExp) => {
        const received = await mail.take();
        assert.deepEqual(received.to, [person.username]);
        assert.match(received.text, text);
        return received.text;
      };
      return { person, ask, expectMail };
    }

    test('an authenticator app that is added or removed, and new recovery codes, are reported without secrets', async () => {
      const { person, ask, expectMail } = await openSession();
      const { password } = person;
      const { secret } = await ask('/api/session/totp', { password });
      const code = () => {
        nowMs += 30_000;
        return computeTotp(secret, toTotpStep(nowMs));
      };
      const { recovery_codes } = await ask('/api/session/totp/confirm', { otp: code() });
      const texts = [await expectMail(/An authenticator app was added/)];
      await ask('/api/session/recovery-codes', { password, otp: code() });
      texts.push(await expectMail(/recovery codes were replaced/));
      await ask('/api/session/totp/disable', { password, otp: code() });
      texts.push(await expectMail(/authenticator app was removed/));
      for (const value of [secret, password, ...recovery_codes]) assert.ok(!texts.join('').includes(value));
    });

    test('passkeys that are added or removed are reported, and factors that an administrator removes', async () => {
      const { person, ask, expectMail } = await openSession();
      const { password } = person;
      const register = async () => {
        const { publicKey } = await ask('/api/session/passkeys/challenge', { password });
        const credential = createAuthenticator(origin).create(publicKey);
        const added = await ask('/api/session/passkeys', { name: 'Laptop', credential });
        await expectMail(/A passkey was added/);
        return added.id as string;
      };
      await ask(`/api/session/passkeys/${await register()}/remove`, { password });
      await expectMail(/A passkey was removed/);
      await register();
      assert.equal((await app.ask('DELETE', `/api/users/${person.id}/second-factor`)).status, 200);
      await expectMail(/An administrator removed/);
    });

    test('wrong codes after the right password are reported when they reach the limit', async () => {
      const { person, ask, expectMail } = await openSession();
      const { username, password } = person;
      const { secret } = await ask('/api/session/totp', { password });
      await ask('/api/session/totp/confirm', { otp: computeTotp(secret, toTotpStep(nowMs)) });
      await expectMail(/authenticator app was added/);
      for (let index = 0; index < 10; index++)
        assert.equal((await openBrowser(app).signIn({ username, password, otp: '000' })).status, 401);
      await expectMail(/right password and wrong codes/);
    });
  });
