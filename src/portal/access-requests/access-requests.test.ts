import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import {
  addAccessRequest,
  addApp,
  addPlan,
  addProduct,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';

onEveryEngine('access requests', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const keyStatus = async (key: string) => (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).status;
  const keysOfApp = async (appId: number) => {
    const { keys } = await requestPortal(app(), 'GET', '/api/keys/detailed?p=-1');
    return keys.filter((it: { data: { tags?: string[] } }) => it.data.tags?.includes(`portal-app-${appId}`)).length;
  };

  test('lists have rows without credentials; a read has them; products are one text', async () => {
    const { plan, product, app: owned, requestId } = await addAccessRequest(app(), { pending: true });
    const more = await addProduct(app());
    const both = { PlanID: plan.ID, ProductIDs: [product.ID, more.ID] };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, both);
    const rows = (await ask('GET', '/access_requests')).body;
    assert.deepEqual([rows[0].ID, rows[1].ID], [AccessRequestID, requestId]);
    assert.equal(rows[0].Products, `${product.Name},${more.Name}`);
    const { CreatedAt, UpdatedAt, ...row } = rows[1];
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    const { Email } = (await ask('GET', `/users/${owned.UserID}`)).body;
    assert.deepEqual(row, {
      ID: requestId,
      AppID: owned.ID,
      UserID: owned.UserID,
      UserEmail: Email,
      PlanID: plan.ID,
      RequestedPlan: '',
      ProductIDs: [product.ID],
      Catalogue: '',
      Client: owned.Name,
      Plan: plan.Name,
      User: `User#${owned.UserID}`,
      Products: product.Name,
      AuthType: 'authToken',
      AuthTypes: ['authToken'],
      DCREnabled: false,
      DCRTemplateID: 0,
      CertificateID: 0,
      ProviderID: 1,
      ProvisionImmediately: false,
      Changes: 0,
      Revoked: false,
      Note: '',
      Reason: '',
      Failure: '',
      Status: 'pending',
      DeletedAt: '',
    });
    const idsIn = async (status: string) =>
      (await ask('GET', `/access_requests?status=${status}&per_page=1000`)).body.map((it: { ID: number }) => it.ID);
    assert.ok((await idsIn('pending')).includes(requestId));
    assert.ok(!(await idsIn('approved')).includes(requestId));
    assert.equal((await ask('GET', '/access_requests?status=open')).status, 422);
    const whole = (await ask('GET', `/access_requests/${requestId}`)).body;
    assert.deepEqual(whole, { ...rows[1], Credentials: [] });
    assert.deepEqual((await ask('GET', '/access_requests?per_page=1&page=2')).body, [rows[1]]);
  });

  test('an approved request whose credential was revoked says so', async () => {
    const { requestId, app: owned } = await addAccessRequest(app());
    const path = `/apps/${owned.ID}/access-requests/${requestId}/credentials`;
    const [credential] = (await ask('GET', path)).body;
    const read = async () => (await ask('GET', `/access_requests/${requestId}`)).body;
    assert.equal((await read()).Revoked, false);
    assert.equal((await ask('DELETE', `${path}/${credential.ID}`)).status, 200);
    const { Status, Revoked } = await read();
    assert.deepEqual([Status, Revoked], ['approved', true]);
  });

  test('concurrent approvals of a request issue exactly one key', async () => {
    const { requestId, app: owned } = await addAccessRequest(app(), { pending: true });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask('PUT', `/access_requests/${requestId}/approve`)));
    assert.deepEqual(answers.map(it => it.status).sort(), [200, 422, 422, 422, 422]);
    const approved = (await ask('GET', `/access_requests/${requestId}`)).body;
    assert.deepEqual([approved.Status, approved.Credentials.length], ['approved', 1]);
    assert.equal(await keysOfApp(owned.ID), 1);
  });

  test('only a pending request can be approved or rejected', async () => {
    const { requestId, app: owned } = await addAccessRequest(app(), { pending: true });
    const rejected = await ask('PUT', `/access_requests/${requestId}/reject`);
    assert.deepEqual(rejected.body, { status: 'ok', message: 'Action Reject: Executed successfully' });
    for (const action of ['approve', 'reject']) {
      const answer = await ask('PUT', `/access_requests/${requestId}/${action}`);
      assert.equal(answer.status, 422);
      assert.match(answer.body.errors[0], /is rejected: only a pending one/);
    }
    assert.equal(await keysOfApp(owned.ID), 0);
    const { requestId: given } = await addAccessRequest(app());
    assert.equal((await ask('PUT', `/access_requests/${given}/reject`)).status, 422);
    for (const action of ['approve', 'reject'])
      assert.equal((await ask('PUT', `/access_requests/999999/${action}`)).status, 422);
  });

  test('a request stays pending when the provider refuses the key, and can be approved later', async () => {
    const { requestId, product } = await addAccessRequest(app(), { pending: true });
    const path = `/api/portal/policies/${product.ReferenceID}`;
    const { access_rights_array: _list, ...policy } = await requestPortal(app(), 'GET', path);
    await requestPortal(app(), 'PUT', path, { ...policy, state: 'draft' });
    const refused = await ask('PUT', `/access_requests/${requestId}/approve`);
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /^Provider Gatewright refused: apply_policies\[0\]: .*allows no new keys/);
    const pending = (await ask('GET', `/access_requests/${requestId}`)).body;
    assert.deepEqual([pending.Status, pending.Credentials], ['pending', []]);
    assert.equal(pending.Failure, refused.body.errors[0]);
    await requestPortal(app(), 'PUT', path, { ...policy, state: 'active' });
    const approved = await ask('PUT', `/access_requests/${requestId}/approve`);
    assert.deepEqual(approved.body, { status: 'ok', message: 'Action Approve: Executed successfully' });
  });

  test('removing a request revokes its key first', async () => {
    const { requestId, app: owned } = await addAccessRequest(app());
    const [credential] = (await ask('GET', `/access_requests/${requestId}`)).body.Credentials;
    assert.deepEqual((await ask('DELETE', `/access_requests/${requestId}`)).body, { status: 'ok' });
    assert.equal(await keyStatus(credential.Credential), 404);
    assert.equal((await ask('GET', `/access_requests/${requestId}`)).status, 404);
    assert.equal((await ask('DELETE', `/access_requests/${requestId}`)).status, 404);
    assert.deepEqual((await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests, []);
  });

  test('a request removed during its approval leaves no key', async () => {
    for (let round = 0; round < 5; round++) {
      const { requestId, app: owned } = await addAccessRequest(app(), { pending: true });
      await Promise.all([
        ask('PUT', `/access_requests/${requestId}/approve`),
        ask('DELETE', `/access_requests/${requestId}`),
      ]);
      await ask('DELETE', `/access_requests/${requestId}`);
      assert.equal(await keysOfApp(owned.ID), 0);
    }
  });

  test('an access request keeps showing the names of deleted products and plans', async () => {
    const plan = await addPlan(app());
    const product = await addProduct(app());
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: [product.ID] };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    await requestPortal(app(), 'DELETE', `/portal-api/products/${product.ID}`);
    await requestPortal(app(), 'DELETE', `/portal-api/plans/${plan.ID}`);
    const shown = (await ask('GET', `/access_requests/${AccessRequestID}`)).body;
    assert.deepEqual([shown.Plan, shown.Products], [plan.Name, product.Name]);
    assert.equal((await ask('PUT', `/access_requests/${AccessRequestID}/approve`)).status, 422);
  });
});
