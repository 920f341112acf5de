import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('objects of an access request', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });

  test('user, plan, catalogue and app of an access request are returned as in lists', async () => {
    const { app: owned, plan, product, requestId } = await addAccessRequest(app(), { pending: true });
    const path = `/access_requests/${requestId}`;
    const read = (what: string) => requestPortal(app(), 'GET', `/portal-api${path}/${what}`);
    assert.deepEqual([(await read('user')).ID, (await read('plan')).ID], [owned.UserID, plan.ID]);
    const { AccessRequests: _requests, UpdatedAt: _updated, ...row } = owned;
    assert.deepEqual(await read('client'), row);
    assert.equal((await ask('GET', `${path}/catalogue`)).status, 404);
    const contents = { Name: `C ${plan.ID}`, Plans: [plan.ID], Products: [product.ID] };
    const catalogue = await requestPortal(app(), 'POST', '/portal-api/catalogues', contents);
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID] };
    const { body } = await ask('PUT', `/apps/${owned.ID}/provision`, wanted);
    const found = await ask('GET', `/access_requests/${body.AccessRequestID}/catalogue`);
    assert.equal(found.body.ID, catalogue.ID);
    for (const what of ['user', 'plan', 'catalogue', 'client'])
      assert.equal((await ask('GET', `/access_requests/99999/${what}`)).status, 404);
  });
});
