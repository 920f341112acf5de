import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../../../tests/support/registering-provider.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

type Members = Record<string, unknown>;

const scopes = ['orders', 'invoices', 'gold', 'silver'];
/** Settings of an API whose tokens come from identity providers of the portal. */
const jwtApi = { use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' };

onEveryEngine('OAuth clients of portal apps', app => {
  let upstream: Upstream;
  let idp: RegisteringProvider;
  let clientType: { ID: number };
  let oauthProvider: { ID: number };
  let gold: { ID: number; ReferenceID: string };
  before(async () => {
    upstream = await startUpstream();
    idp = await startRegisteringProvider(scopes);
    oauthProvider = await anOauthProvider();
    clientType = await aClientType(oauthProvider);
    gold = await addPlan(app(), { JWTScope: 'gold' });
  });
  after(async () => {
    await idp?.close();
    await upstream?.close();
  });

  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const anOauthProvider = (more: Members = {}) =>
    ask('POST', '/oauth-providers', {
      ...{ Name: 'Main', Type: 'Other', WellKnownURL: idp.discoverUrl, RegistrationAccessToken: idp.initialToken },
      ...more,
    });
  const aClientType = ({ ID }: { ID: number }, more: Members = {}) =>
    ask('POST', `/oauth-providers/${ID}/client-types`, {
      ...{ Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' },
      ...more,
    });

  /** A product whose API takes JSON Web Tokens. */
  async function aDcrProduct(Scopes: string, more: Members = {}, api: Members = {}) {
    const name = `api-${createPublicId()}`;
    const APIID = await addApi(app(), name, {
      ...jwtApi,
      proxy: { listen_path: `/${name}/`, target_url: upstream.url },
      ...api,
    });
    const product = await addProduct(app(), {
      ...{ APIDetails: [{ APIID }], DCREnabled: true, Scopes, Templates: [clientType.ID] },
      ...more,
    });
    return { ...product, APIID, path: `/${name}/` };
  }
  async function request(appId: number, ProductIDs: number[], more: Members = {}) {
    const body = { PlanID: gold.ID, ProductIDs, ...more };
    return (await ask('PUT', `/apps/${appId}/provision`, body)).AccessRequestID as number;
  }
  const credentialOf = async (requestId: number) => (await ask('GET', `/access_requests/${requestId}`)).Credentials[0];
  async function callGateway(path: string, { OAuthClientID: id, OAuthClientSecret: secret }: Members, scope: string) {
    const { access_token } = await idp.fetchToken(String(id), String(secret), scope);
    await waitUntilApplied(app());
    const headers = { authorization: `Bearer ${access_token}` };
    return (await fetch(app().url.gateway + path, { headers })).status;
  }
  const readJwt = async (apiId: string) => {
    const { api_definition: it } = (await app().ask('GET', `/api/apis/${apiId}`)).body;
    return { keySets: it.jwt_jwks_uris, scopes: it.scopes?.jwt?.scope_to_policy };
  };

  test('an approval registers a client, whose tokens the gateway accepts; its revocation deletes it', async () => {
    const product = await aDcrProduct('orders');
    const owner = await addApp(app(), { Name: 'Shop' });
    const id = await request(owner.ID, [product.ID]);
    const pending = await ask('GET', `/access_requests/${id}`);
    assert.deepEqual(
      [pending.Status, pending.AuthType, pending.DCREnabled, pending.DCRTemplateID, pending.Credentials],
      ['pending', 'oauth', true, clientType.ID, []],
    );
    await ask('PUT', `/access_requests/${id}/approve`);
    const credential = await credentialOf(id);
    assert.deepEqual([credential.Credential, credential.CredentialHash], ['', '']);
    assert.deepEqual([credential.Scope, credential.GrantType], ['gold orders', 'client_credentials']);
    assert.equal(credential.JWKSURI, `${idp.issuer}/jwks`);
    assert.equal(JSON.parse(credential.DCRResponse).client_id, credential.OAuthClientID);
    const client = await idp.findClient(credential.OAuthClientID);
    assert.deepEqual([client!.client_name, client!.scope], ['Shop', 'gold orders']);
    assert.deepEqual(await readJwt(product.APIID), {
      keySets: [{ url: `${idp.issuer}/jwks` }],
      scopes: { orders: product.ReferenceID, gold: gold.ReferenceID },
    });
    assert.equal(await callGateway(product.path, credential, 'orders gold'), 200);
    assert.equal(await callGateway(product.path, credential, 'gold'), 403);

    const path = `/apps/${owner.ID}/access-requests/${id}/credentials/${credential.ID}`;
    const rotation = await app().ask('PUT', `/portal-api${path}/rotate`);
    assert.deepEqual(
      [rotation.status, rotation.body.errors],
      [422, ['The secret of an OAuth client is changed at its identity provider']],
    );
    await ask('DELETE', path);
    assert.equal(await idp.findClient(credential.OAuthClientID), undefined);
    assert.equal(await credentialOf(id), undefined);
  });

  test('a deleted product leaves no scopes in its APIs, and its clients can be revoked; scopes of plans stay with another product', async () => {
    const first = await aDcrProduct('orders', {}, { scopes: { jwt: { scope_to_policy: { own: 'of-the-operator' } } } });
    const shared = { APIDetails: [{ APIID: first.APIID }], DCREnabled: true, Scopes: 'invoices' };
    const second = await addProduct(app(), { ...shared, Templates: [clientType.ID] });
    const owner = await addApp(app());
    const requests = [];
    for (const { ID } of [first, second]) requests.push(await request(owner.ID, [ID], { ProvisionImmediately: true }));
    const all = { own: 'of-the-operator', gold: gold.ReferenceID, invoices: second.ReferenceID };
    assert.deepEqual((await readJwt(first.APIID)).scopes, { ...all, orders: first.ReferenceID });
    await ask('DELETE', `/products/${first.ID}`);
    assert.deepEqual((await readJwt(first.APIID)).scopes, all);
    await ask('DELETE', `/products/${second.ID}`);
    assert.deepEqual((await readJwt(first.APIID)).scopes, { own: 'of-the-operator' });
    const { OAuthClientID } = await credentialOf(requests[0]!);
    await ask('DELETE', `/access_requests/${requests[0]}`);
    assert.equal((await idp.findClient(OAuthClientID))!.scope, 'gold', 'a scope of a deleted product is gone');
    await ask('DELETE', `/access_requests/${requests[1]}`);
    assert.equal(await idp.findClient(OAuthClientID), undefined);
  });

  test('later approvals of an app change its one client to the larger scopes, revocations to the smaller', async () => {
    const [orders, invoices] = [await aDcrProduct('orders'), await aDcrProduct('invoices')];
    const owner = await addApp(app());
    const first = await request(owner.ID, [orders.ID], { ProvisionImmediately: true });
    const before = await credentialOf(first);
    const second = await request(owner.ID, [invoices.ID], { ProvisionImmediately: true });
    const after = await credentialOf(second);
    const secrets = ({ OAuthClientID, OAuthClientSecret }: Members) => [OAuthClientID, OAuthClientSecret];
    assert.deepEqual(secrets(after), secrets(before));
    assert.equal((await idp.findClient(before.OAuthClientID))!.scope, 'gold invoices orders');
    assert.equal(await callGateway(invoices.path, after, 'invoices gold'), 200);

    await ask('DELETE', `/apps/${owner.ID}/access-requests/${first}`);
    assert.equal((await idp.findClient(before.OAuthClientID))!.scope, 'gold invoices');
    const other = await credentialOf(
      await request((await addApp(app())).ID, [orders.ID], { ProvisionImmediately: true }),
    );
    await ask('DELETE', `/apps/${owner.ID}`);
    assert.equal(await idp.findClient(before.OAuthClientID), undefined);
    assert.ok(await idp.findClient(other.OAuthClientID), 'the client of another app stays');
  });

  test('a plan change swaps the scope of the plan, with the client unchanged', async () => {
    const product = await aDcrProduct('orders');
    const silver = await addPlan(app(), { JWTScope: 'silver' });
    const owner = await addApp(app());
    const id = await request(owner.ID, [product.ID], { ProvisionImmediately: true });
    const before = await credentialOf(id);
    const body = { PlanID: silver.ID, ProvisionImmediately: true };
    await ask('PUT', `/apps/${owner.ID}/access-requests/${id}/change`, body);
    const after = await credentialOf(id);
    assert.deepEqual([after.Scope, after.OAuthClientID], ['orders silver', before.OAuthClientID]);
    assert.equal((await idp.findClient(before.OAuthClientID))!.scope, 'orders silver');
    assert.equal(await callGateway(product.path, after, 'orders silver'), 200);
    assert.deepEqual((await readJwt(product.APIID)).scopes, {
      orders: product.ReferenceID,
      gold: gold.ReferenceID,
      silver: silver.ReferenceID,
    });
  });

  test('a failed approval stays pending with the text of the identity provider; nothing is left, and a retry works', async () => {
    const product = await aDcrProduct('orders');
    const owner = await addApp(app());
    const id = await request(owner.ID, [product.ID]);
    idp.intercept = (incoming, response) => {
      if (incoming.method !== 'POST' || incoming.url !== '/reg') return false;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_client_metadata', error_description: 'no more clients' }));
      return true;
    };
    const refused = await app().ask('PUT', `/portal-api/access_requests/${id}/approve`);
    const text = 'Provider Main refused: 400 invalid_client_metadata: no more clients';
    assert.deepEqual([refused.status, refused.body.errors], [422, [text]]);
    const failed = await ask('GET', `/access_requests/${id}`);
    assert.deepEqual([failed.Status, failed.Failure, failed.Credentials], ['pending', text, []]);
    idp.intercept = (_incoming, response) => {
      response.destroy();
      return true;
    };
    assert.match((await app().ask('PUT', `/portal-api/access_requests/${id}/approve`)).text, /cannot be reached/);
    idp.intercept = undefined;
    await ask('PUT', `/access_requests/${id}/approve`);
    assert.ok(await idp.findClient((await credentialOf(id)).OAuthClientID));
  });

  test('a client is deleted again where its API cannot take its tokens, and the request says why', async () => {
    const product = await aDcrProduct('orders', {}, { jwt_source: 'c2VjcmV0' });
    const owner = await addApp(app());
    const id = await request(owner.ID, [product.ID]);
    idp.requests.length = 0;
    const refused = await app().ask('PUT', `/portal-api/access_requests/${id}/approve`);
    assert.match(refused.text, /has a JWT key source, which must be empty/);
    assert.deepEqual(
      idp.requests.map(it => it.replace(/\/reg\/.*/, '/reg/id')),
      ['GET /.well-known/openid-configuration', 'POST /reg', 'DELETE /reg/id'],
    );
    assert.equal((await ask('GET', `/access_requests/${id}`)).Status, 'pending');
  });

  test('a revocation that the identity provider refuses keeps the credential; one of a deleted client is accepted', async () => {
    const product = await aDcrProduct('orders');
    const owner = await addApp(app());
    const id = await request(owner.ID, [product.ID], { ProvisionImmediately: true });
    const credential = await credentialOf(id);
    const path = `/portal-api/apps/${owner.ID}/access-requests/${id}/credentials/${credential.ID}`;
    idp.intercept = (incoming, response) => {
      if (incoming.method !== 'DELETE') return false;
      response.writeHead(401).end('{"error":"invalid_token"}');
      return true;
    };
    const refused = await app().ask('DELETE', path);
    assert.deepEqual([refused.status, refused.body.errors], [422, ['Provider Main refused: 401 invalid_token']]);
    assert.equal((await credentialOf(id)).ID, credential.ID);
    idp.intercept = undefined;
    const { DCRRegistrationClientURI, DCRRegistrationAccessToken } = credential;
    const headers = { authorization: `Bearer ${DCRRegistrationAccessToken}` };
    assert.equal((await fetch(DCRRegistrationClientURI, { method: 'DELETE', headers })).status, 204);
    assert.equal((await app().ask('DELETE', path)).status, 200);
    assert.equal(await credentialOf(id), undefined);
  });

  test('a request names a client type of its products, and redirect addresses where the grant needs them', async () => {
    const web = await aClientType(oauthProvider, {
      Name: 'Web',
      GrantType: 'authorization_code',
      ResponseTypes: 'code',
    });
    const product = await aDcrProduct('orders', { Templates: [clientType.ID, web.ID] });
    const keyProduct = await addProduct(app());
    const unscoped = await addPlan(app());
    const owner = await addApp(app());
    const refuse = async (body: Members) =>
      (await app().ask('PUT', `/portal-api/apps/${owner.ID}/provision`, { body: { PlanID: gold.ID, ...body } })).text;
    const ProductIDs = [product.ID];
    assert.match(await refuse({ ProductIDs }), /DCRTemplateID: must be one of/);
    assert.match(
      await refuse({ ProductIDs, DCRTemplateID: web.ID }),
      /RedirectURLs: is required for the client type Web/,
    );
    for (const RedirectURLs of ['javascript:alert(1)', 'https://a.example/#x', 'nothing'])
      assert.match(
        await refuse({ ProductIDs, DCRTemplateID: web.ID, RedirectURLs }),
        /RedirectURLs: .* (is not|must not)/,
      );
    assert.match(await refuse({ ProductIDs, DCRTemplateID: clientType.ID, PlanID: unscoped.ID }), /PlanID: .*JWTScope/);
    assert.match(await refuse({ ProductIDs: [keyProduct.ID], DCRTemplateID: web.ID }), /DCRTemplateID: .*no OAuth/);
    assert.match(
      await refuse({ ProductIDs: [keyProduct.ID, product.ID] }),
      /ProductIDs: need different credential types/,
    );
    const RedirectURLs = 'https://a.example/back, http://127.0.0.1/cb';
    const more = { DCRTemplateID: web.ID, RedirectURLs, ProvisionImmediately: true };
    const credential = await credentialOf(await request(owner.ID, ProductIDs, more));
    assert.equal(credential.RedirectURI, 'https://a.example/back,http://127.0.0.1/cb');
    const client = await idp.findClient(credential.OAuthClientID);
    assert.deepEqual(client!.redirect_uris, ['https://a.example/back', 'http://127.0.0.1/cb']);
  });

  test('a custom credential has an OAuth client to itself, deleted with it', async () => {
    const product = await aDcrProduct('orders');
    const owner = await addApp(app());
    const shared = await credentialOf(await request(owner.ID, [product.ID], { ProvisionImmediately: true }));
    const path = `/apps/${owner.ID}/custom_credentials`;
    const body = { Alias: 'batch', Type: 'CREDENTIAL_TYPE_GW_MANAGED', PlanID: gold.ID, ProductIDs: [product.ID] };
    const created = await ask('POST', path, { ...body, ClientTypeID: clientType.ID }, 201);
    assert.deepEqual(
      [created.ProviderID, created.ClientTypeID, created.AuthenticationMethod, created.KeyID],
      [oauthProvider.ID, clientType.ID, 'oauth', ''],
    );
    assert.notEqual(created.CredentialKey, shared.OAuthClientID);
    const secrets = { OAuthClientID: created.CredentialKey, OAuthClientSecret: created.CredentialSecret };
    assert.equal(await callGateway(product.path, secrets, 'orders gold'), 200);
    await ask('PUT', `${path}/${created.ID}`, { ...created, Alias: 'nightly' });
    await ask('DELETE', `${path}/${created.ID}`);
    assert.equal(await idp.findClient(created.CredentialKey), undefined);
    assert.ok(await idp.findClient(shared.OAuthClientID));
  });

  test('the connection is tested with a client that is deleted again; errors name the reason', async () => {
    idp.requests.length = 0;
    const found = await ask('POST', `/oauth-providers/${oauthProvider.ID}/ping`);
    assert.deepEqual([found.Issuer, found.TokenEndpoint], [idp.issuer, `${idp.issuer}/token`]);
    assert.ok(found.ScopesSupported.includes('orders'));
    const [, registered, deleted] = idp.requests;
    assert.deepEqual([registered, deleted!.slice(0, 12)], ['POST /reg', 'DELETE /reg/']);
    assert.equal(await idp.findClient(deleted!.slice(12)), undefined);
    const wrong = await anOauthProvider({ Name: 'Wrong', RegistrationAccessToken: 'a-wrong-token' });
    const refused = await app().ask('POST', `/portal-api/oauth-providers/${wrong.ID}/ping`);
    assert.match(refused.text, /Provider Wrong refused: 401 invalid_token/);
    assert.doesNotMatch(refused.text, /a-wrong-token/);
    const absent = await anOauthProvider({ Name: 'Absent', WellKnownURL: 'http://127.0.0.1:9/none' });
    assert.match((await app().ask('POST', `/portal-api/oauth-providers/${absent.ID}/ping`)).text, /cannot be reached/);
    assert.equal((await app().ask('POST', '/portal-api/oauth-providers/99999/ping')).status, 422);
  });

  test('a forced deletion of a client type deletes its clients and rejects its requests', async () => {
    const own = await anOauthProvider({ Name: 'Temporary' });
    const type = await aClientType(own);
    const product = await aDcrProduct('orders', { Templates: [type.ID] });
    const owner = await addApp(app());
    const approved = await request(owner.ID, [product.ID], { ProvisionImmediately: true });
    const pending = await request((await addApp(app())).ID, [product.ID]);
    const { OAuthClientID } = await credentialOf(approved);
    const path = `/oauth-providers/${own.ID}`;
    assert.equal((await app().ask('DELETE', `/portal-api${path}`)).status, 400);
    await ask('DELETE', `${path}?force=true`);
    assert.equal(await idp.findClient(OAuthClientID), undefined);
    for (const id of [approved, pending]) {
      const { Status, Reason, Credentials } = await ask('GET', `/access_requests/${id}`);
      assert.deepEqual([Status, Credentials], ['rejected', []]);
      assert.match(Reason, /deleted/);
    }
  });
});
