import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

onEveryEngine('credentials of an app on the portal site', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });

  test('a custom credential is shown to the owner of the app, its key and secret once', async () => {
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const secrets = { CredentialKey: `key-${createPublicId()}`, CredentialSecret: `secret-${createPublicId()}` };
    rememberSecrets(secrets);
    const body = { Alias: 'Billing system', Type: 'CREDENTIAL_TYPE_CUSTOM', ...secrets };
    const custom = await requestPortal(app(), 'POST', `/portal-api/apps/${ID}/custom_credentials`, body, 201);
    const client = await signedInClient(app(), user);
    const hasSecret = (text: string) => Object.values(secrets).some(it => text.includes(it));
    const page = await client.get(`/portal/private/apps/${ID}`);
    assert.match(page.text, /Billing system/);
    assert.ok(!hasSecret(page.text));
    const reveal = `/portal/private/apps/${ID}/custom-credentials/${custom.ID}/reveal`;
    const stranger = await signedInClient(app(), await aUser());
    await stranger.get('/portal/private/profile');
    assert.equal((await stranger.post(reveal, {})).status, 404);
    const { ID: foreign } = await addApp(app(), { UserID: user.ID });
    const crossed = `/portal/private/apps/${foreign}/custom-credentials/${custom.ID}/reveal`;
    assert.equal((await client.post(crossed, {})).status, 404, 'by another app of the same user');
    assert.equal((await client.post(reveal, { csrf_token: 'guess' })).status, 403);
    await client.get(`/portal/private/apps/${ID}`);
    const shown = await client.post(reveal, {});
    assert.ok(
      Object.values(secrets).every(it => shown.text.includes(it)),
      shown.text,
    );
    assert.deepEqual(await readLastAudit(app()), ['revealOwnCustomCredential', String(custom.ID), '', 200]);
    assert.ok(!hasSecret((await client.post(reveal, {})).text), 'a second time');
    assert.match((await client.get(`/portal/private/apps/${ID}`)).text, /The key was shown/);
  });

  test('the card of a key has its last use and what is left of the quota, the list its calls', async () => {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const product = await addProduct(app(), { APIDetails: [{ APIID: await addApi(app(), name, { proxy }) }] });
    const plan = await addPlan(app(), { Quota: 5, QuotaRenewalRate: 3600 });
    const user = await aUser();
    const owned = await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, wanted);
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    const client = await signedInClient(app(), user);
    const readCard = async () => (await client.get(`/portal/private/apps/${owned.ID}`)).text;
    await eventually(async () => assert.match(await readCard(), /5 of 5 calls left/));
    assert.doesNotMatch(await readCard(), /Last used/);
    assert.match((await client.get('/portal/private/apps')).text, /0 calls in 24 hours/);
    await waitUntilApplied(app());
    const headers = { authorization: Credentials[0].Credential as string };
    assert.equal((await fetch(`${app().url.gateway}/${name}/`, { headers })).status, 200);
    await eventually(async () => assert.match(await readCard(), /4 of 5 calls left, renews/));
    await eventually(async () => assert.match(await readCard(), /Last used/));
    await eventually(async () => assert.match((await client.get('/portal/private/apps')).text, /1 call in 24 hours/));
    const other = await signedInClient(app(), await aUser());
    assert.equal((await other.get(`/portal/private/apps/${owned.ID}`)).status, 404);
  });

  test('an expired key, and one that expires soon, are marked on the card and in the list', async () => {
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const product = await addProduct(app());
    const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const client = await signedInClient(app(), user);
    const { portal, clock } = app().application.installation.services;
    const [credential] = await portal.credentials.ofRequests([AccessRequestID]);
    const expect = async (Expires: number, mark: RegExp) => {
      await portal.credentials.change(credential!.ID, it => ({ ...it, Expires }));
      for (const path of [`/portal/private/apps/${ID}`, '/portal/private/apps'])
        assert.match((await client.get(path)).text, mark, path);
    };
    await expect(clock.now() - 1000, /Expired/);
    await expect(clock.now() + 3 * 86_400_000 - 60_000, /Expires in 3 days/);
  });
});
