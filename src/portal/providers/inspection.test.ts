import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { addAccessRequest, addApi, localProvider, requestPortal } from '../../../tests/support/portal.ts';

const addProvider = async (app: TestApp, Name: string, metaData: object) =>
  (
    await requestPortal(app, 'POST', '/portal-api/providers', {
      ...{ Name, Type: 'gw-pro', Configuration: { MetaData: JSON.stringify(metaData) } },
    })
  ).ID as number;

onEveryEngine('inspection of providers', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api/providers${path}`, body, status);
  const policies = '/api/portal/policies';
  const addPolicy = async (policy: object) => (await requestPortal(app(), 'POST', policies, policy)).Message as string;

  test('a preview lists what a synchronisation adds, changes and hides with conflicts, and changes nothing', async () => {
    const apiId = await addApi(app(), 'preview-api');
    const rights = { [apiId]: { api_id: apiId, api_name: 'preview-api', versions: ['Default'] } };
    const product = { name: 'preview-access', tags: ['look'], partitions: { acl: true }, access_rights: rights };
    const limits = { tags: ['look'], partitions: { quota: true }, quota_max: 3, quota_renewal_rate: 60 };
    const productId = await addPolicy(product);
    const planId = await addPolicy({ ...limits, name: 'preview-plan' });
    const id = await addProvider(app(), 'Previewed', { PoliciesTags: ['look'] });
    const preview = () => ok('GET', `/${id}/synchronize`);
    const first = await preview();
    const none = { Added: 0, Changed: 0, Hidden: 0 };
    assert.deepEqual(
      [first.Products, first.Plans],
      [
        { ...none, Added: 1 },
        { ...none, Added: 1 },
      ],
    );
    assert.deepEqual(
      first.Changes.map((it: Record<string, unknown>) => [it.Kind, it.Change, it.ID, it.Name]),
      [
        ['product', 'added', 0, 'preview-access'],
        ['plan', 'added', 0, 'preview-plan'],
      ],
    );
    const untouched = await ok('GET', `/${id}`);
    assert.deepEqual([untouched.Status, untouched.Products, untouched.Plans], ['Unknown', 0, 0]);
    assert.deepEqual(await ok('GET', `/${id}/synchronizations`), []);

    await ok('PUT', `/${id}/synchronize`);
    assert.deepEqual((await preview()).Changes, []);
    await requestPortal(app(), 'PUT', `${policies}/${productId}`, { ...product, name: 'preview-renamed' });
    await requestPortal(app(), 'DELETE', `${policies}/${planId}`);
    await addPolicy({
      ...limits,
      name: 'preview-mixed',
      partitions: { acl: true, quota: true },
      access_rights: rights,
    });
    const { Products, Plans, Changes, Conflicts } = await preview();
    assert.deepEqual(
      [Products, Plans],
      [
        { ...none, Changed: 1 },
        { ...none, Hidden: 1 },
      ],
    );
    assert.deepEqual(
      Changes.map((it: Record<string, unknown>) => [it.Kind, it.Change, it.Name, it.Members]),
      [
        ['product', 'changed', 'preview-access', ['Name']],
        ['plan', 'hidden', 'preview-plan', ['Hidden']],
      ],
    );
    assert.deepEqual(Conflicts, [{ Kind: 'policy', Name: 'preview-mixed', Reason: 'not_imported', Detail: '' }]);
    const { Products: done } = await ok('PUT', `/${id}/synchronize`);
    assert.deepEqual(done, Products);
  });

  test('a preview names a taken name, and a hidden plan that access requests use', async () => {
    const { plan } = await addAccessRequest(app());
    const id = await addProvider(app(), 'Second reader', {});
    const { Conflicts: taken } = await ok('GET', `/${id}/synchronize`);
    assert.ok(
      taken.some((it: { Reason: string; Name: string }) => it.Reason === 'name_taken' && it.Name === plan.Name),
      JSON.stringify(taken),
    );
    await requestPortal(app(), 'DELETE', `${policies}/${plan.ReferenceID}`);
    const { Conflicts } = await ok('GET', `/${localProvider}/synchronize`);
    const used = Conflicts.filter((it: { Name: string }) => it.Name === plan.Name);
    assert.deepEqual(used, [{ Kind: 'plan', Name: plan.Name, Reason: 'in_use', Detail: '1' }]);
  });

  test('the list has numbers of products and plans and the last error, and history keeps 20 runs', async () => {
    const id = await addProvider(app(), 'Recorded', { PoliciesTags: ['recorded'] });
    await addPolicy({ name: 'recorded-plan', tags: ['recorded'], partitions: { quota: true } });
    for (let run = 0; run < 21; run++) await ok('PUT', `/${id}/synchronize`);
    const runs = await ok('GET', `/${id}/synchronizations`);
    assert.equal(runs.length, 20);
    assert.deepEqual([runs[0].Error, runs[0].Plans.Added, runs[19].Plans.Added], ['', 0, 0]);
    const rowOf = async (wanted: number) =>
      (await ok('GET', '?per_page=1000')).find((it: { ID: number }) => it.ID === wanted);
    const { LastError, Products, Plans } = await rowOf(id);
    assert.deepEqual([LastError, Products, Plans], ['', 0, 1]);

    const down = await addProvider(app(), 'Nowhere', { URL: 'http://127.0.0.1:9', Secret: 'secret-of-nowhere' });
    await ok('PUT', `/${down}/synchronize`, undefined, 422);
    const [failed, ...older] = await ok('GET', `/${down}/synchronizations`);
    assert.match(failed.Error, /ECONNREFUSED/);
    assert.deepEqual(older, []);
    assert.match((await rowOf(down)).LastError, /ECONNREFUSED/);
  });

  test('dependents of a provider are counted and named by kind', async () => {
    const { app: owned, plan, product } = await addAccessRequest(app());
    const provision = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, provision);
    await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, {
      ...provision,
      ProvisionImmediately: false,
    });
    const { Products, Plans, Requests, Credentials } = await ok('GET', `/${localProvider}/contents`);
    const row = await ok('GET', `/${localProvider}`);
    assert.deepEqual([Products.Total, Plans.Total], [row.Products, row.Plans]);
    assert.ok(Credentials.Names.includes(`${owned.Name}: ${plan.Name}`), JSON.stringify(Credentials));
    assert.ok(Requests.Names.includes(`${owned.Name}: ${plan.Name}`), JSON.stringify(Requests));
    for (const { Total, Names } of [Products, Plans, Requests, Credentials])
      assert.equal(Names.length, Math.min(Total, 20));
  });

  test('the test of a provider of this installation has no URL or access key, and needs a gateway that responds', async () => {
    const check = async (metaData: object) => {
      const id = await addProvider(app(), 'Checked', metaData);
      const { Passed, Checks } = await ok('PUT', `/${id}/test`);
      return { Passed, results: new Map(Checks.map((it: Record<string, string>) => [it.Check, it.Result])) };
    };
    const plain = await check({});
    assert.equal(plain.Passed, true);
    assert.deepEqual(
      ['url', 'secret', 'organisation', 'keys', 'gateway'].map(name => plain.results.get(name)),
      ['skipped', 'skipped', 'passed', 'passed', 'skipped'],
    );
    assert.equal((await check({ Gateway: app().url.gateway })).results.get('gateway'), 'passed');
    const closed = await check({ Gateway: 'http://127.0.0.1:9' });
    assert.deepEqual([closed.Passed, closed.results.get('gateway')], [false, 'failed']);
  });

  test('unknown providers are 404 on reads and 422 on the test', async () => {
    const ask = async (method: string, path: string) =>
      (await app().ask(method, `/portal-api/providers${path}`)).status;
    for (const path of ['synchronize', 'synchronizations', 'contents'])
      assert.equal(await ask('GET', `/99999/${path}`), 404);
    assert.equal(await ask('PUT', '/99999/test'), 422);
  });
});
