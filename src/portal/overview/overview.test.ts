import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('overview and search of the portal', app => {
  const read = (path: string) => requestPortal(app(), 'GET', `/portal-api${path}`);

  test('the overview counts requests and sign-ups by day, what waits, and all objects', async () => {
    const before = await read('/overview');
    await addAccessRequest(app(), { pending: true });
    await addAccessRequest(app());
    await addDeveloper(app(), { Active: false });
    const after = await read('/overview?days=2');
    const [today, former] = [after.Days.at(-1), before.Days.at(-1)];
    assert.equal(after.Days.length, 2);
    assert.match(today.Day, /^\d{4}-\d\d-\d\d$/);
    const difference = (name: string) => today[name] - former[name];
    assert.deepEqual([difference('AccessRequests'), difference('SignUps')], [2, 3]);
    assert.equal(after.Waiting.AccessRequests - before.Waiting.AccessRequests, 1);
    assert.equal(after.Waiting.InactiveUsers - before.Waiting.InactiveUsers, 1);
    assert.equal(after.Totals.Apps - before.Totals.Apps, 2);
    assert.deepEqual(Object.keys(after.Waiting), [
      'AccessRequests',
      'OrganisationRequests',
      'InactiveUsers',
      'ProvidersDown',
      'FailedMails',
    ]);
    assert.deepEqual(after.Site, { Registration: 'off', SignUp: false, Mail: false });
    for (const days of ['0', '91', 'x'])
      assert.equal((await app().ask('GET', `/portal-api/overview?days=${days}`)).status, 422);
  });

  test('products, plans, catalogues, apps and users are found by a part of a name among all pages, in any case', async () => {
    const name = `Über-${createPublicId()}`;
    const product = await addProduct(app(), { DisplayName: `${name} product` });
    const plan = await addPlan(app(), { DisplayName: `${name} 100%` });
    const { ID: catalogue } = await requestPortal(app(), 'POST', '/portal-api/catalogues', { Name: name });
    const user = await addDeveloper(app(), { First: 'Zoë', Last: name });
    const owner = await requestPortal(app(), 'POST', '/portal-api/apps', { Name: name, UserID: user.ID });
    const find = async (kind: string, text: string) =>
      (await read(`/${kind}?q=${encodeURIComponent(text)}`)).map(({ ID }: { ID: number }) => ID);
    for (const [kind, id] of [
      ['products', product.ID],
      ['plans', plan.ID],
      ['catalogues', catalogue],
      ['apps', owner.ID],
      ['users', user.ID],
    ] as const) {
      assert.deepEqual(await find(kind, name.toUpperCase()), [id], kind);
      assert.deepEqual(await find(kind, `${name}_`), [], kind);
      assert.deepEqual(await read(`/${kind}?q=${encodeURIComponent(name)}&page=2`), [], kind);
    }
    assert.deepEqual(await find('plans', `${name} 100%`), [plan.ID]);
    assert.deepEqual(await find('users', user.Email.toUpperCase()), [user.ID]);
    // Members of the document are no names.
    assert.deepEqual(await find('products', 'IsDocumentationOnly'), []);
  });

  test('credentials of all apps are listed without their keys, and found by app, product, hash and state', async () => {
    const { app: owner, product, requestId } = await addAccessRequest(app());
    const path = `/apps/${owner.ID}/access-requests/${requestId}/credentials`;
    const [credential] = await read(path);
    const rows = await read(`/credentials?q=${owner.Name.toUpperCase()}`);
    assert.equal(rows.length, 1);
    const { ID, AppID, App, Products, CredentialHash, State } = rows[0];
    assert.deepEqual(
      [ID, AppID, App, Products, CredentialHash, State],
      [credential.ID, owner.ID, owner.Name, [product.DisplayName || product.Name], credential.CredentialHash, 'active'],
    );
    assert.ok(!JSON.stringify(rows).includes(credential.Credential));
    assert.equal((await read(`/credentials?q=${credential.CredentialHash.slice(0, 12)}`)).length, 1);
    assert.deepEqual(await read(`/credentials?q=${owner.Name}&state=expired`), []);
    assert.equal((await read('/credentials?limit=1'))[0].ID, credential.ID);
    const short = await addAccessRequest(app(), { plan: { KeyExpiresIn: 3600 } });
    assert.equal((await read('/credentials?state=expiring'))[0].AppID, short.app.ID);
    await requestPortal(app(), 'DELETE', `/portal-api${path}/${credential.ID}`);
    assert.deepEqual(await read(`/credentials?q=${owner.Name}`), []);
    assert.equal((await app().ask('GET', '/portal-api/credentials?state=gone')).status, 422);
  });
});
