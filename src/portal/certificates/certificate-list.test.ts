import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { makeAuthority, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { sendExpiryNotices } from '../expiry-notices/expiry-notices.ts';

const dayMs = 86_400_000;

onEveryEngine('Client certificates of all apps', app => {
  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  /** An app with a client certificate on its credential. */
  async function aCertificate() {
    const user = await addDeveloper(app(), { Password: sitePassword });
    const APIID = await addApi(app(), `api-${createPublicId()}`, { use_mutual_tls_auth: true });
    const product = await addProduct(app(), { APIDetails: [{ APIID }] });
    const owned = await addApp(app(), { UserID: user.ID });
    const { certPem, fingerprint } = makeClientCertificate(makeAuthority(), owned.Name);
    const body = { PlanID: (await addPlan(app())).ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await ask('PUT', `/apps/${owned.ID}/provision`, { ...body, Certificate: certPem });
    const [credential] = await ask('GET', `/apps/${owned.ID}/access-requests/${AccessRequestID}/credentials`);
    const [{ ID }] = await ask('GET', `/apps/${owned.ID}/certificates`);
    const { portal, clock } = app().application.installation.services;
    const expireIn = (days: number) =>
      portal.certificates.change(ID, it => ({ ...it, NotAfter: clock.now() + days * dayMs }));
    return { user, owned, ID: ID as number, fingerprint, credential, expireIn, requestId: AccessRequestID as number };
  }

  test('certificates are listed with app, owner, state and credentials, and found by app, fingerprint and state', async () => {
    const { user, owned, ID, fingerprint, credential, expireIn } = await aCertificate();
    await aCertificate();
    const find = (text: string) => ask('GET', `/certificates?q=${encodeURIComponent(text)}`);
    const [row, ...others] = await find(owned.Name.toUpperCase());
    assert.deepEqual(others, []);
    assert.deepEqual(
      [row.ID, row.App, row.AppID, row.UserEmail, row.Fingerprint, row.Credentials],
      [ID, owned.Name, owned.ID, user.Email, fingerprint, [credential.ID]],
    );
    assert.equal((await find(fingerprint.slice(4, 20)))[0].ID, ID);
    assert.deepEqual(await find('no such certificate'), []);
    await expireIn(3);
    const expiring = await ask('GET', '/certificates?state=expiring');
    assert.deepEqual(
      expiring.map((it: { ID: number; State: string }) => [it.ID, it.State]),
      [[ID, 'expiring']],
    );
    assert.equal((await ask('GET', '/certificates?per_page=1&page=2'))[0].ID, ID);
    assert.equal((await app().ask('GET', '/portal-api/certificates?state=gone')).status, 422);
  });

  test('the owner is notified once before and once at the expiry of a certificate in use', async () => {
    const { user, owned, credential, requestId, ID, expireIn } = await aCertificate();
    const client = await signedInClient(app(), user);
    const readNotices = async () => {
      const { text } = await client.get('/portal/private/notifications');
      return [...text.matchAll(/Client certificate of \S+ (expires on|has expired)/g)].map(([, what]) => what);
    };
    const send = () => sendExpiryNotices(app().application.installation.services);
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
    const path = `/apps/${owned.ID}/access-requests/${requestId}/credentials/${credential.ID}/certificates/${ID}`;
    await ask('DELETE', path);
    await expireIn(5);
    await send();
    assert.equal((await readNotices()).length, 2, 'a certificate without use is not reported');
  });
});
