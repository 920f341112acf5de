import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';

const api = (name: string, more: object = {}) => ({
  api_definition: { name, proxy: { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' }, ...more },
});

onEveryEngine('classic APIs', app => {
  const ask = (method: string, path: string, body?: unknown, credential?: string) =>
    app().ask(method, path, { ...(body === undefined ? {} : { body }), ...(credential ? { credential } : {}) });
  const create = async (name: string, more: object = {}) => {
    const answer = await ask('POST', '/api/apis', api(name, more));
    assert.equal(answer.status, 200, answer.text);
    return { id: answer.body.ID as string, dbId: answer.body.Meta as string };
  };

  test('creating an API returns both ids, and either reads it with its wrapper members', async () => {
    const answer = await ask('POST', '/api/apis', api('both-ids'));
    assert.equal(answer.status, 200);
    const { ID, Meta, ...rest } = answer.body;
    assert.deepEqual(rest, { Status: 'OK', Message: 'API created' });
    assert.match(ID, /^[0-9a-f]{32}$/);
    assert.match(Meta, /^[0-9a-f]{24}$/);
    const { body } = await ask('GET', `/api/apis/${ID}`);
    assert.deepEqual((await ask('GET', `/api/apis/${Meta}`)).body, body);
    const { created_at, updated_at, ...shown } = body;
    assert.equal(created_at, updated_at);
    assert.ok(!Number.isNaN(Date.parse(created_at)));
    assert.deepEqual(shown, {
      api_model: {},
      api_definition: {
        ...api('both-ids').api_definition,
        id: Meta,
        api_id: ID,
        org_id: app().credentials.organisation_id,
        is_oas: false,
      },
      hook_references: [],
      is_site: false,
      sort_by: 0,
      user_owners: [],
      user_group_owners: [],
      categories: [],
    });
  });

  test('a public id may be chosen once per installation; a database id never', async () => {
    const { id, dbId } = await create('chosen', { api_id: 'chosen_1', id: 'mine', org_id: 'not mine' });
    assert.equal(id, 'chosen_1');
    assert.notEqual(dbId, 'mine');
    const again = await ask('POST', '/api/apis', api('chosen-again', { api_id: 'chosen_1' }));
    assert.deepEqual([again.status, again.body.Message], [409, 'Found API with the same ID: choose another id']);
    const { accessKey } = await app().stranger();
    const elsewhere = await ask('POST', '/api/apis', api('chosen-else', { api_id: 'chosen_1' }), accessKey);
    assert.deepEqual(
      [elsewhere.status, elsewhere.body.Message],
      [409, 'Found API with the same ID: choose another id'],
    );
    for (const api_id of ['a/b', '../x', 'x'.repeat(65), 'ü']) {
      const bad = await ask('POST', '/api/apis', api('bad-id', { api_id }));
      assert.equal(bad.status, 400);
      assert.match(bad.body.Message, /^api_definition\.api_id: /);
    }
  });

  test('wrapper members are stored, and stay when an update omits them', async () => {
    const around = {
      hook_references: [{ event_name: 'QuotaExceeded', event_timeout: 60, hook: { id: 'h1', name: 'a hook' } }],
      user_owners: ['u1'],
      user_group_owners: ['g1', 'g2'],
      is_site: true,
      sort_by: 3,
    };
    const { body } = await ask('POST', '/api/apis', { ...api('around'), ...around, api_model: { ignored: 1 } });
    const read = async () => (await ask('GET', `/api/apis/${body.ID}`)).body;
    const { api_definition: _a, created_at, updated_at: _u, categories: _c, api_model, ...shown } = await read();
    assert.deepEqual([shown, api_model], [around, {}]);
    await ask('PUT', `/api/apis/${body.ID}`, { ...api('around', { active: true }), hook_references: null });
    const { api_definition, created_at: still, updated_at, ...after } = await read();
    assert.deepEqual([after.hook_references, after.user_owners], [[], ['u1']]);
    assert.equal(api_definition.active, true);
    assert.equal(still, created_at);
    assert.ok(Date.parse(updated_at) >= Date.parse(created_at));
  });

  test('invalid wrapper members are rejected, each with its path', async () => {
    const { id } = await create('around-checked');
    for (const [wrong, path] of [
      [{ hook_references: [{ event_name: 7 }] }, 'hook_references[0].event_name'],
      [{ user_owners: ['a', 7] }, 'user_owners[1]'],
      [{ user_group_owners: 'g' }, 'user_group_owners'],
      [{ sort_by: 1.5 }, 'sort_by'],
      [{ is_site: 'yes' }, 'is_site'],
    ] as const) {
      const answer = await ask('PUT', `/api/apis/${id}`, { ...api('around-checked'), ...wrong });
      assert.equal(answer.status, 400);
      assert.ok(answer.body.Message.startsWith(`${path}: `), answer.body.Message);
    }
    for (const body of [{}, { api_definition: null }, { api_definition: [] }, { api_definition: 'x' }]) {
      const answer = await ask('PUT', `/api/apis/${id}`, body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.Message, /^api_definition: /);
    }
  });

  test('an update replaces the whole definition, and rejects another id in it', async () => {
    const { id, dbId } = await create('replaced', { tags: ['old'], slug: 'old' });
    assert.equal((await ask('PUT', `/api/apis/${dbId}`, api('replaced', { api_id: id, active: true }))).status, 200);
    const { api_definition: now } = (await ask('GET', `/api/apis/${id}`)).body;
    assert.deepEqual([now.tags, now.slug, now.active], [undefined, undefined, true]);
    const other = await ask('PUT', `/api/apis/${id}`, api('replaced', { api_id: 'another' }));
    assert.equal(other.status, 400);
    assert.equal(other.body.Message, `api_definition.api_id: is another, but the API in the path is ${id}`);
  });

  test('an unknown API, or one of another organisation, returns 404', async () => {
    const { accessKey } = await app().stranger();
    const { id, dbId } = await create('ours-alone');
    for (const ref of [id, dbId, 'nobodys']) {
      const credential = ref === 'nobodys' ? undefined : accessKey;
      const callForMessage = async (method: string, path: string, body?: unknown) => {
        const answer = await ask(method, path, body, credential);
        return [answer.status, answer.body.Message];
      };
      assert.deepEqual(await callForMessage('GET', `/api/apis/${ref}`), [404, 'Could not retrieve API detail']);
      assert.deepEqual(await callForMessage('GET', `/api/apis/${ref}/url`), [404, 'Could not retrieve API detail']);
      assert.deepEqual(await callForMessage('PUT', `/api/apis/${ref}`, api('x')), [
        404,
        'API definition does not exist',
      ]);
      assert.deepEqual(await callForMessage('DELETE', `/api/apis/${ref}`), [404, 'API not found']);
    }
    assert.equal((await ask('GET', `/api/apis/${id}`)).status, 200);
  });

  test('two APIs cannot claim the same route, in any spelling and by any owner', async () => {
    const { accessKey } = await app().stranger();
    const at = (listen_path: string, more: object = {}) => ({
      api_definition: { name: 'place', proxy: { listen_path, target_url: 'http://127.0.0.1:9/' }, ...more },
    });
    const first = await ask('POST', '/api/apis', at('/place/{id}/'));
    assert.equal(first.status, 200);
    for (const path of ['/place/{id}/', '/place/{id}', 'place/{id}', '//place/{other}//']) {
      const clash = await ask('POST', '/api/apis', at(path));
      assert.equal(clash.status, 409, path);
      assert.match(clash.body.Message, /^Another API already has the listen path \/place\/\{\}/);
      const foreign = await ask('POST', '/api/apis', at(path), accessKey);
      assert.equal(foreign.status, 409, path);
      assert.match(foreign.body.Message, /^The route \/place\/\{\} overlaps the route of another API/);
    }
    const own = { domain: 'Place.Example.' };
    assert.equal((await ask('POST', '/api/apis', at('/place/{id}', own))).status, 200);
    assert.equal((await ask('POST', '/api/apis', at('/place/{id}', { domain: 'place.example' }))).status, 409);
    assert.equal((await ask('POST', '/api/apis', at('/place/{id}', { internal: true }))).status, 200);
    assert.equal((await ask('POST', '/api/apis', at('/place/{id}', { listen_port: 9099 }))).status, 200);
    const second = await ask('POST', '/api/apis', at('/place/two'));
    assert.equal((await ask('PUT', `/api/apis/${second.body.ID}`, at('/place/{x}'))).status, 409);
    assert.equal((await ask('PUT', `/api/apis/${first.body.ID}`, at('/place/{renamed}'))).status, 200);
    await ask('DELETE', `/api/apis/${first.body.ID}`);
    assert.equal((await ask('PUT', `/api/apis/${second.body.ID}`, at('/place/{x}'))).status, 200);
  });

  test('of concurrent writes that claim one route or one id, one succeeds', async () => {
    const race = async (more: (at: number) => object) => {
      const asked = Array.from({ length: 6 }, (_, at) => ask('POST', '/api/apis', { api_definition: more(at) }));
      return (await Promise.all(asked)).map(({ status }) => status).sort();
    };
    const once = [200, 409, 409, 409, 409, 409];
    assert.deepEqual(
      await race(at => ({ name: `r${at}`, proxy: { listen_path: '/race', target_url: 'http://127.0.0.1:9/' } })),
      once,
    );
    assert.deepEqual(
      await race(at => ({
        name: `s${at}`,
        api_id: 'raced',
        proxy: { listen_path: `/race${at}`, target_url: 'http://127.0.0.1:9/' },
      })),
      once,
    );
  });

  test('deleting an API removes it from policies, except where it is the last access right', async () => {
    const { id } = await create('forgotten');
    const { policies } = app().application.installation.services;
    const policy = (name: string, rights: string[]) => ({
      _id: name,
      id: name,
      name,
      org_id: app().credentials.organisation_id,
      state: 'active' as const,
      date_created: '2026-01-02T03:04:05Z',
      access_rights: Object.fromEntries(rights.map(api_id => [api_id, { api_id, versions: ['Default'] }])),
    });
    await policies.insert(policy('forgets', [id, 'other']));
    await policies.insert(policy('keeps', [id]));
    assert.equal((await policies.get(app().credentials.organisation_id, 'keeps'))?.auth_type, 'authToken');
    await ask('PUT', `/api/apis/${id}`, api('forgotten', { use_keyless: true }));
    assert.equal((await policies.get(app().credentials.organisation_id, 'keeps'))?.auth_type, 'keyless');
    const gone = await ask('DELETE', `/api/apis/${id}`);
    assert.deepEqual([gone.status, gone.body], [200, { Status: 'OK', Message: 'API deleted', Meta: null }]);
    const rights = async (name: string) =>
      Object.keys((await policies.get(app().credentials.organisation_id, name))?.access_rights ?? {});
    assert.deepEqual([await rights('forgets'), await rights('keeps')], [['other'], [id]]);
    assert.equal((await ask('GET', `/api/apis/${id}`)).status, 404);
  });

  test('every change is published to the gateways, a rejected one is not', async () => {
    const { records } = app().application.installation;
    const received: string[] = [];
    const stop = records.onChange(topics => received.push(...topics));
    const { id } = await create('recorded');
    await ask('PUT', `/api/apis/${id}`, api('recorded'));
    await ask('PUT', `/api/apis/${id}`, { api_definition: { name: 7 } });
    await ask('PUT', `/api/apis/${id}/access`, { userIds: ['u'] });
    await ask('DELETE', `/api/apis/${id}`);
    stop();
    assert.deepEqual(received, ['apis', 'apis', 'apis', 'apis']);
  });

  test('a new API becomes a version of another, and is removed from it when deleted', async () => {
    const base = await create('base');
    const child = (query: string, name = 'child') => ask('POST', `/api/apis?base_api_id=${base.id}${query}`, api(name));
    const readMessage = async (query: string) => (await child(query)).body.Message;
    assert.match(await readMessage(''), /^new_version_name: is required/);
    assert.match(await readMessage('&new_version_name=v2'), /^base_api_version_name: is required/);
    assert.equal((await ask('GET', '/api/apis/search?q=child')).body.apis.length, 0);
    const first = await child('&new_version_name=v2&base_api_version_name=v1');
    assert.equal(first.status, 200);
    const block = async () => (await ask('GET', `/api/apis/${base.id}`)).body.api_definition.definition;
    const identifier = { enabled: true, name: 'v1', location: 'header', key: 'x-gw-version' };
    assert.deepEqual(await block(), { ...identifier, default: 'self', versions: { v2: first.body.ID } });
    assert.equal((await child('&new_version_name=v2', 'child-again')).status, 409);
    const second = await child('&new_version_name=v3&set_default=true', 'child-three');
    assert.equal((await child('&new_version_name=v4', 'child-four')).status, 200);
    assert.equal((await block()).default, 'v3');
    await ask('DELETE', `/api/apis/${second.body.ID}`);
    assert.deepEqual([(await block()).default, Object.keys((await block()).versions)], ['v1', ['v2', 'v4']]);
    const lost = await ask('POST', '/api/apis?base_api_id=nobody&new_version_name=v9', api('lost'));
    assert.deepEqual([lost.status, lost.body.Message], [400, 'base_api_id: there is no API nobody']);
    const listed = await ask('GET', '/api/apis?base_apis=1&q=child&p=-1');
    assert.deepEqual(listed.body.apis, []);
  });

  test('the address of an API is the gateway’s, or its own domain and port', async () => {
    const { id } = await create('address');
    const { body } = await ask('GET', `/api/apis/${id}/url`);
    assert.equal(body.BasePath, '/address/');
    assert.equal(body.ApiURL, `http://${body.Host}/address/`);
    const own = await create('own-address', { domain: 'own.example', listen_port: 9098 });
    assert.deepEqual((await ask('GET', `/api/apis/${own.id}/url`)).body, {
      ApiURL: 'http://own.example:9098/own-address/',
      BasePath: '/own-address/',
      Host: 'own.example:9098',
    });
  });

  test('names and paths longer than their index columns are rejected', async () => {
    for (const [more, path] of [
      [{ name: 'n'.repeat(501) }, 'name'],
      [{ proxy: { listen_path: '/far', target_url: `http://a.example/${'/'.repeat(9000)}b` } }, 'proxy.target_url'],
      [{ proxy: { listen_path: `/${'p'.repeat(500)}` } }, 'proxy.listen_path'],
      [{ domain: 'd'.repeat(254) }, 'domain'],
    ] as const) {
      const answer = await ask('POST', '/api/apis', api('long', more));
      assert.equal(answer.status, 400);
      assert.match(answer.body.Message, new RegExp(`^api_definition\\.${path}: must be at most \\d+ characters$`));
    }
    const widest = {
      name: '字'.repeat(500),
      domain: '字'.repeat(253),
      proxy: { listen_path: `/${'字'.repeat(499)}`, target_url: 'http://127.0.0.1:9/' },
    };
    assert.equal((await ask('POST', '/api/apis', { api_definition: widest })).status, 200);
  });

  test('an organisation that still has APIs cannot be deleted', async () => {
    const { orgId, accessKey } = await app().stranger();
    const { body } = await ask('POST', '/api/apis', api('holding'), accessKey);
    assert.equal((await ask('DELETE', `/admin/organisations/${orgId}`)).status, 409);
    await ask('DELETE', `/api/apis/${body.ID}`, undefined, accessKey);
    assert.equal((await ask('DELETE', `/admin/organisations/${orgId}`)).status, 200);
  });

  test('any JSON gets success or a clear error, at every path', async () => {
    const { id } = await create('fuzzed');
    const value = fc.jsonValue({ maxDepth: 4 });
    const definition = fc.record(
      {
        name: fc.oneof(fc.string({ unit: 'binary' }), value),
        api_id: fc.oneof(fc.stringMatching(/^[\w-]{1,64}$/), value),
        proxy: fc.oneof(fc.record({ listen_path: fc.string({ unit: 'binary' }), target_list: value }), value),
        definition: value,
        version_data: fc.record({ versions: value }, { requiredKeys: [] }),
        domain: fc.string({ unit: 'binary' }),
      },
      { requiredKeys: [] },
    );
    const wrapper = fc.record(
      { api_definition: definition, hook_references: value, more: value },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(wrapper, value), async body => {
        for (const [method, path] of [
          ['POST', '/api/apis'],
          ['PUT', `/api/apis/${id}`],
        ] as const) {
          const answer = await ask(method, path, JSON.stringify(body));
          assert.ok(answer.status < 500, `${method} ${answer.text}`);
          if (answer.status !== 200) assert.ok(answer.body.Message.length > 0);
        }
      }),
      { numRuns: 60 },
    );
    assert.equal((await ask('GET', '/api/apis?p=-1')).status, 200);
  });
});

test('settings allow two APIs on one route, and a classic update of a document', async () => {
  const settings = { 'apis.allow_duplicate_paths': 'true', 'apis.allow_classic_update_of_oas': 'true' } as const;
  const app = await startApp('sqlite', { settings });
  try {
    assert.equal((await app.ask('POST', '/api/apis', { body: api('same') })).status, 200);
    assert.equal((await app.ask('POST', '/api/apis', { body: api('same') })).status, 200);
    const gateway = { info: { name: 'S' }, server: { listenPath: { value: '/s/' } } };
    const streams = await app.ask('POST', '/api/apis/streams', {
      headers: { 'content-type': 'application/vnd.gw.streams.oas' },
      body: JSON.stringify({ 'x-gw-api-gateway': gateway, 'x-gw-streaming': { streams: {} } }),
    });
    const path = `/api/apis/${streams.body.ID}`;
    assert.equal((await app.ask('PUT', path, { body: api('replaced') })).status, 200);
    const { body } = await app.ask('GET', path);
    assert.deepEqual([body.api_definition.is_oas, body.oas, body.is_streams], [false, undefined, undefined]);
  } finally {
    await app.close();
  }
});
