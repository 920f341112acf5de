import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../../../tests/support/registering-provider.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

/** The portal of one installation, and the gateway of another one, which accepts the tokens of OAuth clients. */
describe('OAuth clients of a remote provider', () => {
  let portal: TestApp;
  let other: TestApp;
  let upstream: Upstream;
  let idp: RegisteringProvider;
  before(async () => {
    [portal, other, upstream, idp] = await Promise.all([
      startApp('sqlite'),
      startApp('sqlite'),
      startUpstream(),
      startRegisteringProvider(['orders', 'gold']),
    ]);
  });
  after(async () => {
    await portal?.close();
    await other?.close();
    await idp?.close();
    await upstream?.close();
  });
  const send = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(portal, method, `/portal-api${path}`, body, status);

  test('an approval registers the client, and the remote gateway accepts its tokens until it is revoked', async () => {
    const MetaData = JSON.stringify({ URL: other.url.dashboard, Secret: other.credentials.admin_access_key });
    const ProviderID = (await send('POST', '/providers', { Name: 'Far', Type: 'gw-pro', Configuration: { MetaData } }))
      .ID;
    const well = { WellKnownURL: idp.discoverUrl, RegistrationAccessToken: idp.initialToken };
    const oauth = await send('POST', '/oauth-providers', { Name: 'Main', Type: 'Other', ...well });
    const kind = { Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' };
    const type = await send('POST', `/oauth-providers/${oauth.ID}/client-types`, kind);
    const name = `remote-${createPublicId()}`;
    const APIID = await addApi(other, name, {
      ...{ use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' },
      proxy: { listen_path: `/${name}/`, target_url: upstream.url },
    });
    const offer = { DCREnabled: true, Scopes: 'orders', Templates: [type.ID], ProviderID };
    const product = await addProduct(portal, { ...offer, APIDetails: [{ APIID }] });
    const plan = await addPlan(portal, { JWTScope: 'gold', ProviderID });
    const owner = await addApp(portal);
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID: id } = await send('PUT', `/apps/${owner.ID}/provision`, body);
    const [credential] = (await send('GET', `/access_requests/${id}`)).Credentials;
    const { api_definition: stored } = (await other.ask('GET', `/api/apis/${APIID}`)).body;
    assert.deepEqual(stored.jwt_jwks_uris, [{ url: `${idp.issuer}/jwks` }]);
    assert.deepEqual(stored.scopes.jwt.scope_to_policy, { orders: product.ReferenceID, gold: plan.ReferenceID });
    const { OAuthClientID, OAuthClientSecret } = credential;
    const call = async (scope: string) => {
      const { access_token } = await idp.fetchToken(OAuthClientID, OAuthClientSecret, scope);
      await waitUntilApplied(other);
      const headers = { authorization: `Bearer ${access_token}` };
      return (await fetch(`${other.url.gateway}/${name}/`, { headers })).status;
    };
    assert.deepEqual([await call('orders gold'), await call('gold')], [200, 403]);
    await send('DELETE', `/apps/${owner.ID}/access-requests/${id}/credentials/${credential.ID}`);
    assert.equal(await idp.findClient(OAuthClientID), undefined);
    assert.ok((await idp.fetchToken(OAuthClientID, OAuthClientSecret, 'orders')).error);
    await send('DELETE', `/products/${product.ID}`);
    const { api_definition: after } = (await other.ask('GET', `/api/apis/${APIID}`)).body;
    assert.deepEqual(after.scopes?.jwt?.scope_to_policy ?? {}, {});
  });
});
