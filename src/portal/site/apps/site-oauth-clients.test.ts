import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addApi, addDeveloper, addPlan, addProduct, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { type RegisteringProvider, startRegisteringProvider } from '../../../../tests/support/registering-provider.ts';
import { type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';

const checkoutPath = '/portal/private/cart/provision';
const fieldOf = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
const secretOf = (text: string) => /<code>([^<]{20,})<\/code> <button class="copy/.exec(text)?.[1];

onEveryEngine('OAuth clients on the portal site', app => {
  let idp: RegisteringProvider;
  let types: { web: number; service: number };
  before(async () => {
    idp = await startRegisteringProvider(['orders', 'gold']);
    const body = { Name: 'Main', Type: 'Other', WellKnownURL: idp.discoverUrl };
    const settings = { ...body, RegistrationAccessToken: idp.initialToken };
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/oauth-providers', settings);
    const aType = async (Name: string, GrantType: string, ResponseTypes: string) =>
      (
        await requestPortal(app(), 'POST', `/portal-api/oauth-providers/${ID}/client-types`, {
          ...{ Name, GrantType, ResponseTypes },
        })
      ).ID as number;
    types = {
      web: await aType('Web app', 'authorization_code', 'code'),
      service: await aType('Service', 'client_credentials', 'none'),
    };
  });
  after(() => idp?.close());

  async function offerProduct(Templates: readonly number[]) {
    const name = `api-${createPublicId()}`;
    const jwt = { use_standard_auth: false, enable_jwt: true, jwt_signing_method: 'rsa' };
    const APIDetails = [{ APIID: await addApi(app(), name, jwt) }];
    const more = { APIDetails, Catalogues: [1], DCREnabled: true, Scopes: 'orders', Templates };
    const product = await addProduct(app(), more);
    const plan = await addPlan(app(), { Catalogues: [1], AutoApproveAccessRequests: true, JWTScope: 'gold' });
    const choice = { product: product.Path as string, plan: String(plan.ID), catalogue: '1' };
    return { choice, checkout: `${checkoutPath}?${new URLSearchParams(choice)}`, id: product.ID as number };
  }
  const aClient = async () => signedInClient(app(), await addDeveloper(app(), { Password: sitePassword }));
  async function submit(
    client: SiteClient,
    { choice, checkout }: Awaited<ReturnType<typeof offerProduct>>,
    more: object,
  ) {
    const request_id = fieldOf((await client.get(checkout)).text, 'request_id');
    return client.post(checkoutPath, { ...choice, request_id, 'app-action': 'create', client_name: 'Shop', ...more });
  }

  test('a request names the client type and redirect URLs; the secret is shown once, and a revocation deletes the client', async () => {
    const offer = await offerProduct([types.web, types.service]);
    const client = await aClient();
    const { text } = await client.get(offer.checkout);
    assert.match(
      text,
      /Web app: users sign in by their browser[\s\S]*Service: the client acts for itself[\s\S]*Redirect URLs/,
    );
    const refused = await submit(client, offer, { 'app-action-template': String(types.web) });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /RedirectURLs: is required for the client type Web app/);
    const redirect_urls = 'https://shop.example/back';
    const reply = await submit(client, offer, { 'app-action-template': String(types.web), redirect_urls });
    assert.equal(reply.status, 200, reply.text);
    const secret = secretOf(reply.text)!;
    const id = /Client id <code>([^<]+)/.exec(reply.text)![1]!;
    assert.equal((await idp.findClient(id))!.client_secret, secret);
    const [client_id, cred_id] = [fieldOf(reply.text, 'client_id'), fieldOf(reply.text, 'cred_id')];
    const act = (mode: string, more: object = {}) =>
      client.post('/portal/private/credentials', { mode, client_id, cred_id, ...more });
    const page = await client.get(`/portal/private/apps/${client_id}`);
    assert.ok(!page.text.includes(secret) && !page.text.includes('Rotate key'));
    assert.equal(secretOf((await act('reveal')).text), undefined);
    assert.equal((await act('roll')).status, 422);

    assert.equal((await act('update', { redirect_url: 'javascript:alert(1)' })).status, 422);
    assert.equal((await act('update', { redirect_url: 'https://shop.example/new' })).status, 303);
    assert.deepEqual((await idp.findClient(id))!.redirect_uris, ['https://shop.example/new']);
    idp.intercept = (incoming, response) => {
      if (incoming.method !== 'PUT') return false;
      response.writeHead(400).end('{"error":"invalid_redirect_uri"}');
      return true;
    };
    const failed = await act('update', { redirect_url: 'https://shop.example/other' });
    idp.intercept = undefined;
    assert.equal(failed.status, 422);
    assert.match(failed.text, /Redirect URLs <code>https:\/\/shop.example\/new</);
    assert.equal((await act('delete')).status, 303);
    assert.equal(await idp.findClient(id), undefined);
  });

  test('one client is for two products with a client type in common, and for none of another kind', async () => {
    const [first, second] = [await offerProduct([types.web, types.service]), await offerProduct([types.service])];
    const other = await offerProduct([types.web]);
    const key = await addProduct(app(), { Catalogues: [1], DisplayName: `Keyed ${createPublicId()}` });
    const client = await aClient();
    const open = (also: number | string) => client.get(`${first.checkout}&also=${also}`);
    const { text } = await open(second.id);
    assert.equal(fieldOf(text, 'app-action-template'), String(types.service), 'the type that both have');
    assert.match(text, new RegExp(`${key.DisplayName}</a> needs another credential: API key`));
    assert.match(text, new RegExp(`${other.choice.product}#plans">[^<]*</a> has no client type in common`));
    assert.equal((await open(`${second.id},${other.id}`)).status, 404);
    assert.equal((await open(key.ID)).status, 404);
    const sent = { 'app-action-template': String(types.service), also: String(second.id) };
    const reply = await submit(client, first, sent);
    assert.equal(reply.status, 200, reply.text);
    const id = /Client id <code>([^<]+)/.exec(reply.text)![1]!;
    assert.ok(await idp.findClient(id));
    const [request] = JSON.parse((await client.get('/portal/private/api/requests')).text);
    assert.deepEqual(request.ProductIDs, [first.id, second.id]);
  });

  test('a single client type needs no choice; the card has the request of a token', async () => {
    const offer = await offerProduct([types.service]);
    const client = await aClient();
    const { text } = await client.get(offer.checkout);
    assert.equal(fieldOf(text, 'app-action-template'), String(types.service));
    assert.doesNotMatch(text, /name="redirect_urls"/);
    const other = await submit(client, offer, { 'app-action-template': String(types.web) });
    assert.match(other.text, /DCRTemplateID: must be one of/);
    const reply = await submit(client, offer, { 'app-action-template': String(types.service) });
    assert.match(reply.text, /grant_type=client_credentials[\s\S]*scope=gold orders/);
  });
});
