import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('organisation limits of the gateway API', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });

  test('organisation limits are set, read, replaced and removed, with the exact response shapes', async () => {
    const { orgId } = await app().stranger();
    const path = `/gw/org/keys/${orgId}`;
    const missing = { status: 'error', message: 'Org not found' };
    assert.deepEqual((await ask('GET', path)).body, missing);
    const added = await ask('POST', path, { quota_max: 100, quota_renewal_rate: 60 });
    assert.deepEqual(added.body, { key: orgId, status: 'ok', action: 'added' });
    assert.deepEqual((await ask('GET', `/gw/org/keys?filter=${orgId}`)).body, { keys: [orgId] });
    const shown = await ask('GET', path);
    assert.deepEqual([shown.status, shown.body.quota_max, shown.body.org_id], [200, 100, orgId]);
    const again = await ask('POST', path, { quota_max: 150, quota_renewal_rate: 60 });
    assert.deepEqual(again.body, { key: orgId, status: 'ok', action: 'modified' });
    const changed = await ask('PUT', path, { quota_max: 200, quota_renewal_rate: 60 });
    assert.deepEqual(changed.body, { key: orgId, status: 'ok', action: 'modified' });
    assert.equal((await ask('GET', path)).body.quota_max, 200);
    assert.deepEqual((await ask('DELETE', path)).body, { key: orgId, status: 'ok', action: 'deleted' });
    for (const method of ['GET', 'DELETE']) {
      const gone = await ask(method, path);
      assert.deepEqual([gone.status, gone.body], [404, missing]);
    }
    assert.deepEqual((await ask('GET', `/gw/org/keys?filter=${orgId}`)).body, { keys: [] });
  });

  test('used quota still counts unless reset_quota is set', async () => {
    const { orgId } = await app().stranger();
    const path = `/gw/org/keys/${orgId}`;
    await ask('POST', path, { quota_max: 10, quota_renewal_rate: 3600 });
    const { quota_renews } = (await ask('GET', path)).body;
    const longer = { quota_max: 10, quota_renewal_rate: 7200 };
    await ask('PUT', path, longer);
    assert.equal((await ask('GET', path)).body.quota_renews, quota_renews);
    await ask('PUT', `${path}?reset_quota=1`, longer);
    assert.ok((await ask('GET', path)).body.quota_renews > quota_renews);
  });

  test('an unknown organisation has no limits, and a body cannot name another one', async () => {
    const { orgId } = await app().stranger();
    for (const method of ['POST', 'PUT']) {
      const unknown = await ask(method, '/gw/org/keys/nobody', {});
      assert.deepEqual([unknown.status, unknown.body.message], [404, 'Org not found']);
      const other = await ask(method, `/gw/org/keys/${orgId}`, { org_id: app().credentials.organisation_id });
      assert.deepEqual([other.status, other.body.message], [400, `org_id: is ${orgId} and cannot change`]);
      const wrong = await ask(method, `/gw/org/keys/${orgId}`, { quota_max: 'x' });
      assert.deepEqual([wrong.status, wrong.body.message], [400, 'quota_max: expected number, received string']);
    }
    assert.equal((await ask('GET', `/gw/keys/${orgId}`)).status, 404);
  });

  test('concurrent writes of organisation limits all succeed, and one of them is stored', async () => {
    const { orgId } = await app().stranger();
    const path = `/gw/org/keys/${orgId}`;
    const answers = await Promise.all([1, 2, 3, 4].map(rate => ask('PUT', path, { rate, per: 1 })));
    assert.deepEqual(new Set(answers.map(it => it.status)), new Set([200]));
    assert.ok((await ask('GET', path)).body.rate >= 1);
    assert.deepEqual((await ask('GET', `/gw/org/keys?filter=${orgId}`)).body.keys, [orgId]);
  });
});
