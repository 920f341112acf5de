import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { onEveryEngine, rememberSecrets, startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const values = {
  shared_key: 'planted-shared-key-4711',
  own_key: 'planted-own-key-0815',
  hidden_host: 'http://planted-secret-host.invalid:8080/planted-secret-path',
  not_an_address: 'planted-secret-that-is-no-address',
};
rememberSecrets({ host: 'planted-secret-host', path: 'planted-secret-path', ...values });
const settings = { 'secrets.values': JSON.stringify(values), 'log.level': 'debug' } as const;

const headers = (global_headers: Record<string, string>) => ({
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', global_headers } } },
});

onEveryEngine(
  'Secret grants of tenants',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream.close());

    async function publishFor(accessKey: string, definition: ReturnType<typeof openApi>): Promise<string> {
      const { status, text } = await app().ask('POST', '/api/apis', {
        body: { api_definition: definition },
        credential: accessKey,
      });
      assert.equal(status, 200, text);
      await waitUntilApplied(app());
      return app().url.gateway + definition.proxy.listen_path;
    }
    const reasonOf = async (apiId: string) =>
      (await app().ask('GET', `/gw/apis/${apiId}/status`)).body.reason as string;

    test('a tenant can use only the secrets granted to it; others are reported as unknown', async () => {
      const tenant = await app().stranger();
      const networks = ['loopback'];
      const grant = async (secrets: string[]) => {
        const path = `/admin/organisations/${tenant.orgId}/grants`;
        const { status, text } = await app().ask('PUT', path, { body: { secrets, networks } });
        assert.equal(status, 200, text);
        await waitUntilApplied(app());
      };
      await grant([]);
      for (const [form, name] of [
        ['$secret_conf.', 'shared_key'],
        ['secrets://', 'shared_key'],
      ] as const) {
        await grant([]);
        const api = openApi(upstream, headers({ 'x-key': form + name }));
        const url = await publishFor(tenant.accessKey, api);
        const absent = openApi(upstream, headers({ 'x-key': `${form}nobody_keeps_this` }));
        await publishFor(tenant.accessKey, absent);
        assert.equal((await fetch(url)).status, 503);
        const [refused, missing] = [await reasonOf(api.api_id), await reasonOf(absent.api_id)];
        assert.equal(refused.replace(name, '…'), missing.replace('nobody_keeps_this', '…'));
        await grant(['shared_*']);
        assert.equal((await fetch(url)).status, 200);
        assert.equal(upstream.requests.at(-1)!.headers['x-key'], values.shared_key);
        assert.equal(await reasonOf(absent.api_id), missing);
      }
    });

    test('the operator’s organisation can use every secret, also with tenants', async () => {
      await app().stranger();
      const url = await publish(app(), openApi(upstream, headers({ 'x-key': 'Bearer $secret_conf.own_key' })));
      assert.equal((await fetch(url)).status, 200);
      assert.equal(upstream.requests.at(-1)!.headers['x-key'], `Bearer ${values.own_key}`);
    });
  },
  { settings },
);

describe('Secret references in definitions', () => {
  let app: TestApp;
  let upstream: Upstream;
  const log: string[] = [];
  before(async () => {
    const onTrafficLog = (text: string) => log.push(text);
    [app, upstream] = await Promise.all([startApp('sqlite', { settings, onTrafficLog }), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });
  const statusOf = async (apiId: string) => (await app.ask('GET', `/gw/apis/${apiId}/status`)).body;

  test('a schema whose $id is a file: URL is served', async () => {
    const schema = { $id: 'file:///folder/x.json', type: 'object', required: ['a'] };
    const extended_paths = { validate_json: [{ path: '/a', method: 'POST', schema, error_response_code: 422 }] };
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths } };
    const url = await publish(app, openApi(upstream, { version_data: { not_versioned: true, versions } }));
    const post = (body: string) =>
      fetch(`${url}/a`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    assert.deepEqual([(await post('{"a":1}')).status, (await post('{}')).status], [200, 422]);
  });

  test('an upstream URL from a secret is in no log, status or explanation', async () => {
    const api = openApi({ url: 'secrets://hidden_host' });
    const url = await publish(app, api);
    const reply = await fetch(`${url}/x`, { headers: { 'x-gw-explain': app.credentials.gateway_secret } });
    assert.ok(reply.status >= 500, String(reply.status));
    const summary = reply.headers.get('x-gw-explanation') ?? '';
    const explained = await app.ask('GET', `/gw/explain/${JSON.parse(summary).id}`);
    assert.equal(explained.status, 200);
    await eventually(() => assert.match(log.join(''), /upstream failed/));
    const unreadable = openApi({ url: 'secrets://not_an_address' }, { protocol: 'http' });
    await publish(app, unreadable);
    await fetch(app.url.gateway + unreadable.proxy.listen_path);
    const shown = [log.join(''), summary, explained.text, JSON.stringify(await statusOf(unreadable.api_id))];
    for (const text of shown) assert.doesNotMatch(text, /planted-secret/);
  });

  test('an API with a misspelt variable is not served, and its text is not forwarded', async () => {
    for (const [value, reason] of [
      ['$gw_contxt.path', /did you mean \$gw_context/],
      ['$gw_metta.a', /did you mean \$gw_meta/],
      ['$gw_context.requestid', /did you mean request_id/],
      ['$acme_context.path', /is not a variable/],
    ] as const) {
      const api = openApi(upstream, { enable_context_vars: true, ...headers({ 'x-v': value }) });
      const url = await publish(app, api);
      assert.equal((await fetch(url)).status, 503, value);
      assert.match((await statusOf(api.api_id)).reason, reason);
    }
    const priced = await publish(app, openApi(upstream, headers({ 'x-v': 'costs $5.00 or $US.x' })));
    assert.equal((await fetch(priced)).status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-v'], 'costs $5.00 or $US.x');
  });
});
