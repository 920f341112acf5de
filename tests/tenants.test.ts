import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { type Answer, onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { type Definition, openApi } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Requests of a tenant, and the expected responses. */
interface Tenant {
  readonly orgId: string;
  readonly accessKey: string;
}

const write = (app: TestApp, { accessKey }: Tenant, definition: Definition): Promise<Answer> =>
  app.ask('POST', '/api/apis', { credential: accessKey, body: { api_definition: definition } });

const grant = async (app: TestApp, { orgId }: Tenant, body: object) =>
  assert.equal((await app.ask('PUT', `/admin/organisations/${orgId}/grants`, { body })).status, 200);

onEveryEngine('Tenants', app => {
  let upstream: Upstream;
  let a: Tenant;
  let b: Tenant;
  before(async () => {
    upstream = await startUpstream();
    a = await app().stranger();
    b = await app().stranger();
    for (const listen_path of ['/pay/', '/shop/{item}/buy'])
      assert.equal((await write(app(), a, openApi(upstream, { proxy: { listen_path } }))).status, 200);
  });
  after(() => upstream?.close());

  const at = (listen_path: string, more: Record<string, unknown> = {}) =>
    openApi(upstream, { ...more, proxy: { listen_path } });
  const checkRefusal = async (tenant: Tenant, status: number, definition: Definition) => {
    const answer = await write(app(), tenant, definition);
    assert.equal(answer.status, status, `${JSON.stringify(definition.proxy)}: ${answer.text}`);
    for (const secret of [a.orgId, '/shop/{', 'Test']) assert.ok(!answer.text.includes(secret), answer.text);
    return answer;
  };

  test('a route that overlaps one of another organisation is refused', async () => {
    for (const path of [
      '/pay/charge',
      '/pay',
      '/',
      '/{x}/',
      '/pay/{x}/',
      '/{x:p.*}',
      '/shop/x',
      '/shop/1/buy/now',
      '/shop',
    ])
      await checkRefusal(b, 409, at(path));
    for (const path of ['/payments/', '/shop-b/', '/x/pay/', '/{x:q.*}/'])
      assert.equal((await write(app(), b, at(path))).status, 200, path);
  });

  test('a host that is not granted is refused in any pattern', async () => {
    for (const domain of ['pay.example', '{h:.*}', '{h}.example', 'PAY.EXAMPLE.'])
      await checkRefusal(b, 403, at('/elsewhere/', { domain, domain_disabled: false }));
  });

  test('routes can be nested within one organisation', async () => {
    assert.equal((await write(app(), a, at('/pay/charge'))).status, 200);
    assert.equal((await write(app(), a, at('/pay/{x}/refund'))).status, 200);
  });

  test('moving, patching, activating and importing are checked like creating', async () => {
    const own = at('/mine/', { api_id: `mine-${b.orgId}` });
    assert.equal((await write(app(), b, own)).status, 200);
    const moved = { ...own, proxy: { ...own.proxy, listen_path: '/pay/charge/' } };
    const ask = (method: string, path: string, body: unknown, more = {}) => app().ask(method, path, { body, ...more });
    const tenant = { credential: b.accessKey };
    assert.equal((await ask('PUT', `/api/apis/${own.api_id}`, { api_definition: moved }, tenant)).status, 409);
    assert.equal((await ask('PUT', `/gw/apis/${own.api_id}`, moved)).status, 409);
    assert.equal((await ask('POST', '/gw/apis', { ...at('/pay/x/'), org_id: b.orgId })).status, 409);
    const imported = { apis: [{ api_definition: { ...at('/pay/x/'), org_id: b.orgId } }] };
    const [error] = Object.values((await ask('POST', '/admin/apis/import', imported)).body.Errors);
    assert.match(String(error), /overlaps the route of another API/);
    assert.equal((await ask('GET', `/gw/apis/${own.api_id}`, undefined)).body.proxy.listen_path, '/mine/');
    const internal = at('/pay/inside/', { internal: true });
    assert.equal((await write(app(), b, internal)).status, 200);
    const opened = { api_definition: { ...internal, internal: false } };
    assert.equal((await ask('PUT', `/api/apis/${internal.api_id}`, opened, tenant)).status, 409);
  });

  test('of concurrent overlapping routes of several organisations one is created', async () => {
    const tenants = [a, b, await app().stranger(), await app().stranger()];
    const paths = ['/race/', '/race/one', '/race/{x}', '/{x:race}/'];
    const answers = await Promise.all(tenants.map((tenant, index) => write(app(), tenant, at(paths[index]!))));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, answers.map(it => it.text).join());
    assert.deepEqual(
      answers.map(({ status }) => status).filter(status => status !== 200),
      [409, 409, 409],
    );
  });

  test('an organisation cannot exceed its granted number of objects, also concurrently', async () => {
    const d = await app().stranger();
    await grant(app(), d, { max_apis: 1, max_keys: 1, max_policies: 1, max_hooks: 0 });
    const made = at('/bounded/', { api_id: `bounded-${d.orgId}` });
    assert.equal((await write(app(), d, made)).status, 200);
    const more = await write(app(), d, at('/bounded-two/'));
    assert.deepEqual([more.status, more.body.Message], [403, 'limit reached: max_apis 1']);
    const changed = { api_definition: { ...made, name: 'Changed' } };
    const ask = (method: string, path: string, body: unknown) =>
      app().ask(method, path, { credential: d.accessKey, body });
    assert.equal((await ask('PUT', `/api/apis/${made.api_id}`, changed)).status, 200);
    const hook = await ask('POST', '/api/hooks', { method: 'POST', target_path: 'http://127.0.0.1:9/' });
    assert.deepEqual([hook.status, hook.body.Message], [403, 'limit reached: max_hooks 0']);
    const rights = { [made.api_id]: { api_id: made.api_id, api_name: 'Test', versions: ['Default'] } };
    const keys = await Promise.all([1, 2, 3].map(() => ask('POST', '/api/keys', { access_rights: rights })));
    assert.deepEqual(keys.map(({ status }) => status).sort(), [200, 403, 403], keys.map(it => it.text).join());
    const policies = await Promise.all([1, 2].map(name => ask('POST', '/api/portal/policies', { name: `p${name}` })));
    assert.deepEqual(policies.map(({ status }) => status).sort(), [200, 403], policies.map(it => it.text).join());
  });

  test('an id is unique over both kinds of API id and all organisations', async () => {
    const { body } = await app().ask('GET', '/api/apis?p=-1', { credential: a.accessKey });
    const victim = body.apis[0].api_definition;
    const stolen = await write(app(), b, at('/stolen/', { api_id: victim.id }));
    assert.equal(stolen.status, 409, stolen.text);
    assert.equal((await app().ask('GET', `/gw/apis/${victim.id}`)).body.org_id, a.orgId);
    const chosen = 'c'.repeat(24);
    assert.equal((await write(app(), b, at('/chosen/', { api_id: chosen }))).status, 200);
    const imported = { apis: [{ api_definition: { ...at('/imported/'), id: chosen, org_id: a.orgId } }] };
    const { Errors } = (await app().ask('POST', '/admin/apis/import', { body: imported })).body;
    assert.match(String(Object.values(Errors)[0]), /same ID/);
  });

  test('an organisation can use only its granted paths and hosts', async () => {
    const c = await app().stranger();
    await grant(app(), c, { domains: ['c.example', '*.apps.c.example'], paths: ['/c/'] });
    await checkRefusal(c, 403, at('/other/'));
    await checkRefusal(c, 403, at('/cc/'));
    await checkRefusal(c, 403, at('/{x:c}/'));
    await checkRefusal(c, 403, at('/c/', { domain: 'www.c.example' }));
    await checkRefusal(c, 403, at('/c/', { domain: '{x:.*}c.example' }));
    for (const definition of [
      at('/c/'),
      at('/c/', { domain: 'c.example' }),
      at('/c/deep', { domain: '{app}.apps.c.example' }),
    ])
      assert.equal((await write(app(), c, definition)).status, 200, JSON.stringify(definition.proxy));
  });
});

test('the gateway’s own port as an API port does not bypass another organisation’s route, and ports are not shared', async () => {
  const upstream = await startUpstream();
  const [gatewayPort, extraPort] = [await freePort(), await freePort()];
  const settings = { 'gateway.port': String(gatewayPort), 'gateway.extra_ports': String(extraPort) };
  const app = await startApp('sqlite', { settings });
  try {
    const [a, b] = [await app.stranger(), await app.stranger()];
    const tryListenPath = async (tenant: Tenant, listen_path: string, listen_port?: number) =>
      (await write(app, tenant, openApi(upstream, { listen_port, proxy: { listen_path } }))).status;
    assert.equal(await tryListenPath(a, '/pay/'), 200);
    assert.equal(await tryListenPath(b, '/pay/x/', gatewayPort), 409);
    assert.equal(await tryListenPath(b, '/own/', gatewayPort), 200);
    assert.equal(await tryListenPath(a, '/own/x/'), 409);
    assert.equal(await tryListenPath(a, '/extra/', extraPort), 200);
    assert.equal(await tryListenPath(b, '/other/', extraPort), 409);
    assert.equal(await tryListenPath(b, '/extra/'), 200);
    const service = openApi(upstream, { protocol: 'tcp', listen_port: 9, proxy: { listen_path: '/tcp/' } });
    assert.equal((await write(app, a, service)).status, 200, 'a TCP service on a port that is not allowed is stored');
    assert.equal(await tryListenPath(b, '/beside-a-service/'), 200, 'and claims no route of the gateway');
  } finally {
    await app.close();
    await upstream.close();
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
