import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { sendQuotaNotices } from './quota-notices.ts';

/** A key under a quota; `gateway` has the API, and `provider` is its number in the portal. */
async function aLimitedKey(portal: TestApp, gateway: TestApp, upstream: Upstream, provider: number, Quota: number) {
  const name = `quota-${createPublicId()}`;
  const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
  const APIDetails = [{ APIID: await addApi(gateway, name, { proxy }) }];
  const product = await addProduct(portal, { APIDetails, ProviderID: provider });
  const limits = Quota > 0 ? { Quota, QuotaRenewalRate: 3600 } : {};
  const plan = await addPlan(portal, { ...limits, ProviderID: provider });
  const user = await addSiteDeveloper(portal);
  const { ID } = await addApp(portal, { UserID: user.ID });
  const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
  const { AccessRequestID } = await requestPortal(portal, 'PUT', `/portal-api/apps/${ID}/provision`, body);
  const { Credentials } = await requestPortal(portal, 'GET', `/portal-api/access_requests/${AccessRequestID}`);
  await waitUntilApplied(gateway);
  const headers = { authorization: Credentials[0].Credential as string };
  const client = await signedInClient(portal, user);
  return {
    credentialId: Credentials[0].ID as number,
    call: async () => (await fetch(`${gateway.url.gateway}/${name}/`, { headers })).status,
    readNotices: async () => {
      const { text } = await client.get('/portal/private/notifications');
      return [...text.matchAll(/used (\d+)% of its quota/g)].map(([, percent]) => Number(percent));
    },
  };
}
const send = (app: TestApp) => sendQuotaNotices(app.application.installation.services);

onEveryEngine('quota notices', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  test('the highest threshold that a key has reached is reported once', async () => {
    const { call, readNotices } = await aLimitedKey(app(), app(), upstream, 1, 4);
    for (let count = 0; count < 2; count++) await call();
    await send(app());
    assert.deepEqual(await readNotices(), []);
    assert.equal(await call(), 200);
    await Promise.all([send(app()), send(app())]);
    assert.deepEqual(await readNotices(), [75]);
    assert.deepEqual([await call(), await call()], [200, 403]);
    await send(app());
    await send(app());
    assert.deepEqual(await readNotices(), [100, 75]);
  });

  test('a key without a quota is not reported', async () => {
    const { call, readNotices } = await aLimitedKey(app(), app(), upstream, 1, 0);
    assert.equal(await call(), 200);
    await send(app());
    assert.deepEqual(await readNotices(), []);
  });

  test('a threshold is reported again in another period, which does not end a few seconds apart', async () => {
    const { credentialId } = await aLimitedKey(app(), app(), upstream, 1, 4);
    const { expiryNotices } = app().application.installation.services.portal;
    const marks: boolean[] = [];
    for (const renewsAtMs of [1_000_000, 1_000_000, 1_001_000, 4_600_000])
      marks.push(await expiryNotices.markQuota(credentialId, 75, renewsAtMs));
    assert.deepEqual(marks, [true, false, false, true]);
  });
});

describe('quota notices of a remote provider', () => {
  let portal: TestApp;
  let other: TestApp;
  let upstream: Upstream;
  before(async () => {
    [portal, other, upstream] = await Promise.all([startApp('sqlite'), startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await portal?.close();
    await other?.close();
    await upstream?.close();
  });

  test('keys are read at the provider; one that does not answer delays no other', async () => {
    const aProvider = async (URL: string) => {
      const MetaData = JSON.stringify({ URL, Secret: other.credentials.admin_access_key });
      const body = { Name: `Far ${createPublicId()}`, Type: 'gw-pro', Configuration: { MetaData } };
      return (await requestPortal(portal, 'POST', '/portal-api/providers', body)).ID as number;
    };
    const far = await aProvider(other.url.dashboard);
    const absent = await aLimitedKey(portal, other, upstream, far, 2);
    const near = await aLimitedKey(portal, portal, upstream, 1, 2);
    const { providers, accessRequests, credentials } = portal.application.installation.services.portal;
    const lost = await aProvider('http://127.0.0.1:9');
    const { AccessRequestID } = (await credentials.get(absent.credentialId))!;
    await accessRequests.change(AccessRequestID, it => ({ ...it, ProviderID: lost }));
    for (const { call } of [absent, near]) for (let count = 0; count < 2; count++) await call();
    await send(portal);
    assert.deepEqual([await absent.readNotices(), await near.readNotices()], [[], [100]]);
    assert.equal((await providers.get(lost))!.Status, 'Down');
    await accessRequests.change(AccessRequestID, it => ({ ...it, ProviderID: far }));
    await send(portal);
    assert.deepEqual([await absent.readNotices(), await near.readNotices()], [[100], [100]]);
  });
});
