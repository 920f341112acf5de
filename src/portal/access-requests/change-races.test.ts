import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { type DashboardRelay, startDashboardRelay } from '../../../tests/support/dashboard-relay.ts';
import { addApi, addApp, requestPortal } from '../../../tests/support/portal.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';

onEveryEngine('changes of access requests while the provider is called', app => {
  let relay: DashboardRelay;
  let offer: { product: { ID: number }; plan: { ID: number }; gold: { ID: number; Name: string; ReferenceID: string } };
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });

  before(async () => {
    relay = await startDashboardRelay(() => app().url.dashboard);
    const MetaData = JSON.stringify({ URL: relay.url, Secret: app().credentials.admin_access_key });
    const provider = { Name: 'Relayed', Type: 'gw-pro', Configuration: { MetaData } };
    const { ID: ProviderID } = await ok('POST', '/providers', provider);
    const details = [{ APIID: await addApi(app()) }];
    const addPlan = (Name: string) => ok('POST', '/plans', { Name, ProviderID, RateLimit: 5, Per: 1 });
    const product = await ok('POST', '/products', { Name: 'Raced', ProviderID, APIDetails: details }, 201);
    offer = { product, plan: await addPlan('Raced silver'), gold: await addPlan('Raced gold') };
  });
  after(() => relay?.[Symbol.asyncDispose]());

  async function anAccess() {
    const owned = await addApp(app());
    const body = { PlanID: offer.plan.ID, ProductIDs: [offer.product.ID], ProvisionImmediately: true };
    const { AccessRequestID: id } = await ok('PUT', `/apps/${owned.ID}/provision`, body);
    const path = `/apps/${owned.ID}/access-requests/${id}`;
    const read = async () => (await ask('GET', `/access_requests/${id}`)).body;
    const [credential] = (await read()).Credentials;
    const rotate = `${path}/credentials/${credential.ID}/rotate`;
    return { path, read, rotate, key: credential.Credential as string };
  }
  const immediate = () => ({ PlanID: offer.gold.ID, ProvisionImmediately: true });
  const aPendingChange = async (path: string): Promise<number> =>
    (await ok('PUT', `${path}/change`, { PlanID: offer.gold.ID })).AccessRequestID;
  const policiesOf = async (key: string): Promise<string[]> =>
    (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).body.data.apply_policies;

  test('after a change without a response, further ones wait until the former rights are restored', async () => {
    const [one, two] = [await anAccess(), await anAccess()];
    const pending = await aPendingChange(two.path);
    relay.failure = 'unavailable';
    try {
      assert.equal((await ask('PUT', `${one.path}/change`, immediate())).status, 422);
      assert.equal((await ask('PUT', `/access_requests/${pending}/approve`)).status, 422);
      const change = `/portal-api${one.path}/change`;
      await expectProblem(app(), 'changeAppAccessRequest', problem.change_unfinished, change, { body: immediate() });
      const approve = `/portal-api/access_requests/${pending}/approve`;
      await expectProblem(app(), 'approveAccessRequest', problem.change_unfinished, approve);
    } finally {
      relay.failure = undefined;
    }
    await eventually(async () => assert.equal((await ask('PUT', `/access_requests/${pending}/approve`)).status, 200));
    assert.deepEqual([(await two.read()).Plan, (await two.read()).Credentials[0].Credential], ['Raced gold', two.key]);
    assert.ok((await policiesOf(two.key)).includes(offer.gold.ReferenceID));
  });

  test('a change during which the key is rotated fails, and the new key has the rights of the records', async () => {
    for (const isImmediate of [true, false]) {
      const { path, rotate, read } = await anAccess();
      const [name, target, body] = isImmediate
        ? (['changeAppAccessRequest', `${path}/change`, { body: immediate() }] as const)
        : (['approveAccessRequest', `/access_requests/${await aPendingChange(path)}/approve`, {}] as const);
      const pause = relay.pauseNext('PUT');
      const changing = expectProblem(app(), name, problem.rotated_already, `/portal-api${target}`, body);
      await pause.reached;
      await ok('PUT', rotate);
      pause.release();
      await changing;
      const { Plan, Credentials } = await read();
      assert.equal(Plan, 'Raced silver');
      await eventually(async () =>
        assert.ok(!(await policiesOf(Credentials[0].Credential)).includes(offer.gold.ReferenceID)),
      );
    }
  });

  test('of two rotations at once the second to finish fails, and its key is removed', async () => {
    const { rotate, read } = await anAccess();
    const pause = relay.pauseNext('POST');
    const slow = expectProblem(app(), 'rotateCredential', problem.rotated_already, `/portal-api${rotate}`);
    await pause.reached;
    await ok('PUT', rotate);
    const rotated = (await read()).Credentials[0].Credential;
    pause.release();
    await slow;
    assert.equal((await read()).Credentials[0].Credential, rotated);
    assert.ok((await policiesOf(rotated)).length > 0);
  });
});
