import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawQrPath } from '#base/qr/qr-path.ts';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper, sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { signInToSite } from '../../../tests/support/site-session.ts';

let nowMs = Date.now();
const clock = { now: () => nowMs };
const nextStep = () => {
  nowMs += 30_000;
};
const profile = '/portal/private/profile';
const factor = `${profile}/second-factor`;

onEveryEngine(
  'second factor of portal users',
  app => {
    const code = (secret: string) => computeTotp(secret, toTotpStep(nowMs));
    const readCodes = (text: string) => [...text.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, it]) => it!);
    const readToken = (text: string) => /name="token" value="([^"]*)"/.exec(text)?.[1] ?? '';
    const isSignedIn = async (client: SiteClient) => (await client.get(profile)).status === 200;

    async function readSecret(client: SiteClient) {
      const { text, status } = await client.post(factor, { password: sitePassword });
      assert.equal(status, 200, text);
      const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? assert.fail(text);
      const [, address = ''] = /href="(otpauth:[^"]*)"/.exec(text) ?? [];
      assert.match(address, new RegExp(`otpauth://totp/[^"]*secret=${secret}`));
      const drawn = drawQrPath(address.replaceAll('&amp;', '&'))!;
      assert.ok(text.includes(`<path d="${drawn.path}"`), 'the QR code is that of the address');
      rememberSecrets({ secret });
      return secret;
    }

    /** A user with an authenticator app, signed in. */
    async function enrol(more: Record<string, unknown> = {}) {
      const user = await addSiteDeveloper(app(), more);
      const client = await signedInClient(app(), user);
      await client.get(profile);
      const secret = await readSecret(client);
      const confirmed = await client.post(`${factor}/confirm`, { otp: code(secret) });
      assert.equal(confirmed.status, 200, confirmed.text);
      nextStep();
      return { user, client, secret, codes: readCodes(confirmed.text) };
    }

    /** A client at the step of the code. */
    async function enterPassword({ Email }: { Email: string }, more: Record<string, string> = {}) {
      const client = createSiteClient(app());
      await client.get('/auth/password/login');
      const { text, headers } = await client.post('/auth/password/login', {
        login: Email,
        password: sitePassword,
        ...more,
      });
      assert.doesNotMatch(headers.getSetCookie().join(), /portal-session=/);
      const token = readToken(text);
      const send = (otp: string) => client.post('/auth/password/code', { token, otp, next: more.next ?? '' });
      return { client, token, send };
    }

    test('an app counts from the first confirmed code on, ends the other sessions and gives recovery codes', async () => {
      const user = await addSiteDeveloper(app());
      const [client, other] = [await signedInClient(app(), user), await signedInClient(app(), user)];
      await client.get(profile);
      assert.equal((await client.post(factor, { password: 'wrong' })).status, 422);
      const secret = await readSecret(client);
      assert.ok(await isSignedIn(await signedInClient(app(), user)), 'a pending key is not required');
      assert.equal((await client.post(`${factor}/confirm`, { otp: '000' })).status, 422);
      const confirmed = await client.post(`${factor}/confirm`, { otp: code(secret) });
      assert.equal(readCodes(confirmed.text).length, 10);
      assert.deepEqual(await readLastAudit(app()), ['addOwnSecondFactor', `portal:${user.ID}`, '', 200]);
      assert.deepEqual([await isSignedIn(client), await isSignedIn(other)], [true, false]);
      assert.match((await client.get(profile)).text, /Recovery codes left: 10/);
      assert.equal((await client.post(`${factor}/confirm`, { otp: code(secret) })).status, 404);
      nextStep();
    });

    test('a sign-in asks for the code after the right password only, and continues where it began', async () => {
      const { user, secret } = await enrol();
      assert.equal((await createSiteClient(app()).signIn(user.Email, 'wrong')).status, 401);
      const { client, send } = await enterPassword(user, { next: '/portal/catalogue-products?q=x' });
      assert.equal(await isSignedIn(client), false);
      assert.equal((await send('000000')).status, 401);
      const reply = await send(code(secret));
      assert.deepEqual([reply.status, reply.location], [303, '/portal/catalogue-products?q=x']);
      assert.ok(await isSignedIn(client));
      nextStep();
    });

    test('a code, a recovery code and the token of the password are accepted once', async () => {
      const { user, secret, codes } = await enrol();
      const otp = code(secret);
      const [first, second] = [await enterPassword(user), await enterPassword(user)];
      assert.equal((await first.send(otp)).status, 303);
      assert.equal((await second.send(otp)).status, 401, 'the same code again');
      await first.client.get('/');
      const used = await first.send(codes[0]!);
      assert.match(used.location, /^\/auth\/password\/login/, 'the same token again');
      const replies = await Promise.all(
        [second, await enterPassword(user)].map(it => it.send(codes[1]!.toUpperCase())),
      );
      assert.deepEqual(replies.map(it => it.status).sort(), [303, 401]);
      nextStep();
    });

    test('the token ends with the password of the account, with its activity, and after five minutes', async () => {
      const changes = [
        (id: number) => requestPortal(app(), 'PUT', `/portal-api/users/${id}`, { Password: 'another long password' }),
        (id: number) => requestPortal(app(), 'PUT', `/portal-api/users/${id}`, { Active: false }),
        async () => {
          nowMs += 301_000;
        },
      ];
      for (const change of changes) {
        const { user, secret } = await enrol();
        const { client, send } = await enterPassword(user);
        await change(user.ID);
        nextStep();
        assert.match((await send(code(secret))).location, /^\/auth\/password\/login/);
        assert.equal(await isSignedIn(client), false);
      }
    });

    test('guesses of codes are limited by account, from all clients', async () => {
      const { user, secret } = await enrol();
      const statuses: number[] = [];
      for (let guess = 0; guess < 11; guess++)
        statuses.push((await (await enterPassword(user)).send(String(100_000 + guess))).status);
      assert.deepEqual([statuses[9], statuses[10]], [401, 429]);
      assert.equal((await (await enterPassword(user)).send(code(secret))).status, 429);
      nowMs += 3_600_000;
    });

    test('new recovery codes, and the removal, need password and code', async () => {
      const { user, client, secret, codes } = await enrol();
      await client.get(profile);
      for (const action of ['recovery-codes', 'remove'])
        for (const given of [
          { password: sitePassword, otp: '' },
          { password: 'wrong', otp: code(secret) },
        ])
          assert.equal((await client.post(`${factor}/${action}`, given)).status, 422);
      const renewed = await client.post(`${factor}/recovery-codes`, { password: sitePassword, otp: code(secret) });
      const fresh = readCodes(renewed.text);
      assert.equal(new Set([...codes, ...fresh]).size, 20);
      assert.equal((await (await enterPassword(user)).send(codes[0]!)).status, 401);
      nextStep();
      const removed = await client.post(`${factor}/remove`, { password: sitePassword, otp: fresh[0]! });
      assert.match(removed.text, /The authenticator app is removed/);
      assert.deepEqual(await readLastAudit(app()), ['removeOwnSecondFactor', `portal:${user.ID}`, '', 200]);
      assert.equal((await createSiteClient(app()).signIn(user.Email)).status, 303);
      assert.equal((await client.post(`${factor}/recovery-codes`, { password: sitePassword })).status, 422);
    });

    test('the deletion of the account needs password and code', async () => {
      const { user, client, secret } = await enrol();
      const path = `${profile}/delete`;
      assert.match((await client.get(path)).text, /name="otp"/);
      const remove = (given: Record<string, string>) => client.post(path, { confirmation: user.Email, ...given });
      const exists = async () => (await app().ask('GET', `/portal-api/users/${user.ID}`)).status === 200;
      for (const otp of ['', '000000']) assert.equal((await remove({ password: sitePassword, otp })).status, 422, otp);
      assert.equal((await remove({ password: 'wrong', otp: code(secret) })).status, 422);
      assert.equal(await exists(), true);
      nextStep();
      const removed = await remove({ password: sitePassword, otp: code(secret) });
      assert.equal(removed.status, 200, removed.text);
      assert.equal(await exists(), false);
    });

    test('an administrator removes the factor of another user, not the own one', async () => {
      const { user } = await enrol();
      const path = `/portal-api/users/${user.ID}`;
      assert.equal((await requestPortal(app(), 'GET', path)).SecondFactor, true);
      await requestPortal(app(), 'DELETE', `${path}/second-factor`);
      assert.equal((await requestPortal(app(), 'GET', path)).SecondFactor, false);
      assert.equal((await createSiteClient(app()).signIn(user.Email)).status, 303);
      await requestPortal(app(), 'DELETE', `${path}/second-factor`, undefined, 422);
      await requestPortal(app(), 'DELETE', '/portal-api/users/999999/second-factor', undefined, 404);
      const admin = await addSiteDeveloper(app(), { Role: 'provider-admin' });
      const cookie = await signInToSite(app(), admin);
      const session = { credential: null, headers: { cookie } };
      const { csrf_token } = (await app().ask('GET', '/portal-api/session', session)).body;
      const own = await app().ask('DELETE', `/portal-api/users/${admin.ID}/second-factor`, {
        credential: null,
        headers: { cookie, 'x-csrf-token': csrf_token },
      });
      assert.deepEqual([own.status, /on your profile/.test(own.text)], [422, true]);
    });

    test('a deleted user leaves no factor to another one', async () => {
      const { user } = await enrol();
      await requestPortal(app(), 'DELETE', `/portal-api/users/${user.ID}`);
      const { db } = app().application.installation.records;
      const rows = await db
        .selectFrom('user_factors')
        .select('id')
        .where('user_id', '=', `portal:${user.ID}`)
        .execute();
      assert.deepEqual(rows, []);
    });
  },
  { clock, settings: { 'sign_in.max_address_failures': '1000', 'sign_in.max_account_failures': '1000' } },
);
