import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import {
  addAccessRequest,
  addPlan,
  localProvider,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';

onEveryEngine('portal plans', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/plans${path}`, body === undefined ? {} : { body });
  const policyOf = async (id: string) => requestPortal(app(), 'GET', `/api/portal/policies/${id}`);

  test('a new plan is returned with every member, and its limits policy exists', async () => {
    const { status, body } = await ask('POST', '', {
      Name: 'free',
      ProviderID: localProvider,
      DisplayName: 'Free',
      Description: 'For trying',
      AutoApproveAccessRequests: 'true',
      Catalogues: [1],
      JWTScope: 'scope',
      KeyExpiresIn: 3600,
      MetaData: { tier: 'free', level: 1 },
      RateLimit: '3',
      Per: 10,
      Quota: 25,
      QuotaRenewalRate: 3600,
      PlanQuota: 2,
      PlanQuotaRenewalRate: 60,
    });
    assert.equal(status, 200);
    const { ID, CID, ReferenceID, CreatedAt, UpdatedAt, ...rest } = body;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Name: 'free',
      ProviderID: localProvider,
      DisplayName: 'Free',
      Description: 'For trying',
      AutoApproveAccessRequests: true,
      Catalogues: [1],
      JWTScope: 'scope',
      KeyExpiresIn: 3600,
      MetaData: { tier: 'free', level: '1' },
      RateLimit: 3,
      Per: 10,
      Quota: 25,
      QuotaRenewalRate: 3600,
      UnlimitedRateLimit: false,
      UnlimitedQuota: false,
      PlanQuota: 2,
      PlanQuotaRenewalRate: 60,
      Hidden: false,
    });
    const policy = await policyOf(ReferenceID);
    assert.deepEqual(policy.partitions, {
      acl: false,
      complexity: false,
      per_api: false,
      quota: true,
      rate_limit: true,
    });
    const { rate, per, quota_max, quota_renewal_rate, key_expires_in, meta_data } = policy;
    assert.deepEqual([rate, per, quota_max, quota_renewal_rate, key_expires_in], [3, 10, 25, 3600, 3600]);
    assert.deepEqual(meta_data, { tier: 'free', level: '1' });
    for (const id of [ID, CID]) assert.deepEqual((await ask('GET', `/${id}`)).body, body);
    const list = (await ask('GET', '')).body;
    assert.ok(Array.isArray(list));
    assert.deepEqual(list[0], {
      ID,
      CID,
      Name: 'free',
      DisplayName: 'Free',
      AutoApproveAccessRequests: true,
      RateLimit: 3,
      Per: 10,
      Quota: 25,
      QuotaRenewalRate: 3600,
      UnlimitedRateLimit: false,
      UnlimitedQuota: false,
      Catalogues: [1],
    });
  });

  test('an unsent limit is unlimited, a set one limits, and Unlimited flags override', async () => {
    const plan = await addPlan(app());
    assert.deepEqual([plan.UnlimitedRateLimit, plan.UnlimitedQuota], [true, true]);
    const open = await policyOf(plan.ReferenceID);
    assert.deepEqual([open.rate, open.quota_max], [-1, -1]);
    const { body: limited } = await ask('PUT', `/${plan.ID}`, { RateLimit: 5, Quota: 9 });
    assert.deepEqual([limited.UnlimitedRateLimit, limited.UnlimitedQuota, limited.Per], [false, false, 60]);
    const closed = await policyOf(plan.ReferenceID);
    assert.deepEqual([closed.rate, closed.per, closed.quota_max, closed.quota_renewal_rate], [5, 60, 9, -1]);
    await ask('PUT', `/${plan.ID}`, { ...limited, UnlimitedRateLimit: true });
    assert.equal((await policyOf(plan.ReferenceID)).rate, -1);
  });

  test('a limit of 0 is returned as unlimited, whatever the body contains', async () => {
    const wrong = { RateLimit: 0, UnlimitedRateLimit: false, Quota: 0, UnlimitedQuota: false };
    const plan = await addPlan(app(), wrong);
    assert.deepEqual([plan.UnlimitedRateLimit, plan.UnlimitedQuota], [true, true]);
    await ask('PUT', `/${plan.ID}`, { RateLimit: 5, Quota: 9 });
    const { body: changed } = await ask('PUT', `/${plan.ID}`, wrong);
    assert.deepEqual([changed.UnlimitedRateLimit, changed.UnlimitedQuota], [true, true]);
    const { body: read } = await ask('GET', `/${plan.ID}`);
    assert.deepEqual([read.UnlimitedRateLimit, read.UnlimitedQuota], [true, true]);
    const { rate, quota_max } = await policyOf(plan.ReferenceID);
    assert.deepEqual([rate, quota_max], [-1, -1]);
  });

  test('a plan change updates the policy: expiry and meta data too; removed meta data is removed there', async () => {
    const plan = await addPlan(app(), { MetaData: { old: 'x', kept: 'y' } });
    const policy = await policyOf(plan.ReferenceID);
    const { access_rights_array: _list, ...sent } = policy;
    const elsewhere = { ...sent, meta_data: { ...sent.meta_data, set: 'elsewhere' } };
    await requestPortal(app(), 'PUT', `/api/portal/policies/${plan.ReferenceID}`, elsewhere);
    const { body } = await ask('PUT', `/${plan.ID}`, {
      ...plan,
      Name: 'renamed plan',
      KeyExpiresIn: 60,
      MetaData: { kept: 'z' },
      Catalogues: [2],
    });
    assert.deepEqual([body.Name, body.Catalogues, body.MetaData], ['renamed plan', [2], { kept: 'z' }]);
    const changed = await policyOf(plan.ReferenceID);
    assert.equal(changed.name, 'renamed plan');
    assert.equal(changed.key_expires_in, 60);
    assert.deepEqual(changed.meta_data, { kept: 'z', set: 'elsewhere' });
  });

  test('a plan with credentials cannot be removed', async () => {
    const { plan, requestId } = await addAccessRequest(app());
    const refused = await ask('DELETE', `/${plan.ID}`);
    assert.equal(refused.status, 409);
    assert.match(refused.body.errors[0], /still limits 1 credentials/);
    assert.equal((await ask('GET', `/${plan.ID}`)).body.Hidden, false);
    await requestPortal(app(), 'DELETE', `/portal-api/access_requests/${requestId}`);
    assert.deepEqual((await ask('DELETE', `/${plan.ID}`)).body, { status: 'ok' });
    assert.equal((await app().ask('GET', `/api/portal/policies/${plan.ReferenceID}`)).status, 404);
  });

  test('unknown plans return 404; invalid members are refused with their path', async () => {
    for (const id of ['99999', 'nobody']) {
      assert.equal((await ask('GET', `/${id}`)).status, 404);
      assert.equal((await ask('PUT', `/${id}`, { Name: 'x' })).status, 404);
      assert.equal((await ask('DELETE', `/${id}`)).status, 404);
    }
    const { status, body } = await ask('POST', '', { ProviderID: 'one', RateLimit: 1.5, KeyExpiresIn: -1 });
    assert.equal(status, 422);
    const places = body.errors.map((line: string) => line.split(':')[0]).sort();
    assert.deepEqual(places, ['KeyExpiresIn', 'Name', 'ProviderID', 'RateLimit']);
    assert.deepEqual((await ask('POST', '', { Name: 'x', ProviderID: 999 })).body.errors, [
      'ProviderID: there is no provider 999',
    ]);
    const plan = await addPlan(app());
    assert.deepEqual((await ask('PUT', `/${plan.ID}`, { ProviderID: 999 })).body.errors, [
      'ProviderID: cannot be changed: the plan belongs to its provider',
    ]);
    const twice = await ask('POST', '', { Name: plan.Name, ProviderID: localProvider });
    assert.equal(twice.status, 422);
    assert.match(twice.body.errors[0], /^Provider Gatewright refused: A policy named/);
  });
});
