import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { addApp, addPlan, addProduct, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('custom credentials of apps', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const readKey = async (id: string) => app().ask('GET', `/api/keys/${encodeURIComponent(id)}`);
  const create = async () => {
    const [product, plan, owned] = [
      await addProduct(app()),
      await addPlan(app(), { MetaData: { tier: 'one' } }),
      await addApp(app()),
    ];
    const managed = { Alias: 'batch', Type: 'CREDENTIAL_TYPE_GW_MANAGED', PlanID: plan.ID, ProductIDs: [product.ID] };
    return { product, plan, owned, managed, path: `/apps/${owned.ID}/custom_credentials` };
  };

  test('a managed credential is a key with the policies of products and plan, until it is deleted', async () => {
    const { product, plan, managed, path, owned } = await create();
    const made = await ok('POST', path, managed, 201);
    const { ID, KeyID, CreatedAt, UpdatedAt, ...rest } = made;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Alias: 'batch',
      Type: 'CREDENTIAL_TYPE_GW_MANAGED',
      PlanID: String(plan.ID),
      ProductIDs: [product.ID],
      AuthenticationMethod: 'authToken',
      AuthTokenType: 'AUTH_TOKEN_STANDARD',
      ProviderID: 0,
      ClientTypeID: 0,
      CredentialKey: '',
      CredentialSecret: '',
    });
    const { data } = (await readKey(KeyID)).body;
    assert.deepEqual(data.apply_policies, [product.ReferenceID, plan.ReferenceID]);
    assert.deepEqual([data.meta_data.tier, data.tags[0]], ['one', `portal-app-${owned.ID}`]);
    assert.deepEqual(await ok('GET', `${path}/${ID}`), made);
    const { status, text } = await ask('GET', path);
    assert.equal(status, 200);
    assert.ok(!text.includes(KeyID));
    const renamed = await ok('PUT', `${path}/${ID}`, { ...made, Alias: 'nightly' });
    assert.deepEqual([renamed.Alias, renamed.KeyID], ['nightly', KeyID]);
    assert.deepEqual((await ask('DELETE', `/plans/${plan.ID}`)).status, 409);
    assert.deepEqual(await ok('DELETE', `${path}/${ID}`), {
      status: 'ok',
      message: 'Action Delete: Executed successfully',
    });
    assert.equal((await readKey(KeyID)).status, 404);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${path}/${ID}`)).status, 404);
    assert.equal((await ask('PUT', `${path}/${ID}`, { Alias: 'x' })).status, 422);
    await ok('DELETE', `/plans/${plan.ID}`);
  });

  test('an imported key has the given id; one that exists is refused and stays', async () => {
    const { managed, path } = await create();
    const literal = `imported-${createPublicId()}`;
    const body = { ...managed, AuthTokenType: 'AUTH_TOKEN_CUSTOM', KeyID: literal };
    const { KeyID, AuthTokenType } = await ok('POST', path, body, 201);
    assert.ok(KeyID.endsWith(literal));
    assert.equal(AuthTokenType, 'AUTH_TOKEN_TYPE_CUSTOM');
    const again = await ask('POST', path, body);
    assert.equal(again.status, 422);
    assert.match(again.body.errors[0], /^Provider Gatewright refused: /);
    assert.equal((await readKey(KeyID)).status, 200);
    assert.equal((await ok('GET', path)).length, 1);
    for (const dots of ['.', '..']) {
      const refused = await ask('POST', path, { ...body, KeyID: dots });
      assert.deepEqual([refused.status, refused.body.errors], [422, ['KeyID: must not be . or ..']]);
    }
  });

  test('a pair of another system is stored sealed and shown', async () => {
    const { path, owned } = await create();
    const secret = `planted-${createPublicId()}`;
    rememberSecrets({ secret });
    const pair = { Alias: 'sap', Type: 'CREDENTIAL_TYPE_CUSTOM', CredentialKey: 'user', CredentialSecret: secret };
    const { ID } = await ok('POST', path, pair, 201);
    const read = await ok('GET', `${path}/${ID}`);
    assert.deepEqual([read.CredentialKey, read.CredentialSecret, read.PlanID], ['user', secret, '']);
    const { records } = app().application.installation;
    const rows = await records.db.selectFrom('portal_custom_credentials').select('body').execute();
    assert.ok(!JSON.stringify(rows).includes(secret));
    const other = await addApp(app());
    assert.equal((await ask('GET', `/apps/${other.ID}/custom_credentials/${ID}`)).status, 404);
    await ok('DELETE', `/apps/${owned.ID}`);
    assert.equal((await ask('GET', `${path}/${ID}`)).status, 404);
    assert.equal((await ask('GET', path)).status, 404);
  });

  test('members without an effect, and missing ones, are refused', async () => {
    const { managed, path, product } = await create();
    const pair = { Alias: 'a', Type: 'CREDENTIAL_TYPE_CUSTOM', CredentialKey: 'k' };
    for (const [body, ...errors] of [
      [{ ...managed, CredentialKey: 'k' }, 'CredentialKey: is of the type CREDENTIAL_TYPE_CUSTOM only'],
      [{ ...managed, KeyID: 'k' }, 'KeyID: is of the type AUTH_TOKEN_TYPE_CUSTOM only'],
      [{ ...managed, AuthTokenType: 'AUTH_TOKEN_TYPE_CUSTOM' }, 'KeyID: is required'],
      [{ ...managed, AuthenticationMethod: 'jwt' }, 'AuthenticationMethod: is authToken for these products'],
      [{ ...managed, PlanID: 99999 }, 'PlanID: there is no plan 99999'],
      [{ Alias: 'a', Type: managed.Type }, 'PlanID: is required', 'ProductIDs: must name a product'],
      [{ ...pair, ProductIDs: [product.ID] }, 'ProductIDs: is of the type CREDENTIAL_TYPE_GW_MANAGED only'],
      [{ ...pair, CredentialKey: '' }, 'CredentialKey: is required'],
      [{ ...pair, CredentialSecrt: 'x' }, 'CredentialSecrt: no such member; did you mean CredentialSecret?'],
    ] as const) {
      const { status, body: refused } = await ask('POST', path, body);
      assert.deepEqual([status, refused.errors], [422, errors]);
    }
    assert.equal((await ask('POST', path, { ...managed, ProviderID: 1 })).status, 422);
    assert.equal((await ask('POST', '/apps/99999/custom_credentials', pair)).status, 422);
    assert.deepEqual(await ok('GET', path), []);
  });

  test('a change of anything but the alias is refused with the names of the members, and nothing is stored', async () => {
    const { managed, path, plan, product } = await create();
    const key = await ok('POST', path, managed, 201);
    const pair = { Alias: 'sap', Type: 'CREDENTIAL_TYPE_CUSTOM', CredentialKey: 'user', CredentialSecret: 'first' };
    const stored = await ok('POST', path, pair, 201);
    for (const [before, change, names] of [
      [key, { PlanID: plan.ID + 1 }, 'PlanID'],
      [key, { PlanID: '' }, 'PlanID'],
      [key, { ProductIDs: [product.ID, 99999] }, 'ProductIDs'],
      [key, { KeyID: `${key.KeyID}x` }, 'KeyID'],
      [key, { AuthTokenType: 'AUTH_TOKEN_CUSTOM' }, 'AuthTokenType'],
      [key, { AuthenticationMethod: 'jwt' }, 'AuthenticationMethod'],
      [key, { CredentialKey: 'k', CredentialSecret: 's' }, 'CredentialKey, CredentialSecret'],
      [stored, { Type: managed.Type, PlanID: plan.ID }, 'Type, PlanID'],
      [stored, { CredentialSecret: '' }, 'CredentialSecret'],
    ] as const) {
      for (const body of [
        { ...before, ...change },
        { Alias: 'other', ...change },
      ]) {
        const { status, body: refused } = await ask('PUT', `${path}/${before.ID}`, body);
        assert.deepEqual([status, refused.errors], [422, [`${names}: cannot change: create another credential`]]);
      }
      assert.deepEqual(await ok('GET', `${path}/${before.ID}`), before);
    }
    assert.equal((await ask('PUT', `${path}/${key.ID}`, { ...key, ProviderID: 1 })).status, 422);
    const same = { Alias: 'again', PlanID: plan.ID, ProductIDs: [String(product.ID)], CredentialKey: null };
    assert.equal((await ok('PUT', `${path}/${key.ID}`, same)).Alias, 'again');
    assert.equal((await ok('PUT', `${path}/${stored.ID}`, { ...stored, Alias: 'again' })).Alias, 'again');
  });

  test('a deleted app takes its keys along', async () => {
    const { managed, path, owned } = await create();
    const { KeyID } = await ok('POST', path, managed, 201);
    await ok('DELETE', `/apps/${owned.ID}`);
    assert.equal((await readKey(KeyID)).status, 404);
  });
});
