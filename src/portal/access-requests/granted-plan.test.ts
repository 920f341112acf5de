import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';

onEveryEngine('approval with another plan', app => {
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver?.close());
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  /** A pending request for the plan `silver`, in a catalogue that has `gold` too. */
  async function aRequest(more: Record<string, unknown> = {}) {
    const product = await addProduct(app());
    const [silver, gold] = [await addPlan(app(), { RateLimit: 1, Per: 60 }), await addPlan(app(), more)];
    const contents = { Name: `C ${product.ID}`, Products: [product.ID], Plans: [silver.ID, gold.ID] };
    const catalogue = await ok('POST', '/catalogues', contents);
    const user = await addDeveloper(app(), { Password: sitePassword });
    const owned = await addApp(app(), { UserID: user.ID });
    const body = { PlanID: silver.ID, ProductIDs: [product.ID] };
    const { AccessRequestID: id } = await ok('PUT', `/apps/${owned.ID}/provision`, body);
    const path = `/access_requests/${id}`;
    return { product, silver, gold, catalogue, user, owned, id, path, read: () => ok('GET', path) };
  }
  const setPolicyState = async ({ ReferenceID }: { ReferenceID: string }, state: string) => {
    const path = `/api/portal/policies/${ReferenceID}`;
    const { access_rights_array: _list, ...policy } = await requestPortal(app(), 'GET', path);
    await requestPortal(app(), 'PUT', path, { ...policy, state });
  };
  const readPolicies = async (key: string): Promise<string[]> =>
    (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).body.data.apply_policies;

  test('the key, the webhook and the page of the developer have the granted plan; the audit names it', async () => {
    const { silver, gold, user, owned, id, path, read } = await aRequest({
      DisplayName: 'Gold',
      RateLimit: 9,
      Per: 60,
    });
    const hook = { Name: 'all', URL: `${receiver.url}/${id}`, Method: 'POST', Events: ['AccessRequestApproved'] };
    await ok('POST', '/webhooks', hook, 201);
    const plans = await ok('GET', `${path}/plans`);
    assert.deepEqual(
      plans.map((it: { ID: number }) => it.ID),
      [gold.ID],
    );
    assert.equal((await ask('PUT', `${path}/approve?plan_id=${gold.ID}`)).status, 200);
    const { Plan, PlanID, RequestedPlan, Status, Credentials } = await read();
    assert.deepEqual([Plan, PlanID, RequestedPlan, Status], [gold.Name, gold.ID, silver.Name, 'approved']);
    const policies = await readPolicies(Credentials[0].Credential);
    assert.deepEqual([policies.includes(gold.ReferenceID), policies.includes(silver.ReferenceID)], [true, false]);
    const [event] = await receiver.take(`/${id}`, 1);
    assert.equal(JSON.parse(event!.body).Message.PlanID, gold.ID);
    const { text } = await (await signedInClient(app(), user)).get(`/portal/private/apps/${owned.ID}`);
    assert.match(text, new RegExp(`Gold: .* \\(granted in place of ${silver.Name}\\)`));
    const records = await ok('GET', '/audit-logs?action=approveAccessRequest');
    const objects = records.slice(0, 2).map((it: { object: string }) => it.object);
    assert.deepEqual(objects.sort(), [String(id), `plan ${gold.ID}`]);
  });

  test('a plan that the developer cannot request is refused, and the request stays as it is', async () => {
    const { path, read, silver } = await aRequest();
    const elsewhere = await addPlan(app());
    for (const planId of [elsewhere.ID, 999_999]) {
      const refused = await ask('PUT', `${path}/approve?plan_id=${planId}`);
      assert.equal(refused.status, 422);
      assert.match(refused.text, /plan_id.*is not a plan that the developer can request/);
    }
    const { Plan, Status, RequestedPlan } = await read();
    assert.deepEqual([Plan, Status, RequestedPlan], [silver.Name, 'pending', '']);
    assert.equal((await ask('GET', '/access_requests/999999/plans')).status, 404);
    assert.equal((await ask('PUT', `${path}/approve?plan_id=${silver.ID}`)).status, 200, 'the requested plan itself');
    assert.equal((await read()).RequestedPlan, '');
  });

  test('a granted plan whose quota has room for one request is granted: the request itself does not count', async () => {
    const { path, read, gold } = await aRequest({ PlanQuota: 1 });
    const { status, text } = await ask('PUT', `${path}/approve?plan_id=${gold.ID}`);
    assert.equal(status, 200, text);
    assert.deepEqual([(await read()).Plan, (await read()).Status], [gold.Name, 'approved']);
  });

  test('a granted plan whose quota of requests is spent is refused', async () => {
    const { path, read, gold, silver, owned, product } = await aRequest({ PlanQuota: 1 });
    await ok('PUT', `/apps/${owned.ID}/provision`, { PlanID: gold.ID, ProductIDs: [product.ID] });
    const refused = await ask('PUT', `${path}/approve?plan_id=${gold.ID}`);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /quota exceeded/);
    assert.deepEqual([(await read()).Plan, (await read()).Status], [silver.Name, 'pending']);
  });

  test('a failed approval leaves the request pending with the requested plan', async () => {
    const { path, read, gold, silver, catalogue } = await aRequest();
    await setPolicyState(gold, 'draft');
    assert.equal((await ask('PUT', `${path}/approve?plan_id=${gold.ID}`)).status, 422);
    const { Plan, Status, RequestedPlan, Catalogue, Failure } = await read();
    assert.deepEqual([Plan, Status, RequestedPlan, Catalogue], [silver.Name, 'pending', '', catalogue.Name]);
    assert.match(Failure, /allows no new keys/);
    assert.equal((await ask('PUT', `${path}/approve`)).status, 200);
    assert.deepEqual([(await read()).Plan, (await read()).RequestedPlan], [silver.Name, '']);
  });

  test('a change of plan is approved with a third plan, and fails back to the requested one', async () => {
    const { path, read, id, gold, silver, catalogue, owned } = await aRequest();
    const platinum = await addPlan(app());
    await ok('PUT', `/catalogues/${catalogue.ID}`, { Plans: [silver.ID, gold.ID, platinum.ID] });
    await ok('PUT', `${path}/approve`);
    const [{ Credential: key }] = (await read()).Credentials;
    const change = `/apps/${owned.ID}/access-requests/${id}/change`;
    const { AccessRequestID: changeId } = await ok('PUT', change, { PlanID: gold.ID });
    const plans = await ok('GET', `/access_requests/${changeId}/plans`);
    assert.deepEqual(
      plans.map((it: { ID: number }) => it.ID),
      [platinum.ID],
      'not the plan in force',
    );
    await setPolicyState(platinum, 'draft');
    assert.equal((await ask('PUT', `/access_requests/${changeId}/approve?plan_id=${platinum.ID}`)).status, 422);
    const pending = await ok('GET', `/access_requests/${changeId}`);
    assert.deepEqual([pending.Plan, pending.Status, pending.RequestedPlan], [gold.Name, 'pending', '']);
    await setPolicyState(platinum, 'active');
    const approve = `/access_requests/${changeId}/approve?plan_id=${platinum.ID}`;
    await eventually(async () => assert.equal((await ask('PUT', approve)).status, 200));
    const { Plan, RequestedPlan, Credentials } = await read();
    assert.deepEqual([Plan, RequestedPlan, Credentials[0].Credential], [platinum.Name, gold.Name, key]);
    assert.ok((await readPolicies(key)).includes(platinum.ReferenceID));
    await ok('PUT', change, { PlanID: gold.ID, ProvisionImmediately: true });
    assert.deepEqual([(await read()).Plan, (await read()).RequestedPlan], [gold.Name, '']);
  });
});
