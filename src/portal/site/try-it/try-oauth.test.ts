import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import {
  addApi,
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  requestPortal,
  toFileForm,
} from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../../../../tests/support/registering-provider.ts';
import { signedInClient } from '../../../../tests/support/site-client.ts';
import { waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
};

onEveryEngine('credentials of try-it', app => {
  let upstream: Upstream;
  let idp: RegisteringProvider;
  before(async () => {
    upstream = await startUpstream();
    idp = await startRegisteringProvider(['orders', 'gold']);
  });
  after(async () => {
    await idp?.close();
    await upstream?.close();
  });

  /** A product with a reference, and a developer with an approved request for it. */
  async function offer(api: object, product: object, plan: Record<string, unknown> = {}) {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true };
    const APIID = await addApi(app(), name, { proxy, ...api });
    const { ID, Path } = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1], ...product });
    const body = toFileForm(JSON.stringify(document));
    await app().ask('POST', `/portal-api/products/${ID}/api-details/${APIID}/oas`, { body });
    const user = await addDeveloper(app(), { Password: sitePassword });
    const { ID: appId } = await addApp(app(), { UserID: user.ID });
    const { ID: PlanID } = await addPlan(app(), plan);
    const wanted = { PlanID, ProductIDs: [ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${appId}/provision`, wanted);
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    await waitUntilApplied(app());
    const client = await signedInClient(app(), user);
    const fields = {
      product: Path as string,
      api: APIID,
      operation: 'listorders',
      credential: String(Credentials[0].ID),
    };
    const send = async (more: Record<string, string> = {}) => {
      const { status, text } = await client.post('/portal/private/api/try', { ...fields, format: 'json', ...more });
      return { status, text, ...JSON.parse(text) };
    };
    const page = (await client.get(`/portal/catalogue-products/${Path}/${APIID}/docs/listorders`)).text;
    return { credential: Credentials[0], send, page };
  }

  test('an OAuth client calls with a token that the server gets, which is in no response and serves further calls', async () => {
    const settings = { Name: 'Main', Type: 'Other', WellKnownURL: idp.discoverUrl };
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/oauth-providers', {
      ...settings,
      RegistrationAccessToken: idp.initialToken,
    });
    const type = await requestPortal(app(), 'POST', `/portal-api/oauth-providers/${ID}/client-types`, {
      ...{ Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' },
    });
    const api = { use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' };
    const product = { DCREnabled: true, Scopes: 'orders', Templates: [type.ID] };
    const { credential, send, page } = await offer(api, product, { JWTScope: 'gold' });
    assert.match(page, new RegExp(`<option value="${credential.ID}" selected>`));
    const { result, text } = await send();
    assert.equal(result.status, 200, text);
    const [, token] = /^Bearer (.+)$/.exec(upstream.requests.at(-1)!.headers.authorization!)!;
    assert.ok(!text.includes(token!) && !text.includes(credential.OAuthClientSecret));
    assert.match(result.curl, /-H "Authorization: Bearer \$API_KEY"/);
    await send();
    assert.equal(idp.requests.filter(it => it === 'POST /token').length, 1);
  });

  test('the credential is sent in the header of the API, also in samples, and another one there is refused', async () => {
    const api = { auth_configs: { authToken: { auth_header_name: 'X-Api-Key' } } };
    const { credential, send, page } = await offer(api, {});
    assert.match(page, /X-Api-Key: \$API_KEY/);
    const { result, text } = await send();
    assert.equal(result.status, 200, text);
    assert.equal(upstream.requests.at(-1)!.headers['x-api-key'], credential.Credential);
    assert.match(result.curl, /-H "X-Api-Key: \$API_KEY"/);
    assert.match((await send({ headers: 'x-api-key: other' })).error, /set by the credential/);
  });
});
