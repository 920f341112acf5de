import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { sendExpiryNotices } from './expiry-notices.ts';

const dayMs = 86_400_000;

onEveryEngine('expiry notices of credentials', app => {
  /** A credential whose owner sees notifications. */
  async function aCredential() {
    const user = await addDeveloper(app(), { Password: sitePassword });
    const { requestId } = await addAccessRequest(app(), {
      plan: { KeyExpiresIn: 86_400 * 100 },
      app: { UserID: user.ID },
    });
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${requestId}`);
    const { portal, clock } = app().application.installation.services;
    const expireIn = (days: number) =>
      portal.credentials.change(Credentials[0].ID, it => ({ ...it, Expires: clock.now() + days * dayMs }));
    const client = await signedInClient(app(), user);
    const readNotices = async () => {
      const { text } = await client.get('/portal/private/notifications');
      return [...text.matchAll(/Credential of \S+ (expires on|has expired)/g)].map(([, what]) => what);
    };
    return { credentialId: Credentials[0].ID as number, expireIn, readNotices };
  }
  const send = () => {
    const { services } = app().application.installation;
    return sendExpiryNotices(services);
  };

  test('the owner is notified once before and once at the expiry, and again after another expiry', async () => {
    const { expireIn, readNotices } = await aCredential();
    await expireIn(15);
    await send();
    assert.deepEqual(await readNotices(), []);
    await expireIn(13);
    await Promise.all([send(), send()]);
    await send();
    assert.deepEqual(await readNotices(), ['expires on']);
    await expireIn(-1);
    await send();
    await send();
    assert.deepEqual(await readNotices(), ['has expired', 'expires on']);
    await expireIn(12);
    await send();
    assert.deepEqual(await readNotices(), ['expires on', 'has expired', 'expires on']);
  });

  test('credentials that expired long ago, or never expire, are not reported', async () => {
    const { expireIn, readNotices, credentialId } = await aCredential();
    await expireIn(-30);
    await send();
    const { portal } = app().application.installation.services;
    await portal.credentials.change(credentialId, it => ({ ...it, Expires: 0 }));
    await send();
    assert.deepEqual(await readNotices(), []);
  });
});
