import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';

const asker = (app: () => TestApp) => (method: string, path: string, body?: unknown) =>
  app().ask(method, path, body === undefined ? {} : { body });

/** A key as the other product exports it: null for what was never set, and members without effect. */
const createExportedKey = () => ({
  alias: `exported ${createPublicId()}`,
  rate: 5,
  per: 60,
  certificate: null,
  hmac_enabled: null,
  smoothing: null,
  tags: null,
  oauth_keys: null,
  monitor: { trigger_limits: null },
  quota_reset: 1,
  quota_used: 3,
  access_rights_array: [{ api_id: 'a1' }],
  access_rights: {
    a1: {
      api_id: 'a1',
      limit: { rate: 1, per: 1, set_by_policy: true, smoothing: null },
      quota_max: 1,
      quota_renews: 2,
      quota_remaining: 3,
      quota_reset: 4,
      quota_used: 5,
      per: 6,
      expires: 7,
      allowed_urls: null,
    },
  },
});
const legacyPaths = [
  'access_rights.a1.expires',
  'access_rights.a1.limit.set_by_policy',
  'access_rights.a1.per',
  'access_rights.a1.quota_max',
  'access_rights.a1.quota_remaining',
  'access_rights.a1.quota_renews',
  'access_rights.a1.quota_reset',
  'access_rights.a1.quota_used',
  'access_rights_array',
  'quota_reset',
  'quota_used',
];

onEveryEngine('Unknown members of management requests', app => {
  const ask = asker(app);

  test('a read with an unknown or misspelt query parameter is refused, on every surface', async () => {
    for (const [path, status, message] of [
      ['/api/apis?categry=eu', 400, 'categry: no such parameter; did you mean category?'],
      ['/api/apis?owner=ann', 400, 'owner: no such parameter; did you mean owned?'],
      ['/api/portal/policies/search?stat=active', 400, 'stat: no such parameter; did you mean state?'],
      ['/api/logs?start=0&end=1&statsu=500', 400, 'statsu: no such parameter; did you mean status?'],
      ['/admin/audit-logs?usr=ann', 400, 'usr: no such parameter; did you mean user?'],
      ['/gw/keys?fliter=org', 400, 'fliter: no such parameter; did you mean filter?'],
      ['/portal-api/plans?perpage=1', 422, 'perpage: no such parameter; did you mean per_page?'],
    ] as const) {
      const { status: actual, text, body } = await ask('GET', path);
      assert.equal(actual, status, `${path}: ${text}`);
      assert.equal(body.Message ?? body.message ?? body.errors[0], message);
    }
    for (const path of ['/api/apis?p=-1&_=1769936400', '/api/assets?p=-1', '/api/users/me?trace=1'])
      assert.equal((await ask('GET', path)).status, 200, path);
  });

  test('a misspelt limit is refused with the nearest name, and nothing is stored', async () => {
    const name = `Misspelt ${createPublicId()}`;
    const right = { a1: { api_id: 'a1', limit: { rte: 1 } } };
    for (const [path, body, status, message] of [
      ['/api/keys', { alias: name, rates: 5 }, 400, 'rates: no such member; did you mean rate?'],
      ['/gw/keys', { access_rights: right }, 400, 'access_rights.a1.limit.rte: no such member; did you mean rate?'],
      ['/admin/org/keys', { quotamax: 1 }, 400, 'quotamax: no such member; did you mean quota_max?'],
      ['/api/portal/policies', { name, Rate: 5 }, 400, 'Rate: no such member; did you mean rate?'],
      ['/gw/policies', { id: createPublicId(), name, quota: 1 }, 400, 'quota: no such member'],
      [
        '/portal-api/plans',
        { Name: name, ProviderID: 1, Rate: 5 },
        422,
        'Rate: no such member; did you mean RateLimit?',
      ],
      ['/portal-api/apps', { Name: name, UserID: 1, RateLimit: 5 }, 422, 'RateLimit: no such member'],
    ] as const) {
      const answer = await ask('POST', path, body);
      assert.equal(answer.status, status, answer.text);
      assert.ok(answer.text.includes(message), answer.text);
    }
    assert.ok(!(await ask('GET', '/api/keys/detailed?p=-1')).text.includes(name));
    assert.ok(!(await ask('GET', '/gw/policies')).text.includes(name));
    assert.ok(!(await ask('GET', '/portal-api/plans?per_page=1000')).text.includes(name));
  });

  test('a number as text is refused with the expected type', async () => {
    for (const [path, body, message] of [
      ['/api/keys', { rate: '5' }, 'rate: expected number, received string'],
      ['/gw/keys', { per: '10s' }, 'per: expected number, received string'],
      ['/api/portal/policies', { name: 'x', quota_max: '1' }, 'quota_max: expected number, received string'],
      ['/portal-api/plans', { Name: 'x', ProviderID: 1, RateLimit: '5/s' }, 'RateLimit: must be a whole number'],
    ] as const) {
      const answer = await ask('POST', path, body);
      assert.ok(answer.text.includes(message), answer.text);
    }
  });

  test('legacy members of exported keys are kept, returned and listed as warnings; null is absent', async () => {
    const made = await ask('POST', '/api/keys', createExportedKey());
    assert.equal(made.status, 200, made.text);
    const legacy = (warnings: string[]) =>
      warnings.filter(text => text.endsWith(': legacy member, kept without effect'));
    assert.deepEqual(
      legacy(made.body.warnings)
        .map(text => text.split(': ')[0])
        .sort(),
      legacyPaths,
    );
    const path = `/api/keys/${made.body.key_id}`;
    const { data } = (await ask('GET', path)).body;
    assert.deepEqual([data.quota_used, data.access_rights.a1.expires, data.certificate], [3, 7, '']);
    assert.equal(data.access_rights.a1.limit.set_by_policy, true);
    assert.equal((await ask('PUT', path, { ...data, rate: 6 })).status, 200);
    const changed = (await ask('GET', path)).body.data;
    assert.deepEqual([changed.rate, changed.quota_used, changed.access_rights.a1.expires], [6, 3, 7]);
  });

  test('legacy members of policies are kept, returned and listed as warnings', async () => {
    const limit = { rate: 1, per: 1, set_by_policy: true };
    const policy = { name: `Legacy ${createPublicId()}`, access_rights: { a1: { api_id: 'a1', limit } } };
    const made = await ask('POST', '/api/portal/policies', policy);
    assert.deepEqual(made.body.warnings, ['access_rights.a1.limit.set_by_policy: legacy member, kept without effect']);
    const { body: read } = await ask('GET', `/api/portal/policies/${made.body.Message}`);
    assert.equal(read.access_rights.a1.limit.set_by_policy, true);
    const again = await ask('PUT', `/api/portal/policies/${made.body.Message}`, read);
    assert.equal(again.status, 200, again.text);
    const misplaced = { name: 'x', access_rights: { a1: { quota_max: 1 } } };
    assert.equal((await ask('POST', '/api/portal/policies', misplaced)).status, 400);
  });

  test('an envelope with members that reads do not return is refused, and the key is unchanged', async () => {
    const { body } = await ask('POST', '/api/keys', { rate: 5, per: 60, access_rights: { a1: {} } });
    const path = `/api/keys/${body.key_id}`;
    const { body: read } = await ask('GET', path);
    const answer = await ask('PUT', path, { ...read, rate: 100 });
    assert.equal(answer.status, 400);
    assert.match(answer.body.Message, /data: no such member/);
    assert.equal((await ask('GET', path)).body.data.rate, 5);
    assert.equal((await ask('PUT', path, { ...read, data: { ...read.data, rate: 7 } })).status, 200);
    assert.equal((await ask('GET', path)).body.data.rate, 7);
  });

  test('the configuration of a provider is checked inside its JSON string', async () => {
    for (const MetaData of [JSON.stringify({ Urll: 'http://127.0.0.1:1' }), { Urll: 'http://127.0.0.1:1' }]) {
      const provider = { Name: 'Other', Type: 'gw-pro', Configuration: { MetaData } };
      const { status, body } = await ask('POST', '/portal-api/providers', provider);
      assert.equal(status, 422);
      assert.deepEqual(body.errors, ['Configuration.MetaData.Urll: no such member; did you mean URL?']);
    }
  });

  test('unknown query parameters are ignored by operations without parameters', async () => {
    assert.equal((await ask('GET', '/api/keys/detailed?nonsense=1')).status, 400);
    assert.equal((await ask('GET', '/api/users/me?nonsense=1')).status, 200);
  });
});

onEveryEngine(
  'unknown members as warnings',
  app => {
    const ask = asker(app);
    const key = { rate: 5, access_rights: { a1: {} } };

    test('they are ignored and listed in the response, at any depth', async () => {
      const { status, body } = await ask('POST', '/api/keys', { ...key, rates: 9, monitor: { limits: [1] } });
      assert.equal(status, 200);
      assert.deepEqual(body.warnings, [
        'rates: no such member; did you mean rate? (ignored)',
        'monitor.limits: no such member; did you mean trigger_limits? (ignored)',
      ]);
      const { data } = (await ask('GET', `/api/keys/${body.key_id}`)).body;
      assert.deepEqual([data.rate, data.rates, data.monitor], [5, undefined, { trigger_limits: [] }]);
    });

    test('unknown query parameters of a read are ignored and listed in a header', async () => {
      const { status, body, headers } = await ask('GET', '/api/apis?categry=eu&p=1');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ['apis', 'pages']);
      const warning = 'categry: no such parameter; did you mean category? (ignored)';
      assert.equal(headers.get('x-gw-warnings'), warning);
    });

    test('wrong values are still refused', async () => {
      assert.equal((await ask('POST', '/api/keys', { ...key, rates: 9, rate: 'x' })).status, 400);
      const plan = await ask('POST', '/portal-api/plans', { Name: createPublicId(), ProviderID: 1, Rate: 5 });
      assert.deepEqual(plan.body.warnings, ['Rate: no such member; did you mean RateLimit? (ignored)']);
    });
  },
  { settings: { 'management.unknown_members': 'warn' } },
);
