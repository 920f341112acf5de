import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
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
import { createSiteClient, type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getOrder', responses: {} },
      post: {
        operationId: 'changeOrder',
        requestBody: { content: { 'application/json': { schema: { type: 'object' }, example: { paid: true } } } },
        responses: {},
      },
    },
  },
};
const tryPath = '/portal/private/api/try';

onEveryEngine('try-it of the API reference', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  /** A product in the public catalogue with a reference, and a developer with a credential for it. */
  async function offer(more: { catalogue?: number; api?: Record<string, unknown>; product?: object } = {}) {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true };
    const APIID = await addApi(app(), name, { proxy, ...more.api });
    const Catalogues = [more.catalogue ?? 1];
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues, ...more.product });
    const answer = await app().ask('POST', `/portal-api/products/${product.ID}/api-details/${APIID}/oas`, {
      body: toFileForm(JSON.stringify(document)),
    });
    assert.ok(answer.status < 300, answer.text);
    const url = `/portal/catalogue-products/${product.Path}/${APIID}/docs`;
    const fields = { product: product.Path as string, api: APIID, operation: 'getorder', 'path:id': '7' };
    return { product, APIID, url, fields };
  }

  async function aCredential(user: { ID: number }, productId: number, plan: object = {}) {
    const { ID: PlanID } = await addPlan(app(), { ...plan });
    const { ID } = await addApp(app(), { UserID: user.ID });
    const body = { PlanID, ProductIDs: [productId], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, body);
    const request = await requestPortal(app(), 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    const [credential] = request.Credentials;
    await waitUntilApplied(app());
    return { id: String(credential.ID), key: credential.Credential as string, requestId: AccessRequestID as number };
  }
  const aUser = () => addDeveloper(app(), { Password: sitePassword });

  async function send(client: SiteClient, fields: Record<string, string>) {
    const reply = await client.post(tryPath, { ...fields, format: 'json' });
    const isJson = reply.headers.get('content-type')?.startsWith('application/json');
    return { status: reply.status, ...(isJson ? JSON.parse(reply.text) : {}), text: reply.text };
  }

  test('a developer calls an operation with an own credential, which is in no page and no response', async () => {
    const { product, url, fields } = await offer();
    const user = await aUser();
    const { id, key } = await aCredential(user, product.ID);
    const client = await signedInClient(app(), user);
    const page = await client.get(`${url}/getorder`);
    assert.match(page.text, new RegExp(`<option value="${id}" selected>`));
    assert.ok(!page.text.includes(key));
    const { status, result, text } = await send(client, { ...fields, credential: id });
    assert.deepEqual([status, result.status, result.statusText], [200, 200, 'OK'], text);
    const received = upstream.requests.at(-1)!;
    assert.equal(received.url, '/orders/7');
    assert.equal(received.headers.authorization, key);
    assert.equal(received.headers.cookie, undefined);
    assert.ok(!text.includes(key), 'the echo of the upstream has no key');
    assert.match(result.body, /\[your credential\]/);
    assert.match(result.curl, /-H "Authorization: \$API_KEY"/);
    assert.equal((await readLastAudit(app()))[0], 'tryOperation');
    const posted = { ...fields, operation: 'changeorder', body: '{"paid":true}', credential: id };
    const plain = await client.post(tryPath, posted);
    assert.match(plain.text, /<strong>200 OK<\/strong>/);
    assert.equal(upstream.requests.at(-1)!.body, '{"paid":true}');
  });

  test('refusals explain themselves: no credential, another product, the rate limit, the used quota', async () => {
    const { product, fields } = await offer();
    const other = await offer();
    const user = await aUser();
    const plan = { RateLimit: 1, Per: 60 };
    const { id } = await aCredential(user, product.ID, plan);
    const client = await signedInClient(app(), user);
    assert.match((await send(client, fields)).result.explanation, /needs a credential/);
    const foreign = await send(client, { ...other.fields, credential: id });
    assert.equal(foreign.result.status, 403);
    assert.match(foreign.result.explanation, /for another product/);
    const first = await send(client, { ...fields, credential: id });
    assert.equal(first.result.status, 200, first.text);
    const limited = await send(client, { ...fields, credential: id });
    assert.equal(limited.result.status, 429);
    assert.match(limited.result.explanation, /rate limit is reached: 1 call a minute/);
    const daily = await aCredential(user, product.ID, { Quota: 1, QuotaRenewalRate: 86_400 });
    assert.equal((await send(client, { ...fields, credential: daily.id })).result.status, 200);
    const used = await send(client, { ...fields, credential: daily.id });
    assert.equal(used.result.status, 403);
    assert.match(used.result.explanation, /^The quota of 1 call is used up\. It renews \w+ \d+, \d{4}, .* UTC\.$/);
  });

  test('a credential of another developer, of another provider, or a revoked one, is refused', async () => {
    const { product, fields } = await offer();
    const owner = await aUser();
    const { id, requestId } = await aCredential(owner, product.ID);
    const calls = upstream.requests.length;
    const stranger = await signedInClient(app(), await aUser());
    await stranger.get('/');
    for (const credential of [id, '0', '999999', '-1', 'x']) {
      const { status, error } = await send(stranger, { ...fields, credential });
      assert.equal(status, 422, credential);
      assert.match(error, /cannot be used here/);
    }
    const admin = await signedInClient(
      app(),
      await addDeveloper(app(), { Password: sitePassword, Role: 'provider-admin' }),
    );
    assert.equal((await send(admin, { ...fields, credential: id })).status, 422, 'an administrator has no other keys');
    const provider = await requestPortal(app(), 'POST', '/portal-api/providers', {
      Name: `elsewhere-${createPublicId()}`,
      Type: 'gw-pro',
      Configuration: { MetaData: JSON.stringify({ Gateway: upstream.url }) },
    });
    const foreign = await offer({ product: { ProviderID: provider.ID } });
    const client = await signedInClient(app(), owner);
    assert.equal((await send(client, { ...foreign.fields, credential: id })).status, 422, 'key of another provider');
    const removed = await app().ask('DELETE', `/portal-api/access_requests/${requestId}`);
    assert.ok(removed.status < 300, removed.text);
    assert.equal((await send(client, { ...fields, credential: id })).status, 422, 'revoked');
    assert.equal(upstream.requests.length, calls);
  });

  test('products that the visitor cannot see, other documents and unknown operations are not found', async () => {
    const hidden = await offer({ catalogue: 2, product: { Catalogues: [] } });
    const visible = await offer();
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const calls = upstream.requests.length;
    assert.equal((await send(client, hidden.fields)).status, 404);
    assert.equal((await send(client, { ...visible.fields, api: hidden.APIID })).status, 404);
    assert.equal((await send(client, { ...visible.fields, operation: 'nothing' })).status, 404);
    assert.equal((await send(client, { ...visible.fields, product: hidden.product.Path })).status, 404);
    assert.equal(upstream.requests.length, calls);
  });

  test('other hosts, paths out of the API, and headers of proxies and of the installation are refused', async () => {
    const { product, fields } = await offer();
    const user = await aUser();
    const { id } = await aCredential(user, product.ID);
    const client = await signedInClient(app(), user);
    const calls = upstream.requests.length;
    const faults: Record<string, string>[] = [
      { 'path:id': '..' },
      { 'path:id': '../../admin' },
      ...[
        'Host: evil.example',
        'X-Forwarded-For: 10.0.0.1',
        'X-Forwarded-Host: evil.example',
        'Forwarded: for=10.0.0.1',
        'X-Real-IP: 10.0.0.1',
        'Cookie: portal-session=x',
        'Connection: keep-alive',
        'Transfer-Encoding: chunked',
        'Content-Length: 3',
        'Upgrade: websocket',
        'TE: trailers',
        'Proxy-Authorization: x',
        'X-GW-Authorization: secret',
        'X-GW-Explain: 1',
        'Admin-Auth: x',
        'Authorization: other',
        'X Bad: 1',
        'X-Bad: a\u0007b',
      ].map(headers => ({ headers })),
    ];
    for (const fault of faults) {
      const { status, text } = await send(client, { ...fields, credential: id, ...fault });
      assert.equal(status, 422, `${JSON.stringify(fault)}: ${text}`);
    }
    assert.equal(upstream.requests.length, calls);
    const sent = await send(client, { ...fields, credential: id, url: 'http://evil.example/', headers: 'X-Own: 1' });
    assert.equal(sent.result.status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-own'], '1');
  });

  test('redirects are not followed, and large responses are refused', async () => {
    const { product, fields } = await offer();
    const user = await aUser();
    const { id } = await aCredential(user, product.ID);
    const client = await signedInClient(app(), user);
    upstream.answer = (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    const redirected = await send(client, { ...fields, credential: id });
    assert.equal(redirected.result.status, 302);
    assert.match(redirected.result.explanation, /not followed/);
    upstream.answer = (_request, response) => void response.end('x'.repeat(1024 * 1024 + 1));
    const large = await send(client, { ...fields, credential: id });
    assert.equal(large.status, 502);
    assert.match(large.error, /larger than 1 MiB/);
    upstream.answer = (_request, response) => void response.end(Buffer.from([0xff, 0xd8, 0x00]));
    assert.match((await send(client, { ...fields, credential: id })).result.body, /^3 bytes of/);
    upstream.answer = undefined;
  });

  test('a form without the token of the visitor, and a signed-out visitor, call nothing', async () => {
    const { fields, url } = await offer();
    const client = await signedInClient(app(), await aUser());
    const calls = upstream.requests.length;
    assert.equal((await client.post(tryPath, { ...fields, csrf_token: 'wrong' })).status, 403);
    const anonymous = createSiteClient(app());
    assert.match((await anonymous.get(`${url}/getorder`)).text, /Sign in<\/a> to call this operation/);
    await anonymous.get('/auth/password/login');
    assert.equal((await anonymous.post(tryPath, fields)).status, 404);
    assert.equal(upstream.requests.length, calls);
  });

  test('a GraphQL API is queried from its page, with an uploaded schema or without one', async () => {
    const name = `graph-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const schema = 'type Query { hello(name: String): String }';
    const graphql = { enabled: true, execution_mode: 'proxyOnly', version: '2', schema };
    const APIID = await addApi(app(), name, { proxy, graphql });
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1] });
    const user = await aUser();
    const { id, key } = await aCredential(user, product.ID);
    const client = await signedInClient(app(), user);
    const url = `/portal/catalogue-products/${product.Path}/${APIID}/docs`;
    assert.match((await client.get(url)).text, /No schema is uploaded[\s\S]*/);
    assert.equal((await client.get(`${url}/download`)).status, 404);
    const path = `/portal-api/products/${product.ID}/api-details/${APIID}/graphql/schema`;
    assert.ok((await app().ask('POST', path, { body: toFileForm(schema) })).status < 300);
    assert.match((await client.get(url)).text, /Query<\/label>[\s\S]*type Query/);
    upstream.answer = (_request, response) =>
      void response.setHeader('content-type', 'application/json').end('{"data":{"hello":"you"}}');
    const query = 'query ($n: String) { hello(name: $n) }';
    const fields = { product: product.Path, api: APIID, operation: 'graphql', query, variables: '{"n":"me"}' };
    const { result, text } = await send(client, { ...fields, credential: id });
    assert.equal(result?.status, 200, text);
    assert.match(result.body, /"hello":"you"/);
    assert.deepEqual(JSON.parse(upstream.requests.at(-1)!.body).variables, { n: 'me' });
    assert.ok(!text.includes(key));
    for (const variables of ['{', '[]', '1'])
      assert.equal((await send(client, { ...fields, variables, credential: id })).status, 422, variables);
    const plain = await client.post(tryPath, { ...fields, credential: id });
    assert.match(plain.text, /<strong>200 OK<\/strong>/);
    upstream.answer = undefined;
  });

  test('one visitor makes at most 60 calls a minute', async () => {
    const { fields } = await offer();
    const client = await signedInClient(app(), await aUser());
    const statuses: number[] = [];
    for (let call = 0; call < 62; call++) statuses.push((await send(client, fields)).status);
    assert.deepEqual(statuses.slice(59), [200, 429, 429]);
    const other = await signedInClient(app(), await aUser());
    assert.equal((await send(other, fields)).status, 200);
  });
});
