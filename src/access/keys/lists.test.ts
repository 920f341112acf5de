import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, onEveryEngine, type TestApp } from '../../../tests/support/app.ts';

const rights = (...ids: string[]) => ({ access_rights: Object.fromEntries(ids.map(id => [id, { api_id: id }])) });

async function tenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const createNamed = async (name: string, key: object = rights('a1')) => {
    const { status, body, text } = await ask('POST', `/api/keys/${name}`, key);
    assert.equal(status, 200, text);
    return body.key_id as string;
  };
  const ids = async (path: string): Promise<string[]> => {
    const { status, body, text } = await ask('GET', path);
    assert.equal(status, 200, text);
    assert.deepEqual(Object.keys(body).sort(), ['data', 'pages']);
    return body.data.keys;
  };
  const listDetails = async (query: string) => {
    const { status, body, text } = await ask('GET', `/api/keys/detailed${query}`);
    assert.equal(status, 200, text);
    assert.deepEqual(Object.keys(body).sort(), ['keys', 'pages']);
    return { pages: body.pages, ids: body.keys.map((key: { key_id: string }) => key.key_id) as string[], body };
  };
  return { orgId, ask, named: createNamed, ids, detailed: listDetails };
}

function expectError(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.body.Message, message);
}

onEveryEngine('key lists', app => {
  test('the detailed list has pages, newest first, with every member except the password', async () => {
    const { ask, named, detailed } = await tenant(app());
    assert.deepEqual((await detailed('')).body, { keys: [], pages: 1 });
    for (let n = 10; n < 21; n++) await named(`key${n}`, { ...rights('a1'), alias: `Alias ${n}`, meta_data: { n } });
    await ask('POST', '/api/apis/keys/basic/ann', { basic_auth_data: { password: 'not to be seen' } });
    const first = await detailed('');
    assert.equal(first.pages, 2);
    assert.equal(first.ids.length, 10);
    assert.ok(!JSON.stringify(first.body).includes('not to be seen'));
    assert.ok(!JSON.stringify(first.body).includes('scrypt$'));
    const [ann, newest] = first.body.keys;
    assert.deepEqual(Object.keys(newest).sort(), ['api_model', 'data', 'key_hash', 'key_id']);
    assert.equal(ann.data.basic_auth_data.user, 'ann');
    assert.deepEqual([newest.data.alias, newest.data.meta_data], ['Alias 20', { n: 20 }]);
    assert.equal((await detailed('?p=2')).ids.length, 2);
    assert.deepEqual((await detailed('?p=3')).body, { keys: [], pages: 2 });
    const all = await detailed('?p=-1');
    assert.deepEqual([all.pages, all.ids.length], [1, 12]);
    const read = await ask('GET', `/api/keys/${newest.key_id}`);
    assert.deepEqual(read.body, newest);
  });

  test('q finds keys by any part of their id, in pages, within the organisation', async () => {
    const { named, detailed, orgId } = await tenant(app());
    const made: string[] = [];
    for (let n = 0; n < 12; n++) made.unshift(await named(`needle-${n}`));
    await named('other');
    const stranger = await tenant(app());
    await stranger.named('needle-x');
    const first = await detailed('?q=needle');
    assert.deepEqual([first.pages, first.ids], [2, made.slice(0, 10)]);
    assert.deepEqual((await detailed('?q=needle&p=2')).ids, made.slice(10));
    assert.deepEqual((await detailed('?q=needle&p=-1')).ids, made);
    assert.deepEqual((await detailed('?q=needle-1')).ids.length, 3);
    assert.deepEqual((await detailed(`?q=${made[3]}`)).ids, [made[3]]);
    assert.equal((await detailed(`?q=${orgId.slice(4)}&p=-1`)).ids.length, 13);
    assert.deepEqual((await detailed('?q=%25')).body, { keys: [], pages: 1 });
    assert.deepEqual((await detailed('?q=NEEDLE')).ids, []);
    assert.deepEqual((await detailed('?q=needle&p=7')).body, { keys: [], pages: 2 });
  });

  test('the keys of an API are those whose rights or policies grant it', async () => {
    const { ask, named, ids } = await tenant(app());
    await ask('POST', '/api/portal/policies', { id: 'pol', name: 'Pol', ...rights('b2') });
    const direct = await named('direct');
    const both = await named('both-apis', rights('a1', 'b2'));
    const governed = await named('governed', { apply_policies: ['pol'] });
    assert.deepEqual(await ids('/api/apis/a1/keys'), [both, direct]);
    assert.deepEqual(await ids('/api/apis/b2/keys'), [governed, both]);
    assert.deepEqual(await ids('/api/apis/-/keys'), [governed, both, direct]);
    assert.deepEqual(await ids('/api/apis/keys'), [governed, both, direct]);
    assert.deepEqual(await ids('/api/apis/keys?p=2'), []);
    assert.deepEqual(await ids('/api/apis/b2/keys/search?q=gov'), [governed]);
    assert.deepEqual(await ids('/api/apis/a1/keys/search?q=gov'), []);
    assert.deepEqual(await ids('/api/apis/-/keys/search?q=o'), [governed, both]);
    expectError(await ask('GET', '/api/apis/nothing/keys'), 404, /^API doesn't exist$/);
    const policy = (await ask('GET', '/api/portal/policies/pol')).body;
    await ask('PUT', '/api/portal/policies/pol', { ...policy, access_rights_array: null, ...rights('c3') });
    assert.deepEqual(await ids('/api/apis/c3/keys'), [governed]);
    assert.deepEqual(await ids('/api/apis/b2/keys'), [both]);
    await ask('PUT', '/api/keys/both-apis', rights('c3'));
    assert.deepEqual(await ids('/api/apis/c3/keys'), [governed, both]);
    await ask('DELETE', '/api/keys/governed');
    assert.deepEqual(await ids('/api/apis/c3/keys'), [both]);
  });

  test('the detailed list is filtered by API, policy, state, kind, expiry and name, all combined', async () => {
    const { ask, named, detailed } = await tenant(app());
    const soon = Math.floor(app().application.installation.services.clock.now() / 1000) + 3600;
    const addPolicy = async (id: string) =>
      assert.equal((await ask('POST', '/api/portal/policies', { id, name: id, ...rights('b2') })).status, 200);
    await addPolicy('gold');
    await addPolicy('denied');
    const plain = await named('plain', { ...rights('a1'), alias: 'Mobile App 100%' });
    const stopped = await named('stopped', { ...rights('a1'), is_inactive: true, tags: ['te%m', 'a "b"'] });
    const golden = await named('golden', { apply_policies: ['gold'], is_inactive: true, expires: soon });
    const refused = await named('refused', { apply_policies: ['gold', 'denied'] });
    assert.equal(
      (
        await ask('POST', '/api/apis/keys/basic/ann', {
          ...rights('a1'),
          basic_auth_data: { password: 'x'.repeat(12) },
        })
      ).status,
      200,
    );
    const ann = (await detailed('?kind=basic')).ids[0]!;
    const policy = (await ask('GET', '/api/portal/policies/denied')).body;
    assert.equal((await ask('PUT', '/api/portal/policies/denied', { ...policy, state: 'deny' })).status, 200);
    const find = async (query: string) => (await detailed(`?${query}`)).ids;
    assert.deepEqual(await find('api_id=b2'), [refused, golden]);
    assert.deepEqual(await find('policy_id=gold'), [refused, golden]);
    assert.deepEqual(await find('policy_id=gold&state=active'), [golden], 'policies decide');
    assert.deepEqual(await find('state=inactive'), [refused, stopped]);
    assert.deepEqual(await find('kind=token&state=active'), [golden, plain]);
    assert.deepEqual(await find('search=mobile%20app'), [plain]);
    assert.deepEqual(await find('search=100%25'), [plain]);
    assert.deepEqual(await find('search=ANN'), [ann]);
    assert.deepEqual(await find(`expires_before=${soon + 1}`), [golden]);
    assert.deepEqual(await find(`expires_before=${soon}`), []);
    assert.deepEqual(await find('tag=te%25m'), [stopped]);
    assert.deepEqual(await find(`tag=${encodeURIComponent('a "b"')}&state=inactive`), [stopped]);
    for (const other of ['tag=te', 'tag=%25', 'tag=te%25m&state=active', 'tag=tags'])
      assert.deepEqual(await find(other), []);
    assert.equal((await find('tag=')).length, 5);
    assert.deepEqual(await find('q=golden&policy_id=denied'), []);
    assert.deepEqual(await find('q=gold&state=active'), [golden]);
    assert.deepEqual(await find('state=expired'), []);
    const { records } = app().application.installation;
    await records.write(async () => {
      const expired = { expires_at: soon - 7200 };
      await records.db.updateTable('keys').set(expired).where('expires_at', '=', soon).execute();
      records.markChanged('keys');
    });
    assert.deepEqual(await find('state=expired'), [golden]);
    assert.deepEqual(await find('policy_id=gold&state=active'), []);
    for (const wrong of ['state=odd', 'kind=organisation', 'expires_before=-1', 'expires_before=x'])
      assert.equal((await ask('GET', `/api/keys/detailed?${wrong}`)).status, 400, wrong);
    assert.deepEqual(await (await tenant(app())).detailed('?policy_id=gold').then(it => it.ids), []);
  });

  test('keys are counted by policy and by API, within the organisation', async () => {
    const { ask, named } = await tenant(app());
    for (const id of ['one', 'two'])
      assert.equal((await ask('POST', '/api/portal/policies', { id, name: id, ...rights('b2') })).status, 200);
    await named('direct', rights('a1', 'b2'));
    await named('first', { apply_policies: ['one'] });
    await named('both', { apply_policies: ['one', 'two'] });
    const { body } = await ask('GET', '/api/keys/counts?policy_id=one,two,none&api_id=a1,b2,c3');
    assert.deepEqual(body, { total: 3, policies: { one: 2, two: 1, none: 0 }, apis: { a1: 1, b2: 3, c3: 0 } });
    assert.deepEqual((await ask('GET', '/api/keys/counts')).body, { total: 3, policies: {}, apis: {} });
    const stranger = await tenant(app());
    const foreign = await stranger.ask('GET', '/api/keys/counts?policy_id=one&api_id=a1');
    assert.deepEqual(foreign.body, { total: 0, policies: { one: 0 }, apis: { a1: 0 } });
    const many = Array.from({ length: 101 }, (_none, index) => `p${index}`).join(',');
    assert.equal((await ask('GET', `/api/keys/counts?policy_id=${many}`)).status, 400);
  });

  test('lists leave out 40,000 hidden APIs with one bound value', async () => {
    const { orgId, named } = await tenant(app());
    const id = await named('visible');
    const { keys, policies, apis, usage, logs, uptime } = app().application.installation.services;
    const hiddenApis = Array.from({ length: 40_000 }, (_none, index) => `hidden-${index}`);
    const page = { page: 1, size: 10 };
    const shown = await keys.page(orgId, { ...page, hiddenApis });
    assert.deepEqual(
      shown.items.map(it => it.keyId),
      [id],
    );
    assert.deepEqual((await keys.page(orgId, { ...page, hiddenApis: [...hiddenApis, 'a1'] })).items, []);
    assert.deepEqual((await keys.page(orgId, { ...page, hiddenApis, q: 'visible' })).items.length, 1);
    assert.deepEqual((await policies.search(orgId, { hiddenApis }, page)).items, []);
    assert.deepEqual((await apis.page(orgId, { hidden: hiddenApis, only: hiddenApis }, 'name', page)).items, []);
    assert.deepEqual(await apis.categoryCounts(orgId, hiddenApis), []);
    assert.deepEqual(await apis.listAfter(orgId, '', 10, hiddenApis), []);
    const range = { orgId, from: 0, to: 1, hiddenApis };
    assert.deepEqual((await logs.page({ ...range, failed: false }, page)).items, []);
    assert.deepEqual((await uptime.page({ ...range, now: 1 }, page)).items, []);
    const sums = { groups: [], order: 'hits', ascending: false } as const;
    assert.deepEqual((await usage.page({ ...range, ...sums, ownedApis: hiddenApis }, page)).items, []);
  });

  test('a key is read, changed and removed under an API it may call, and not found under other APIs', async () => {
    const { ask, named } = await tenant(app());
    const id = await named('one');
    for (const api of ['a1', '-']) assert.equal((await ask('GET', `/api/apis/${api}/keys/${id}`)).body.key_id, id);
    for (const method of ['GET', 'DELETE'])
      expectError(await ask(method, `/api/apis/b2/keys/${id}`), 404, /Could not retrieve/);
    expectError(await ask('PUT', `/api/apis/b2/keys/${id}`, rights('b2')), 404, /Could not retrieve/);
    const changed = await ask('PUT', `/api/apis/a1/keys/one`, { ...rights('b2'), alias: 'moved' });
    assert.deepEqual([changed.body.key_id, changed.body.data.alias], [id, 'moved']);
    assert.equal((await ask('DELETE', `/api/apis/b2/keys/${id}`)).body.Message, 'Key deleted successfully');
    expectError(await ask('GET', `/api/apis/-/keys/${id}`), 404, /Could not retrieve/);
  });

  test('an API is named by its public or its database id', async () => {
    const { ask, named, ids, orgId } = await tenant(app());
    const definition = {
      name: 'Orders',
      proxy: { listen_path: `/${orgId}/`, target_url: 'http://127.0.0.1:1' },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      use_standard_auth: true,
    };
    const { body } = await ask('POST', '/api/apis', { api_definition: definition });
    assert.deepEqual(await ids(`/api/apis/${body.ID}/keys`), []);
    const id = await named('orders', rights(body.ID));
    for (const ref of [body.ID, body.Meta]) assert.deepEqual(await ids(`/api/apis/${ref}/keys`), [id]);
  });
});

onEveryEngine(
  'key lists with hashed storage',
  app => {
    test('with hashed storage the id is returned once; lists, searches and paths use the hash', async () => {
      const { ask, detailed, ids } = await tenant(app());
      const made = (await ask('POST', '/api/keys', rights('a1'))).body;
      assert.notEqual(made.key_id, made.key_hash);
      assert.equal(made.data.key_id, made.key_id);
      assert.deepEqual(await ids('/api/apis/keys'), [made.key_hash]);
      const [listed] = (await detailed(`?q=${made.key_hash.slice(2, 9)}`)).body.keys;
      assert.deepEqual([listed.key_id, listed.key_hash], [made.key_hash, made.key_hash]);
      assert.deepEqual((await detailed(`?q=${made.key_id}`)).ids, []);
      for (const path of [made.key_id, made.key_hash, `${made.key_hash}?hashed=1`])
        assert.equal((await ask('GET', `/api/keys/${path}`)).body.key_hash, made.key_hash, path);
      const { records } = app().application.installation;
      const rows = JSON.stringify(await records.db.selectFrom('keys').selectAll().execute());
      assert.ok(rows.includes(made.key_hash) && !rows.includes(made.key_id) && rows.includes('"sealed":""'));
      assert.equal((await ask('DELETE', `/api/keys/${made.key_hash}?hashed=1`)).status, 200);
      assert.equal((await ask('GET', `/api/keys/${made.key_id}`)).status, 404);
    });
  },
  { settings: { 'keys.at_rest': 'hashed', 'keys.hash_function': 'sha256' } },
);
