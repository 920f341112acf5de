import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRecoveryCodeSet, createTotpSecret, toTotpStep } from '#base/totp.ts';
import { rememberSecrets, startApp, type TestApp } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addAccessRequest } from '../../../../tests/support/portal.ts';
import { addSiteDeveloper, sitePassword } from '../../../../tests/support/portal-site.ts';
import { type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { toSessionOwner } from '../../users/session-owner.ts';

const keyOf = (text: string) => /<code>([^<]{20,})<\/code> <button class="copy/.exec(text)?.[1];
const fieldOf = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

describe('portal.secret_display', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { 'portal.secret_display': 'reauthentication' } });
  });
  after(() => app?.close());

  /** A developer with a credential; `reveal` sends the form of the page of the app. */
  async function aCredential() {
    const user = await addSiteDeveloper(app);
    const { app: own } = await addAccessRequest(app, { app: { UserID: user.ID } });
    const client = await signedInClient(app, user);
    const path = `/portal/private/apps/${own.ID}`;
    const { text } = await client.get(path);
    const fields = { mode: 'reveal', client_id: fieldOf(text, 'client_id'), cred_id: fieldOf(text, 'cred_id') };
    const reveal = (more: Record<string, string>, by: SiteClient = client) =>
      by.post('/portal/private/credentials', { ...fields, ...more });
    return { user, client, path, text, reveal, credentialId: fields.cred_id };
  }

  test('with re-authentication a key is shown each time after the right password, and not without it', async () => {
    const { client, path, text, reveal, credentialId } = await aCredential();
    assert.match(text, /Show key/);
    for (const password of ['', 'wrong']) {
      const refused = await reveal({ password });
      assert.deepEqual([refused.status, keyOf(refused.text)], [422, undefined]);
      assert.match(refused.text, /The password or the code is wrong/);
    }
    const first = await reveal({ password: sitePassword });
    assert.equal(first.status, 200, first.text);
    const key = keyOf(first.text)!;
    assert.ok(key);
    rememberSecrets({ key });
    assert.deepEqual(await readLastAudit(app), ['revealOwnCredential', credentialId, '', 200]);
    assert.match(first.text, /data-hide-seconds="30"/);
    assert.equal(keyOf((await reveal({ password: sitePassword })).text), key, 'again');
    assert.ok(!(await client.get(path)).text.includes(key), 'the page of the app has no key');
  });

  test('with re-authentication an account with an authenticator app needs a code too', async () => {
    const { user, client, path, reveal } = await aCredential();
    const { portal, clock } = app.application.installation.services;
    const owner = { id: toSessionOwner(user.ID), org_id: '' };
    const codes = createRecoveryCodeSet();
    await portal.factors.activateTotp(owner, createTotpSecret(), toTotpStep(clock.now()), codes, clock.now());
    assert.match((await client.get(path)).text, /id="reveal_otp_/);
    for (const otp of ['', '000000']) {
      const refused = await reveal({ password: sitePassword, otp });
      assert.deepEqual([refused.status, keyOf(refused.text)], [422, undefined]);
    }
    assert.ok(keyOf((await reveal({ password: sitePassword, otp: codes[0]! })).text));
    assert.equal(keyOf((await reveal({ password: sitePassword, otp: codes[0]! })).text), undefined, 'a used code');
  });

  test('with re-authentication a user of single sign-on, who has no password, sees a key once', async () => {
    const { user, reveal } = await aCredential();
    await app.application.installation.services.portal.users.change(user.ID, it => ({ ...it, Provider: 'company' }));
    assert.ok(keyOf((await reveal({})).text));
    assert.equal(keyOf((await reveal({})).text), undefined);
  });

  test('a stranger with the own right password opens no key', async () => {
    const { reveal } = await aCredential();
    const stranger = await signedInClient(app, await addSiteDeveloper(app));
    await stranger.get('/portal/private/profile');
    assert.equal((await reveal({ password: sitePassword }, stranger)).status, 404);
  });

  test('guesses of the password are limited, and the right one is not tried after them', async () => {
    const { reveal } = await aCredential();
    let status = 422;
    for (let attempt = 0; status === 422 && attempt < 50; attempt++) ({ status } = await reveal({ password: 'wrong' }));
    assert.equal(status, 429);
    const refused = await reveal({ password: sitePassword });
    assert.deepEqual([refused.status, keyOf(refused.text)], [429, undefined]);
  });
});
