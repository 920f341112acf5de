import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { type EngineName, engines, rememberSecrets, startApp, type TestApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { eventually } from '../../../tests/support/traffic.ts';

const path = '/portal/private/profile/address';
const anAddress = () => `new-${createPublicId().toLowerCase()}@example.org`;

for (const engine of engines) describeChange(engine);

function describeChange(engine: EngineName): void {
  describe(`change of the own address on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      app = await startApp(engine, {
        settings: {
          'mail.smtp_url': mail.url,
          'mail.from': 'portal@example.org',
          'mail.require_tls': 'false',
          'portal.url': 'https://dev.example.org',
          'sign_in.max_address_failures': '1000',
        },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });

    const read = new Set<MailServer['mails'][number]>();
    /** A mail to an address with this subject that was not read yet: mails arrive in any order. */
    const takeMail = (to: string, subject: RegExp): Promise<string> =>
      eventually(() => {
        const isWanted = (it: MailServer['mails'][number]) => it.to[0] === to.toLowerCase() && subject.test(it.text);
        const found = mail.mails.find(it => !read.has(it) && isWanted(it));
        assert.ok(found, `no mail to ${to} with ${subject}`);
        read.add(found);
        return found.text;
      });
    const tokenIn = (text: string) => /https:\/\/dev\.example\.org\/auth\/address\?token=(\S+)/.exec(text)?.[1] ?? '';
    const takeToken = async (email: string) => tokenIn(await takeMail(email, /^Subject: Confirm your e-mail/m));
    const aUser = () => addDeveloper(app, { Password: sitePassword });
    const ask = (client: SiteClient, email: string, more: Record<string, string> = {}) =>
      client.post(path, { email, password: sitePassword, ...more });
    const confirm = (client: SiteClient, token: string, more: Record<string, string> = {}) =>
      client.post('/auth/address', { token, password: sitePassword, ...more });
    const emailOf = async ({ ID }: { ID: number }) =>
      (await requestPortal(app, 'GET', `/portal-api/users/${ID}`)).Email;

    test('the address changes when the link is confirmed, once, and the former one gets two notes', async () => {
      const user = await aUser();
      const [client, other] = [await signedInClient(app, user), await signedInClient(app, user)];
      const email = anAddress();
      const asked = await ask(client, email.toUpperCase(), { Role: 'super-admin', Active: 'false' });
      assert.match(asked.text, /<h1>Check your mail<\/h1>/);
      assert.deepEqual(await readLastAudit(app), ['requestOwnAddressChange', `portal:${user.ID}`, '', 200]);
      const note = await takeMail(user.Email, /^Subject: Your account was changed/m);
      assert.match(note, new RegExp(`change of the e-mail address to ${email} was requested`));
      const token = await takeToken(email);
      assert.match((await client.get(`/auth/address?token=${token}`)).text, /Confirm address/);
      assert.equal(await emailOf(user), user.Email, 'opening the link changes nothing');
      const wrong = await confirm(createSiteClient(app), token, { password: 'of another person' });
      assert.equal(wrong.status, 422);
      assert.equal(await emailOf(user), user.Email);
      const replies = await Promise.all([1, 2, 3].map(() => confirm(client, token)));
      assert.deepEqual(replies.map(it => it.status).sort(), [200, 410, 410]);
      const { Email, Role, Active } = await requestPortal(app, 'GET', `/portal-api/users/${user.ID}`);
      assert.deepEqual([Email, Role, Active], [email, user.Role, true]);
      assert.match(await takeMail(user.Email, /^Subject: Your account was changed/m), /was changed to/);
      assert.equal((await client.get('/portal/private/profile')).status, 200, 'the own session stays');
      assert.equal((await other.get('/portal/private/profile')).status, 303, 'the other one has ended');
      assert.equal((await createSiteClient(app).signIn(user.Email)).status, 401);
      assert.equal((await createSiteClient(app).signIn(email)).status, 303);
    });

    test('a request needs the password, the token of the form and another address', async () => {
      const user = await aUser();
      const client = await signedInClient(app, user);
      await client.get('/portal/private/profile');
      assert.equal((await ask(client, anAddress(), { password: 'wrong' })).status, 422);
      assert.equal((await ask(client, user.Email)).status, 422);
      assert.equal((await ask(client, 'no address')).status, 422);
      assert.equal((await ask(client, `a@b.example\r\nBcc: ${anAddress()}`)).status, 422);
      assert.equal((await ask(client, anAddress(), { csrf_token: 'guess' })).status, 403);
      assert.equal((await ask(createSiteClient(app), anAddress())).status, 303, 'signed out');
    });

    test('a request of a user with an authenticator app needs a code of it', async () => {
      const user = await aUser();
      const client = await signedInClient(app, user);
      await client.get('/portal/private/profile');
      const factor = '/portal/private/profile/second-factor';
      const { text } = await client.post(factor, { password: sitePassword });
      const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)![1]!.replaceAll(' ', '');
      rememberSecrets({ secret });
      const confirmed = await client.post(`${factor}/confirm`, {
        otp: computeTotp(secret, toTotpStep(app.application.installation.services.clock.now())),
      });
      const [, recovery = ''] = /<li><code>([\w-]+)<\/code>/.exec(confirmed.text) ?? [];
      assert.match((await client.get('/portal/private/profile')).text, /id="address_otp"/);
      const email = anAddress();
      for (const otp of ['', '000000']) assert.equal((await ask(client, email, { otp })).status, 422, otp);
      assert.equal((await ask(client, email, { otp: recovery })).status, 200);
      assert.equal((await confirm(client, await takeToken(email))).status, 200);
      assert.equal(await emailOf(user), email);
    });

    test('an address with an account gets the same answer, and its holder a mail without a link', async () => {
      const [user, holder] = [await aUser(), await aUser()];
      const client = await signedInClient(app, user);
      const free = anAddress();
      const [taken, open] = [await ask(client, holder.Email), await ask(client, free)];
      const hide = (text: string, email: string) =>
        /<main.*<\/main>/s.exec(text)?.[0].replaceAll(email.toLowerCase(), '…');
      assert.equal(taken.status, open.status);
      assert.equal(hide(taken.text, holder.Email), hide(open.text, free));
      assert.equal(tokenIn(await takeMail(holder.Email, /^Subject: You already have an account/m)), '');
      const token = await takeToken(free);
      await requestPortal(app, 'PUT', `/portal-api/users/${holder.ID}`, { Email: free });
      assert.equal((await confirm(client, token)).status, 410, 'another account has the address by now');
      assert.equal(await emailOf(user), user.Email);
    });

    test('a link ends with a further request and with a change of the password', async () => {
      const user = await aUser();
      const client = await signedInClient(app, user);
      const [first, second] = [anAddress(), anAddress()];
      await ask(client, first);
      const former = await takeToken(first);
      await ask(client, second);
      const token = await takeToken(second);
      assert.equal((await confirm(client, former)).status, 410);
      assert.equal((await client.get(`/auth/address?token=${token}`)).status, 200);
      await requestPortal(app, 'PUT', `/portal-api/users/${user.ID}`, { Password: 'another long password' });
      assert.equal((await client.get(`/auth/address?token=${token}`)).status, 410);
      assert.equal((await confirm(client, token, { password: 'another long password' })).status, 410);
      assert.equal(await emailOf(user), user.Email);
    });
  });
}
