import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addAccessRequest, addApi, addApp, addPlan, addProduct, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper } from '../support/portal-site.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../support/registering-provider.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** The dashboard of another installation, which can be stopped. */
async function startRelay(provider: TestApp) {
  const state = { isAway: false };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (state.isAway) return void response.writeHead(503).end('{"Message":"maintenance until noon"}');
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
    const sent = body.length > 0 ? { body } : {};
    const answer = await fetch(provider.url.dashboard + request.url, { method: request.method!, headers, ...sent });
    response.writeHead(answer.status).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { state, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('Credentials of OAuth and of several providers in the portal', () => {
  const portal = testPortalAdmin();
  let idp: RegisteringProvider;
  let upstream: Upstream;
  before(async () => {
    idp = await startRegisteringProvider(['orders', 'gold', 'returns', 'stock', 'silver', 'bronze']);
    upstream = await startUpstream();
  });
  after(async () => {
    await idp?.close();
    await upstream?.close();
  });

  test('an administrator tests a provider; a developer gets a client, its token is accepted, and revoking deletes it alone', async () => {
    const app = portal.app();
    const admin = await portal.openAs(await portal.anAdmin(), '/admin/oauth2-0-providers/new');
    await admin.getByLabel('Name (required)').fill('Login');
    await admin.getByLabel('Type').selectOption('Other');
    await admin.getByLabel('Address of the discovery document').fill(idp.discoverUrl);
    await admin.getByLabel('Registration access token').fill('wrong-token');
    await admin.getByRole('button', { name: 'Create OAuth provider' }).click();
    await admin.getByRole('heading', { level: 1, name: 'Login' }).waitFor();
    await admin.getByRole('button', { name: 'Test connection' }).click();
    await admin.getByText('Provider Login refused: 401 invalid_token').waitFor();
    await admin.getByLabel('Registration access token').fill(idp.initialToken);
    await admin.getByRole('button', { name: 'Save OAuth provider' }).click();
    await admin.getByText('Login was saved').waitFor();
    await admin.getByRole('button', { name: 'Test connection' }).click();
    await admin.getByText(`${idp.issuer} registered a client and deleted it again.`).waitFor();

    const [provider] = await requestPortal(app, 'GET', '/portal-api/oauth-providers');
    const type = await requestPortal(app, 'POST', `/portal-api/oauth-providers/${provider.ID}/client-types`, {
      ...{ Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' },
    });
    const APIID = await addApi(app, 'orders', {
      ...{ use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' },
      proxy: { listen_path: '/orders/', target_url: upstream.url },
    });
    const more = { DCREnabled: true, Scopes: 'orders', Templates: [type.ID], Catalogues: [1] };
    const product = await addProduct(app, { DisplayName: 'Orders', APIDetails: [{ APIID }], ...more });
    await addPlan(app, { DisplayName: 'Gold', JWTScope: 'gold', AutoApproveAccessRequests: true, Catalogues: [1] });

    const page = await portal.openAs(await addSiteDeveloper(app), `/portal/catalogue-products/${product.Path}`);
    const requestFor = async (name: string) => {
      await page.goto(`${app.url.portal}/portal/catalogue-products/${product.Path}`);
      await page.getByRole('link', { name: 'Access with this plan' }).click();
      await page.getByText('Service: the client acts for itself').waitFor();
      await assertAccessible(page, 'request of an OAuth client');
      const choice = page.getByLabel('a new app');
      if (await choice.count()) await choice.check();
      await page.getByLabel('Name of the app').fill(name);
      await page.getByRole('button', { name: 'Get access' }).click();
      await page.getByText('Copy this secret now').waitFor();
      const facts = page.getByRole('listitem').filter({ hasText: 'Client id' });
      return {
        id: await facts.locator('code').innerText(),
        secret: await page.locator('.secret > code').innerText(),
      };
    };
    const other = await requestFor('Other shop');
    const own = await requestFor('Shop');
    await assertAccessible(page, 'app with an OAuth client');
    await page.getByText('grant_type=client_credentials').waitFor();
    const { access_token } = await idp.fetchToken(own.id, own.secret, 'orders gold');
    await waitUntilApplied(app);
    const headers = { authorization: `Bearer ${access_token}` };
    assert.equal((await fetch(`${app.url.gateway}/orders/`, { headers })).status, 200);
    await page.locator('details.confirm > summary').click();
    await page.getByRole('button', { name: /^Revoke (key|client)$/ }).click();
    await page.getByText('The credential was revoked').waitFor();
    assert.equal(await idp.findClient(own.id), undefined);
    assert.ok(await idp.findClient(other.id));
    assert.deepEqual(await idp.fetchToken(own.id, own.secret, 'orders gold').then(it => it.error), 'invalid_client');
  });

  test('a plan change swaps the scope of a client, a second product enlarges it; id and secret stay', async () => {
    const app = portal.app();
    const body = { Name: 'Service login', Type: 'Other', WellKnownURL: idp.discoverUrl };
    const { ID } = await requestPortal(app, 'POST', '/portal-api/oauth-providers', {
      ...{ ...body, RegistrationAccessToken: idp.initialToken },
    });
    const type = await requestPortal(app, 'POST', `/portal-api/oauth-providers/${ID}/client-types`, {
      ...{ Name: 'Batch', GrantType: 'client_credentials', ResponseTypes: 'none' },
    });
    const offer = async (name: string): Promise<string> => {
      const jwt = { use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' };
      const APIID = await addApi(app, name, { ...jwt, proxy: { listen_path: `/${name}/`, target_url: upstream.url } });
      const dcr = { DCREnabled: true, Scopes: name, Templates: [type.ID], Catalogues: [1] };
      const product = await addProduct(app, { DisplayName: name, APIDetails: [{ APIID }], ...dcr });
      return `/portal/catalogue-products/${product.Path}`;
    };
    const [returns, stock] = [await offer('returns'), await offer('stock')];
    for (const name of ['silver', 'bronze'])
      await addPlan(app, { DisplayName: name, JWTScope: name, AutoApproveAccessRequests: true, Catalogues: [1] });
    const page = await portal.openAs(await addSiteDeveloper(app), returns);
    const choosePlan = async (name: string) => {
      const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
      await plan.getByRole('link', { name: 'Access with this plan' }).click();
    };
    await choosePlan('silver');
    await page.getByLabel('Name of the app').fill('Depot');
    await page.getByRole('button', { name: 'Get access' }).click();
    const secret = await page.locator('.secret > code').innerText();
    const id = await page.getByRole('listitem').filter({ hasText: 'Client id' }).locator('code').innerText();
    const readScopes = async () =>
      String((await idp.findClient(id))!.scope)
        .split(' ')
        .sort();
    assert.deepEqual(await readScopes(), ['returns', 'silver']);
    const statusOf = async (name: string, scope: string) => {
      const { access_token, error } = await idp.fetchToken(id, secret, scope);
      if (!access_token) return error;
      await waitUntilApplied(app);
      const headers = { authorization: `Bearer ${access_token}` };
      return (await fetch(`${app.url.gateway}/${name}/`, { headers })).status;
    };
    assert.equal(await statusOf('returns', 'returns silver'), 200);

    const option = page.getByRole('option', { name: /^bronze:/ });
    await page.getByRole('combobox', { name: 'to', exact: true }).selectOption((await option.getAttribute('value'))!);
    await page.getByRole('button', { name: 'Change plan' }).click();
    await page.getByText('bronze: No rate limit, no quota').waitFor();
    assert.deepEqual(await readScopes(), ['bronze', 'returns']);
    assert.equal(await statusOf('returns', 'returns silver'), 'invalid_scope');
    assert.equal(await statusOf('returns', 'returns bronze'), 200);

    await page.goto(app.url.portal + stock);
    await choosePlan('bronze');
    await page.getByRole('button', { name: 'Get access' }).click();
    await page.getByRole('article').nth(1).waitFor();
    const ids = page.getByRole('listitem').filter({ hasText: 'Client id' }).locator('code');
    assert.deepEqual(await ids.allInnerTexts(), [id, id]);
    assert.deepEqual(await readScopes(), ['bronze', 'returns', 'stock']);
    assert.equal(await statusOf('stock', 'returns stock bronze'), 200);
    assert.equal(await statusOf('returns', 'returns stock bronze'), 200);
    // Registration management (RFC 7592) has no rotation of secrets: the card names who can.
    await page.getByText('The secret was shown. Ask the owner of this portal if it is lost.').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Rotate key' }).count(), 0);
  });

  test('with one provider stopped, its approval fails with its text and stays pending, others work, and a retry gives one key', async () => {
    const app = portal.app();
    const far = await startApp('sqlite');
    const relay = await startRelay(far);
    try {
      const MetaData = JSON.stringify({ URL: relay.url, Secret: far.credentials.admin_access_key });
      const { ID: ProviderID } = await requestPortal(app, 'POST', '/portal-api/providers', {
        ...{ Name: 'Far', Type: 'gw-pro', Configuration: { MetaData } },
      });
      const product = await addProduct(app, { ProviderID, APIDetails: [{ APIID: await addApi(far) }] });
      const plan = await addPlan(app, { ProviderID });
      const owner = await addApp(app);
      const body = { PlanID: plan.ID, ProductIDs: [product.ID] };
      const { AccessRequestID } = await requestPortal(app, 'PUT', `/portal-api/apps/${owner.ID}/provision`, body);
      const near = await addAccessRequest(app, { pending: true });
      relay.state.isAway = true;
      const page = await portal.openAs(await portal.anAdmin(), `/admin/access_requests/${AccessRequestID}`);
      await page.getByRole('button', { name: 'Approve request' }).click();
      await page
        .getByText(/Provider Far cannot be reached: 503 maintenance until noon/)
        .first()
        .waitFor();
      const readFar = () => requestPortal(app, 'GET', `/portal-api/access_requests/${AccessRequestID}`);
      const { Status, Failure, Credentials } = await readFar();
      assert.deepEqual([Status, Credentials], ['pending', []]);
      assert.match(Failure, /maintenance until noon/);
      await page.goto(`${app.url.portal}/admin/access_requests/${near.requestId}`);
      await page.getByRole('button', { name: 'Approve request' }).click();
      await page.getByText('1 request was approved').waitFor();

      relay.state.isAway = false;
      await page.goto(`${app.url.portal}/admin/access_requests/${AccessRequestID}`);
      await page.getByRole('button', { name: 'Retry approval' }).click();
      await page.getByText('1 request was approved').waitFor();
      const { keys } = (await far.ask('GET', '/api/keys/detailed?p=-1')).body;
      const issued = keys.filter((it: { data: { tags?: string[] } }) =>
        it.data.tags?.includes(`portal-app-${owner.ID}`),
      );
      assert.deepEqual(
        issued.map((it: { key_id: string }) => it.key_id),
        (await readFar()).Credentials.map((it: { Credential: string }) => it.Credential),
      );
      assert.equal(issued.length, 1);
    } finally {
      relay.server.closeAllConnections();
      relay.server.close();
      await far.close();
    }
  });
});
