import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addProduct, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

const wellKnown = 'https://idp.example/.well-known/openid-configuration';
const webApp = { Name: 'Web', ResponseTypes: 'code', GrantType: 'authorization_code,refresh_token' };

onEveryEngine('OAuth providers of the portal', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });
  const aProvider = (more: object = {}) =>
    requestPortal(app(), 'POST', '/portal-api/oauth-providers', {
      Name: `idp-${createPublicId()}`,
      Type: 'Keycloak',
      WellKnownURL: wellKnown,
      ...more,
    });
  const aType = (providerId: number, more: object = {}) =>
    requestPortal(app(), 'POST', `/portal-api/oauth-providers/${providerId}/client-types`, { ...webApp, ...more });

  test('a provider is returned with every member but its registration token, which is sealed', async () => {
    const RegistrationAccessToken = `planted-${createPublicId()}`;
    const made = await aProvider({ RegistrationAccessToken, SSLInsecureSkipVerify: 'true' });
    const { ID, CID, Name, CreatedAt, UpdatedAt, ...rest } = made;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, { Type: 'Keycloak', WellKnownURL: wellKnown, SSLInsecureSkipVerify: true });
    for (const id of [ID, CID])
      assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/oauth-providers/${id}`), {
        ...made,
        ClientTypes: [],
      });
    const [row] = await requestPortal(app(), 'GET', '/portal-api/oauth-providers?limit=1');
    assert.deepEqual(row, made);
    const { records } = app().application.installation;
    const rows = JSON.stringify(await records.db.selectFrom('portal_oauth_providers').selectAll().execute());
    assert.ok(rows.includes(Name) && !rows.includes(RegistrationAccessToken));
  });

  test('the registration token is required again for an address on another host', async () => {
    const { ID } = await aProvider({ RegistrationAccessToken: 'secret-token' });
    const path = `/portal-api/oauth-providers/${ID}`;
    const same = { WellKnownURL: 'https://idp.example/realms/a/.well-known/openid-configuration' };
    assert.equal((await ask('PUT', path, same)).status, 200);
    const moved = { WellKnownURL: 'https://other.example/.well-known/openid-configuration' };
    const refused = await ask('PUT', path, moved);
    assert.deepEqual(
      [refused.status, refused.body.errors],
      [422, ['RegistrationAccessToken: must be sent again when WellKnownURL names another host']],
    );
    assert.equal((await ask('PUT', path, { ...moved, RegistrationAccessToken: '' })).status, 200);
    assert.equal((await ask('PUT', path, { ...same })).status, 200);
  });

  test('an invalid provider is refused with its path', async () => {
    for (const [more, message] of [
      [{ Type: 'Auth1' }, /^Type: /],
      [{ WellKnownURL: 'file:///etc/passwd' }, /^WellKnownURL: must be an http or https address/],
      [{ WellKnownURL: 'https://a:b@idp.example/' }, /^WellKnownURL: must not contain/],
      [{ WelKnownURL: 'x' }, /WellKnownURL/],
    ] as const) {
      const body = { Name: 'x', Type: 'Other', WellKnownURL: wellKnown, ...more };
      const answer = await ask('POST', '/portal-api/oauth-providers', body);
      assert.equal(answer.status, 422);
      assert.match(answer.body.errors[0], message);
    }
    const { CID } = await aProvider();
    const taken = await ask('POST', '/portal-api/oauth-providers', {
      Name: 'x',
      Type: 'Other',
      WellKnownURL: wellKnown,
      CID,
    });
    assert.equal(taken.status, 409);
  });

  test('a client type takes lists as text or arrays, and is returned, changed and deleted', async () => {
    const { ID } = await aProvider();
    const list = `/portal-api/oauth-providers/${ID}/client-types`;
    const made = await aType(ID, { ResponseTypes: ['code', 'it_token'], GrantType: 'pkce, pkce,password' });
    assert.deepEqual([made.ResponseTypes, made.GrantType], ['code,id_token', 'pkce,password']);
    assert.ok(!('OktaAppType' in made) && !('TokenEndpointAuthMethod' in made));
    const path = `/portal-api/oauth-providers/${ID}/client-types/${made.CID}`;
    assert.deepEqual(await requestPortal(app(), 'GET', path), made);
    assert.deepEqual(await requestPortal(app(), 'GET', `/portal-api/oauth-providers/${ID}/client-types`), [made]);
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/oauth-providers/${ID}`)).ClientTypes, [made]);
    const change = { ...made, TokenEndpointAuthMethod: 'client_secret_post', OktaAppType: '' };
    const changed = await requestPortal(app(), 'PUT', path, change);
    assert.deepEqual(
      { ...changed, UpdatedAt: '' },
      { ...made, TokenEndpointAuthMethod: 'client_secret_post', UpdatedAt: '' },
    );
    assert.deepEqual(await requestPortal(app(), 'DELETE', path), { status: 'ok' });
    assert.deepEqual(await requestPortal(app(), 'GET', list), []);
  });

  test('client types of Okta need its type of app, and others must not have one', async () => {
    const [okta, other] = [await aProvider({ Type: 'Okta' }), await aProvider()];
    const made = await aType(okta.ID, { OktaAppType: 'web', ResponseTypes: null, GrantType: null });
    assert.deepEqual([made.OktaAppType, made.GrantType], ['web', '']);
    for (const [id, more, error] of [
      [okta.ID, {}, 'OktaAppType: is required for Okta'],
      [other.ID, { OktaAppType: 'web' }, 'OktaAppType: is of Okta only, not of Keycloak'],
      [other.ID, { GrantType: '' }, 'GrantType: is required'],
    ] as const) {
      const { status, body } = await ask('POST', `/portal-api/oauth-providers/${id}/client-types`, {
        ...webApp,
        ...more,
      });
      assert.deepEqual([status, body.errors], [422, [error]]);
    }
    const wrong = await ask('POST', `/portal-api/oauth-providers/${other.ID}/client-types`, {
      ...webApp,
      GrantType: 'magic',
    });
    assert.match(wrong.body.errors[0], /^GrantType/);
    const { CID } = await aType(other.ID);
    const taken = await ask('POST', `/portal-api/oauth-providers/${other.ID}/client-types`, { ...webApp, CID });
    assert.equal(taken.status, 409);
  });

  test('client types are attached to products, by their operation or with the product', async () => {
    const { ID: providerId } = await aProvider();
    const type = await aType(providerId, { Name: `type-${createPublicId()}` });
    const product = await addProduct(app());
    const path = `/portal-api/products/${product.ID}/client_types`;
    const attached = await requestPortal(
      app(),
      'POST',
      `/portal-api/products/${product.ID}/client_types`,
      { ID: String(type.ID) },
      201,
    );
    const { CID, ResponseTypes: _types, ...shown } = type;
    assert.deepEqual(attached, shown);
    assert.deepEqual(await requestPortal(app(), 'GET', path), [{ ID: type.ID, Name: type.Name }]);
    for (const id of [type.ID, CID])
      assert.deepEqual(
        await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}/client_types/${id}`),
        attached,
      );
    const read = await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`);
    assert.deepEqual(read.Templates, [type.Name]);
    const written = await requestPortal(app(), 'PUT', `/portal-api/products/${product.ID}`, read);
    assert.deepEqual(written.Templates, [type.Name]);
    await requestPortal(app(), 'DELETE', `/portal-api/products/${product.ID}/client_types/${type.ID}`);
    assert.deepEqual(await requestPortal(app(), 'GET', path), []);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${path}/${type.ID}`)).status, 404);
    assert.deepEqual((await addProduct(app(), { Templates: [type.ID] })).Templates, [type.Name]);
    assert.deepEqual((await ask('POST', path, { ID: 99_999 })).body.errors, ['ID: there is no client type 99999']);
    const unknown = '/portal-api/products/99999/client_types';
    assert.equal((await ask('GET', unknown)).status, 404);
    assert.equal((await ask('POST', unknown, { ID: type.ID })).status, 422);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${unknown}/1`)).status, 404);
  });

  test('a client type or provider that a product uses is deleted with force only, and detached then', async () => {
    for (const removed of ['type', 'provider']) {
      const { ID: providerId } = await aProvider();
      const type = await aType(providerId);
      const product = await addProduct(app(), { Templates: [type.ID] });
      const path =
        removed === 'type'
          ? `/portal-api/oauth-providers/${providerId}/client-types/${type.ID}`
          : `/portal-api/oauth-providers/${providerId}`;
      const refused = await ask('DELETE', path);
      assert.deepEqual(
        [refused.status, refused.body.errors],
        [400, ['1 products or OAuth clients use it: remove it from them first, or delete it with force=true']],
      );
      assert.deepEqual(await requestPortal(app(), 'DELETE', `${path}?force=true`), { status: 'ok' });
      assert.equal((await ask('GET', path)).status, 404);
      assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`)).Templates, []);
    }
  });

  test('unknown providers, and client types of another provider, are 404', async () => {
    const [one, other] = [await aProvider(), await aProvider()];
    const type = await aType(one.ID);
    for (const path of [
      '/portal-api/oauth-providers/99999',
      '/portal-api/oauth-providers/99999/client-types/1',
      `/portal-api/oauth-providers/${other.ID}/client-types/${type.ID}`,
    ]) {
      for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, path)).status, 404, path);
      assert.equal((await ask('PUT', path, {})).status, 404);
    }
    const list = '/portal-api/oauth-providers/99999/client-types';
    assert.equal((await ask('GET', list)).status, 404);
    assert.equal((await ask('POST', list, webApp)).status, 404);
  });

  test('a provider has at most 1000 client types', async () => {
    const { ID } = await aProvider();
    const { records } = app().application.installation;
    const row = () => ({ provider_id: ID, cid: createPublicId(), name: 'x', body: '{}' });
    for (let start = 0; start < 1000; start += 100)
      await records.db
        .insertInto('portal_client_types')
        .values(Array.from({ length: 100 }, row) as never)
        .execute();
    const full = await ask('POST', `/portal-api/oauth-providers/${ID}/client-types`, webApp);
    assert.deepEqual([full.status, full.body.errors], [422, ['The provider has 1000 client types, the maximum']]);
  });
});
