import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { eventually, startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

onEveryEngine('changes of access requests', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });

  async function anOffer() {
    const name = `changed-${createPublicId()}`;
    const apiId = await addApi(app(), name, { proxy: { listen_path: `/${name}/`, target_url: upstream.url } });
    const product = await addProduct(app(), { APIDetails: [{ APIID: apiId }] });
    const call = async (authorization: string) =>
      (await fetch(`${app().url.gateway}/${name}/`, { headers: { authorization } })).status;
    return { product, call };
  }
  async function anAccess(rate: number) {
    const { product, call } = await anOffer();
    const plan = await addPlan(app(), { RateLimit: rate, Per: 3600 });
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID: id } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    const path = `/apps/${owned.ID}/access-requests/${id}`;
    const read = async () => (await ask('GET', `/access_requests/${id}`)).body;
    const key = (await read()).Credentials[0].Credential as string;
    await app().application.waitForDataPlane();
    return { product, plan, owned, id, path, read, key, call };
  }
  const statuses = async (call: (key: string) => Promise<number>, key: string, count: number) => {
    const found: number[] = [];
    for (let at = 0; at < count; at++) found.push(await call(key));
    return found;
  };

  test('a plan that approves by itself is in force at once, with the same key', async () => {
    const { path, id, read, key, call } = await anAccess(1);
    assert.deepEqual(await statuses(call, key, 2), [200, 429]);
    const gold = await addPlan(app(), { RateLimit: 3, Per: 3600, AutoApproveAccessRequests: true, KeyExpiresIn: 7200 });
    const { AccessRequestID } = (await ask('PUT', `${path}/change`, { PlanID: gold.ID })).body;
    assert.equal(AccessRequestID, id);
    await app().application.waitForDataPlane();
    const after = await read();
    assert.deepEqual([after.Plan, after.Credentials[0].Credential, after.Status], [gold.Name, key, 'approved']);
    assert.notEqual(after.Credentials[0].Expires, '9999-12-31 23:59');
    assert.deepEqual(await statuses(call, key, 4), [200, 200, 200, 429]);
  });

  test('a change waits for its approval with the old plan in force, and one is pending at a time', async () => {
    const { path, owned, id, read, key, plan } = await anAccess(100);
    const gold = await addPlan(app(), { RateLimit: 3, Per: 60 });
    const { AccessRequestID: changeId } = (await ask('PUT', `${path}/change`, { PlanID: gold.ID })).body;
    assert.notEqual(changeId, id);
    const pending = (await ask('GET', `/access_requests/${changeId}`)).body;
    assert.deepEqual([pending.Status, pending.Changes, pending.Plan], ['pending', id, gold.Name]);
    assert.equal((await read()).Plan, plan.Name);
    const again = await ask('PUT', `${path}/change`, { PlanID: gold.ID });
    assert.match(again.body.errors[0], /Another change .* is pending/);
    assert.equal((await ask('PUT', `/access_requests/${changeId}/reject?reason=no`)).status, 200);
    assert.deepEqual([(await read()).Plan, (await read()).Credentials[0].Credential], [plan.Name, key]);
    const { AccessRequestID: second } = (await ask('PUT', `${path}/change`, { PlanID: gold.ID })).body;
    assert.equal((await ask('PUT', `/access_requests/${second}/approve`)).status, 200);
    assert.deepEqual([(await read()).Plan, (await read()).Credentials[0].Credential], [gold.Name, key]);
    assert.equal((await ask('PUT', `/access_requests/${second}/approve`)).status, 422);
    const shown = (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests.flat();
    assert.deepEqual(
      shown.map((it: { ID: number; Status: string }) => [it.ID, it.Status]).sort(),
      [
        [id, 'approved'],
        [changeId, 'rejected'],
      ].sort(),
    );
  });

  test('products are added after approval and removed at once', async () => {
    const { path, product, key, call, read } = await anAccess(100);
    const more = await anOffer();
    assert.equal(await more.call(key), 403);
    const both = { ProductIDs: [product.ID, more.product.ID], ProvisionImmediately: true };
    assert.equal((await ask('PUT', `${path}/change`, both)).status, 200);
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(key), await more.call(key)], [200, 200]);
    assert.equal((await ask('PUT', `${path}/change`, { ProductIDs: [more.product.ID] })).status, 200);
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(key), await more.call(key)], [403, 200]);
    assert.equal((await read()).Products, more.product.Name);
  });

  test('a key that gets another product under the same plan keeps its quota and its expiry', async () => {
    // Keys with several products count the quota by product.
    const [first, second, more] = [await anOffer(), await anOffer(), await anOffer()];
    const had = [first.product.ID, second.product.ID];
    const limits = { Quota: 2, QuotaRenewalRate: 3600, KeyExpiresIn: 7200 };
    const plan = await addPlan(app(), limits);
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: had, ProvisionImmediately: true };
    const { AccessRequestID: id } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    const path = `/apps/${owned.ID}/access-requests/${id}`;
    const read = async () => (await ask('GET', `/access_requests/${id}`)).body.Credentials[0];
    const { Credential: key } = await read();
    const keyPath = `/api/keys/${encodeURIComponent(key)}`;
    const { data } = (await app().ask('GET', keyPath)).body;
    // An end that the plan alone would not have led to.
    const expires = data.expires - 3600;
    const shortened = await app().ask('PUT', `${keyPath}?suppress_reset=1`, { body: { ...data, expires } });
    assert.equal(shortened.status, 200, shortened.text);
    await app().application.waitForDataPlane();
    assert.deepEqual(await statuses(first.call, key, 3), [200, 200, 403]);
    const change = (members: object) => ask('PUT', `${path}/change`, { ProvisionImmediately: true, ...members });
    assert.equal((await change({ ProductIDs: [...had, more.product.ID] })).status, 200);
    await app().application.waitForDataPlane();
    assert.equal((await app().ask('GET', keyPath)).body.data.expires, expires);
    assert.equal((await read()).Expires, new Date(expires * 1000).toISOString().slice(0, 16).replace('T', ' '));
    assert.deepEqual([await first.call(key), await more.call(key)], [403, 200]);
    const gold = await addPlan(app(), limits);
    assert.equal((await change({ PlanID: gold.ID })).status, 200);
    await app().application.waitForDataPlane();
    assert.deepEqual(await statuses(first.call, key, 3), [200, 200, 403], 'another plan starts its quota');
    assert.ok((await app().ask('GET', keyPath)).body.data.expires > expires);
  });

  test('a key that goes from one product to two, and back, keeps what it has used of the quota', async () => {
    const [first, second] = [await anOffer(), await anOffer()];
    const plan = await addPlan(app(), { Quota: 2, QuotaRenewalRate: 3600 });
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: [first.product.ID], ProvisionImmediately: true };
    const { AccessRequestID: id } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    const { Credential: key } = (await ask('GET', `/access_requests/${id}`)).body.Credentials[0];
    const change = async (ProductIDs: number[]) => {
      const path = `/apps/${owned.ID}/access-requests/${id}/change`;
      assert.equal((await ask('PUT', path, { ProvisionImmediately: true, ProductIDs })).status, 200);
      await app().application.waitForDataPlane();
    };
    await app().application.waitForDataPlane();
    assert.deepEqual(await statuses(first.call, key, 3), [200, 200, 403]);
    const readQuota = async () => (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).body.data;
    const { quota_renews } = await readQuota();
    await change([first.product.ID, second.product.ID]);
    assert.deepEqual([await first.call(key), await second.call(key)], [403, 200]);
    assert.equal(await second.call(key), 200);
    await change([second.product.ID]);
    assert.deepEqual([await second.call(key), (await readQuota()).quota_renews], [403, quota_renews]);
  });

  test('a rotated key has the end of the old one, and begins with what that has used of the quota', async () => {
    const { product, call } = await anOffer();
    const plan = await addPlan(app(), { Quota: 3, QuotaRenewalRate: 3600, KeyExpiresIn: 7200 });
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID: id } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    const read = async () => (await ask('GET', `/access_requests/${id}`)).body.Credentials[0];
    const { ID, Credential: old } = await read();
    const readKey = async (id: string) => (await app().ask('GET', `/api/keys/${encodeURIComponent(id)}`)).body.data;
    const { expires } = await readKey(old);
    // An end that the plan alone would not have led to.
    const { portal } = app().application.installation.services;
    await portal.credentials.change(ID, it => ({ ...it, Expires: (expires - 3600) * 1000 }));
    await app().application.waitForDataPlane();
    assert.deepEqual(await statuses(call, old, 2), [200, 200]);
    const rotated = await ask('PUT', `/apps/${owned.ID}/access-requests/${id}/credentials/${ID}/rotate`);
    assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
    await app().application.waitForDataPlane();
    const { Credential: key } = await read();
    assert.notEqual(key, old);
    assert.deepEqual(await statuses(call, key, 2), [200, 403]);
    assert.equal((await readKey(key)).expires, expires - 3600);
  });

  test('a key in its overlap gets the rights of the change too, and keeps its end', async () => {
    const { path, read, key } = await anAccess(100);
    const [{ ID }] = (await read()).Credentials;
    await ask('PUT', `${path}/credentials/${ID}/rotate?overlap_seconds=3600`);
    const stored = async () => (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).body.data;
    const { expires } = await stored();
    const gold = await addPlan(app(), { RateLimit: 3, Per: 60, AutoApproveAccessRequests: true });
    await ask('PUT', `${path}/change`, { PlanID: gold.ID });
    assert.deepEqual((await stored()).apply_policies.includes(gold.ReferenceID), true);
    assert.equal((await stored()).expires, expires);
  });

  test('a change that the provider refuses is pending and says why; the key has its former rights', async () => {
    const { path, key, read, plan } = await anAccess(100);
    const gold = await addPlan(app(), { RateLimit: 3, Per: 60 });
    const { AccessRequestID } = (await ask('PUT', `${path}/change`, { PlanID: gold.ID })).body;
    const policy = `/api/portal/policies/${gold.ReferenceID}`;
    const { access_rights_array: _list, ...before } = await requestPortal(app(), 'GET', policy);
    await requestPortal(app(), 'PUT', policy, { ...before, state: 'draft' });
    const refused = await ask('PUT', `/access_requests/${AccessRequestID}/approve`);
    assert.equal(refused.status, 422);
    const pending = (await ask('GET', `/access_requests/${AccessRequestID}`)).body;
    assert.deepEqual([pending.Status, pending.Failure], ['pending', refused.body.errors[0]]);
    assert.equal((await read()).Plan, plan.Name);
    await requestPortal(app(), 'PUT', policy, { ...before, state: 'active' });
    await eventually(async () =>
      assert.equal((await ask('PUT', `/access_requests/${AccessRequestID}/approve`)).status, 200),
    );
    assert.deepEqual([(await read()).Plan, (await read()).Credentials[0].Credential], [gold.Name, key]);
  });

  test('concurrent changes and rotations leave one key, with the rights of the records', async () => {
    for (let round = 0; round < 4; round++) {
      const { path, read, owned } = await anAccess(100);
      const [{ ID }] = (await read()).Credentials;
      const gold = await addPlan(app(), { RateLimit: 3, Per: 60, AutoApproveAccessRequests: true });
      const answers = await Promise.all([
        ask('PUT', `${path}/change`, { PlanID: gold.ID }),
        ask('PUT', `${path}/credentials/${ID}/rotate`),
      ]);
      for (const { status, text } of answers) assert.ok([200, 422].includes(status), text);
      await eventually(async () => {
        const { Plan, Credentials } = await read();
        const { keys } = await requestPortal(app(), 'GET', '/api/keys/detailed?p=-1');
        const own = keys.filter((it: { data: { tags?: string[] } }) =>
          it.data.tags?.includes(`portal-app-${owned.ID}`),
        );
        assert.deepEqual(
          own.map((it: { key_id: string }) => it.key_id),
          [Credentials[0].Credential],
        );
        assert.equal(own[0].data.apply_policies.includes(gold.ReferenceID), Plan === gold.Name);
      });
    }
  });

  test('a change of a pending request, to the same rights or to other providers is refused', async () => {
    const { path, plan, owned, product } = await anAccess(100);
    assert.equal((await ask('PUT', `${path}/change`, { PlanID: plan.ID })).status, 422);
    assert.equal((await ask('PUT', `${path}/change`, { PlanID: 999_999 })).status, 422);
    assert.equal((await ask('PUT', `${path}/change`, { PlanId: plan.ID })).status, 422);
    const gold = await addPlan(app(), { PlanQuota: 1 });
    const body = { PlanID: gold.ID, ProductIDs: [product.ID] };
    const { AccessRequestID } = (await ask('PUT', `/apps/${owned.ID}/provision`, body)).body;
    const other = `/apps/${owned.ID}/access-requests/${AccessRequestID}/change`;
    assert.match((await ask('PUT', other, { PlanID: plan.ID })).body.errors[0], /only an approved one/);
    assert.match((await ask('PUT', `${path}/change`, { PlanID: gold.ID })).body.errors[0], /quota exceeded/);
    assert.equal((await ask('PUT', `/apps/${owned.ID}/access-requests/999999/change`, {})).status, 422);
  });
});
