import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';
import { openApi } from '../../../tests/support/traffic.ts';

interface Reported {
  readonly code?: string;
  readonly rule?: string;
  readonly level?: string;
  readonly pointer: string;
  readonly path: string;
  readonly message: string;
}

const upstream = { url: 'https://orders.example/' };
const extension = 'x-gw-api-gateway';

const document = (more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: {},
  [extension]: {
    info: { name: 'Orders', state: { active: true } },
    server: { listenPath: { value: `/${createPublicId()}/`, strip: true }, authentication: { enabled: true } },
    upstream: { url: upstream.url },
    middleware: { global: { trafficLogs: { enabled: true } } },
    ...more,
  },
});

onEveryEngine('checking a definition', app => {
  const check = async (body: object, more: Asked & { query?: string } = {}) => {
    const { query = '', ...asked } = more;
    const { status, text, body: report } = await app().ask('POST', `/api/apis/check${query}`, { body, ...asked });
    assert.equal(status, 200, text);
    return report as { valid: boolean; faults: Reported[]; warnings: Reported[] };
  };
  const save = async (definition: object, more: Asked & { owners?: string[] } = {}) => {
    const { owners, ...asked } = more;
    const body = { api_definition: definition, ...(owners && { user_owners: owners }) };
    const answer = await app().ask('POST', '/api/apis', { body, ...asked });
    assert.equal(answer.status, 200, answer.text);
  };

  test('a sound definition has no faults and no warnings, and nothing is stored', async () => {
    const known = (await app().ask('GET', '/api/apis?p=-1')).text;
    const classic = openApi(upstream, { use_keyless: false, use_standard_auth: true });
    for (const body of [{ api_definition: classic }, { oas: document() }])
      assert.deepEqual(await check(body), { valid: true, faults: [], warnings: [] });
    assert.equal((await app().ask('GET', '/api/apis?p=-1')).text, known);
    assert.equal((await app().ask('GET', `/api/apis/${classic.api_id}`)).status, 404);
  });

  test('every validation error is a fault with its JSON pointer', async () => {
    const wrong = { ...openApi(upstream), name: 7, proxy: { listen_path: 1, target_list: 'x', listen_pth: '/a' } };
    const { valid, faults } = await check({ api_definition: wrong });
    assert.equal(valid, false);
    const at = (pointer: string) => faults.find(fault => fault.pointer === pointer);
    assert.equal(at('/name')?.message, 'must be a string');
    assert.ok(at('/proxy/listen_path') && at('/proxy/target_list'));
    assert.match(at('/proxy/listen_pth')!.message, /did you mean listen_path/);
    assert.ok(faults.every(({ code }) => code === 'operation.invalid'));
    const oas = document({ server: { listenPath: { value: 3 } } });
    const [fault] = (await check({ oas })).faults;
    assert.deepEqual(
      [fault?.pointer, fault?.path],
      [`/${extension}/server/listenPath/value`, `${extension}.server.listenPath.value`],
    );
  });

  test('all that a write would refuse is reported at once, at the member to change', async () => {
    const saved = openApi(upstream);
    await save(saved);
    const again = { ...saved, proxy: { ...saved.proxy, target_url: 'http://169.254.169.254/' } };
    const { faults } = await check({ api_definition: again });
    assert.deepEqual(
      faults.map(({ code, pointer }) => [code, pointer]),
      [
        ['operation.invalid', '/proxy/target_url'],
        ['apis.id_exists', '/api_id'],
        ['apis.path_exists', '/proxy/listen_path'],
      ],
    );
    const oas = document({ server: { listenPath: { value: saved.proxy.listen_path } } });
    assert.deepEqual(
      (await check({ oas })).faults.map(({ code, pointer }) => [code, pointer]),
      [['apis.path_exists', `/${extension}/server/listenPath/value`]],
    );
    const incomplete = { name: 'Nothing', use_keyless: true };
    assert.deepEqual(
      (await check({ api_definition: incomplete })).faults.map(({ pointer, message }) => [pointer, message]),
      [
        ['/proxy/listen_path', 'is required'],
        ['/proxy/target_url', 'is required'],
      ],
    );
  });

  test('a definition with api_id is checked as a change of that API', async () => {
    const saved = openApi(upstream);
    const other = openApi(upstream);
    await save(saved);
    await save(other);
    const query = `?api_id=${saved.api_id}`;
    assert.equal((await check({ api_definition: saved }, { query })).valid, true);
    const moved = { ...saved, proxy: other.proxy };
    const codes = async (body: object) => (await check(body, { query })).faults.map(({ code }) => code);
    assert.deepEqual(await codes({ api_definition: moved }), ['apis.path_exists']);
    assert.deepEqual(await codes({ api_definition: { ...saved, api_id: other.api_id } }), ['apis.other_id']);
    assert.deepEqual(await codes({ oas: document() }), ['gw-apis.is_classic']);
    const unknown = await app().ask('POST', '/api/apis/check?api_id=unknown', { body: { api_definition: saved } });
    assert.equal(unknown.status, 404);
    const { accessKey: credential } = await app().stranger();
    const body = { api_definition: saved };
    assert.equal((await app().ask('POST', `/api/apis/check${query}`, { body, credential })).status, 404);
  });

  test('a new version needs no listen path, and its parameters are checked', async () => {
    const base = openApi(upstream);
    await save(base);
    const { proxy: _proxy, ...rest } = openApi(upstream);
    const version = { ...rest, proxy: { target_url: upstream.url } };
    const query = `?base_api_id=${base.api_id}&base_api_version_name=v1&new_version_name=`;
    assert.equal((await check({ api_definition: version }, { query: `${query}v2` })).valid, true);
    const [fault] = (await check({ api_definition: version }, { query: `${query}v1` })).faults;
    assert.equal(fault?.code, 'apis.version_exists');
    const missing = await check({ api_definition: version }, { query: '?base_api_id=unknown&new_version_name=v2' });
    assert.deepEqual(
      missing.faults.map(({ code }) => code),
      ['apis.base_not_found'],
    );
  });

  test('clashes with other organisations and with APIs of other owners are reported as a write reports them', async () => {
    const { accessKey: credential, orgId } = await app().stranger();
    const saved = openApi(upstream, { name: `Taken ${createPublicId()}` });
    await save(saved, { owners: [(await app().ask('GET', '/api/users/me')).body.id] });
    const clash = openApi(upstream, { proxy: saved.proxy });
    const codes = async (body: object, asked: Asked) => (await check(body, asked)).faults.map(({ code }) => code);
    assert.deepEqual(await codes({ api_definition: clash }, { credential }), ['apis.route_taken']);
    await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { max_apis: 0 } });
    assert.deepEqual(await codes({ api_definition: openApi(upstream) }, { credential }), ['people.limit_reached']);

    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'write' } } });
    const lesser = { credential: made.body.Message as string };
    const loop = openApi({ url: `gw://${saved.api_id}/` });
    const { faults } = await check({ api_definition: { ...loop, name: saved.name } }, lesser);
    assert.deepEqual(
      faults.map(({ code, pointer }) => [code, pointer]),
      [
        ['apis.reference_not_owned', '/proxy/target_url'],
        ['apis.name_taken', '/name'],
      ],
    );
    assert.match(faults[0]!.message, /^references an API that you do not own/);
    const hidden = await app().ask('POST', `/api/apis/check?api_id=${saved.api_id}`, { body: {}, ...lesser });
    assert.equal(hidden.status, 403);
  });

  test('warnings name their rule and place; members without effect and missing features are among them', async () => {
    const risky = openApi(
      { url: 'http://orders.example/' },
      {
        CORS: { enable: true, allow_credentials: true, allowed_origins: ['*'] },
        custom_middleware: { driver: 'python', pre: [{ name: 'x', path: 'x.py' }] },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      },
    );
    const { valid, warnings } = await check({ api_definition: risky });
    assert.equal(valid, true);
    const places = warnings.map(({ rule, pointer }) => [rule, pointer]);
    for (const place of [
      ['auth_none', '/use_keyless'],
      ['cors_credentials_without_origins', '/CORS/allowed_origins'],
      ['limits_none', '/global_rate_limit'],
      ['upstream_plaintext', '/proxy/target_url'],
      ['feature_not_offered', ''],
    ])
      assert.ok(
        places.some(found => String(found) === String(place)),
        `${place} in ${JSON.stringify(warnings)}`,
      );
  });

  test('a persisted operation is checked against the schema, or by its syntax where there is none', async () => {
    const withOperations = (graphql: object, ...operations: string[]) => {
      const persist_graphql = operations.map((operation, at) => ({ path: `/${at}`, method: 'GET', operation }));
      const version = { name: 'Default', use_extended_paths: true, extended_paths: { persist_graphql } };
      const more = { version_data: { not_versioned: true, versions: { Default: version } } };
      return openApi(upstream, { ...more, use_keyless: false, use_standard_auth: true, ...graphql });
    };
    const schema = 'type Query { book(id: ID!): Book } type Book { title: String }';
    const place = '/version_data/versions/Default/extended_paths/persist_graphql';
    const find = async (definition: object, wanted = 'persisted_operation_invalid') => {
      const { valid, warnings } = await check({ api_definition: definition });
      assert.equal(valid, true);
      return warnings.filter(({ rule }) => rule === wanted).map(({ pointer, message }) => [pointer, message]);
    };
    const [sound, unknown, broken] = ['query A { book(id: 1) { title } }', '{ book(id: 1) { isbn } }', 'query {'];
    assert.deepEqual(await find(withOperations({ graphql: { enabled: true, schema } }, sound, unknown, broken)), [
      [`${place}/1/operation`, 'field: isbn not defined on type: Book'],
      [`${place}/2/operation`, 'Syntax Error: Expected Name, found <EOF>.'],
    ]);
    assert.deepEqual(await find(withOperations({}, sound, unknown, broken)), [
      [`${place}/2/operation`, 'Syntax Error: Expected Name, found <EOF>.'],
    ]);
    const tooMany = withOperations({}, ...Array<string>(101).fill(sound));
    assert.deepEqual(await find(tooMany), []);
    const unchecked = await find(tooMany, 'persisted_operations_unchecked');
    assert.deepEqual(unchecked, [[`${place}/100/operation`, 'only the first 100 operations are checked']]);
  });

  test('one definition is required, and the permission to write APIs', async () => {
    for (const body of [{}, { api_definition: null }, { api_definition: openApi(upstream), oas: document() }]) {
      const { status, body: answer } = await app().ask('POST', '/api/apis/check', { body });
      assert.equal(status, 400);
      assert.equal(answer.Message, 'either api_definition or oas is required');
    }
    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'read' } } });
    const asked = { body: { oas: document() }, credential: made.body.Message };
    assert.equal((await app().ask('POST', '/api/apis/check', asked)).status, 403);
  });
});
