import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkMembers } from '#base/members.ts';
import { policyArbitrary } from '../../../tests/arbitraries/access.ts';
import { type Answer, onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { fullPolicy, Policy } from './schema.ts';

const members = [
  '_id',
  'access_rights',
  'access_rights_array',
  'active',
  'auth_type',
  'auth_types',
  'date_created',
  'graphql_enabled',
  'hmac_enabled',
  'id',
  'is_inactive',
  'key_expires_in',
  'last_updated',
  'max_query_depth',
  'meta_data',
  'name',
  'org_id',
  'partitions',
  'per',
  'quota_max',
  'quota_renewal_rate',
  'rate',
  'smoothing',
  'state',
  'tags',
  'throttle_interval',
  'throttle_retry_limit',
];

/** An organisation of its own, so that lists hold only what a test put there. */
async function tenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const make = (policy: object) => ask('POST', '/api/portal/policies', policy);
  const search = async (query: string) => ask('GET', `/api/portal/policies/search?${query}`);
  const names = async (query: string) => {
    const { body } = await search(query);
    return body.Data?.map((policy: { name: string }) => policy.name) ?? null;
  };
  return { orgId, accessKey, ask, make, search, names };
}

const sortIds = (answer: string[] | null) => answer && [...answer].sort();

function expectError(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.Status, 'Error');
  assert.match(answer.body.Message, message);
}

onEveryEngine('policies', app => {
  test('a policy is created with its name alone; the message is its id, and every member is returned', async () => {
    const { ask, make, orgId } = await tenant(app());
    const { status, body } = await make({ name: 'Gold' });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['Message', 'Meta', 'Status']);
    assert.equal(body.Status, 'OK');
    assert.equal(body.Meta, null);
    const read = await ask('GET', `/api/portal/policies/${body.Message}`);
    assert.equal(read.status, 200);
    assert.deepEqual(Object.keys(read.body).sort(), members);
    const { _id, id, org_id, name, state, active, is_inactive, auth_type, auth_types } = read.body;
    assert.match(_id, /^[0-9a-f]{24}$/);
    assert.deepEqual(
      { id, org_id, name, state, active, is_inactive, auth_type, auth_types },
      {
        id: _id,
        org_id: orgId,
        name: 'Gold',
        state: 'active',
        active: true,
        is_inactive: false,
        auth_type: 'other',
        auth_types: [],
      },
    );
    assert.ok(Date.parse(read.body.date_created) > 0);
    assert.match(read.body.last_updated, /^\d+$/);
  });

  test('sent ids are used, and either of them finds the policy', async () => {
    const { ask, make, orgId } = await tenant(app());
    const _id = `db-${orgId}`;
    assert.equal((await make({ _id, id: 'gold', name: 'Gold' })).body.Message, 'gold');
    for (const id of [_id, 'gold']) assert.equal((await ask('GET', `/api/portal/policies/${id}`)).body.name, 'Gold');
    assert.equal((await ask('PUT', `/api/portal/policies/${_id}`, { name: 'Silver' })).body.Message, 'Data updated');
    assert.equal((await ask('GET', '/api/portal/policies/gold')).body.name, 'Silver');
    assert.equal((await ask('DELETE', '/api/portal/policies/gold')).body.Message, 'Data deleted');
    expectError(await ask('GET', `/api/portal/policies/${_id}`), 404, /^Policy not found$/);
  });

  test('a valid policy is read back as sent', async () => {
    const { ask, make } = await tenant(app());
    let count = 0;
    await fc.assert(
      fc.asyncProperty(policyArbitrary(), async sent => {
        count += 1;
        const policy = { ...sent, _id: undefined, id: `p${count}`, name: `n${count} ${sent.name ?? ''}` };
        const { status, body, text } = await make(policy);
        assert.equal(status, 200, text);
        const read = (await ask('GET', `/api/portal/policies/${body.Message}`)).body;
        const { _id, org_id, date_created, last_updated } = read;
        const expected = fullPolicy(checkMembers(Policy, JSON.parse(JSON.stringify(policy))).value as Policy);
        assert.deepEqual(read, { ...expected, _id, org_id, date_created, last_updated });
      }),
      { numRuns: 40 },
    );
  });

  test('a duplicate name or id is a conflict that names it', async () => {
    const { ask, make } = await tenant(app());
    await make({ id: 'one', name: 'One' });
    await make({ id: 'two', name: 'Two' });
    expectError(await make({ name: 'One' }), 409, /named One/);
    expectError(await make({ id: 'one', name: 'Three' }), 409, /id one/);
    expectError(await ask('PUT', '/api/portal/policies/two', { name: 'One' }), 409, /named One/);
    const { body } = await ask('GET', '/api/portal/policies/one');
    expectError(await make({ id: body._id, name: 'Three' }), 409, new RegExp(body._id));
    assert.equal((await ask('PUT', '/api/portal/policies/two', { name: 'Two' })).status, 200);
    const elsewhere = await tenant(app());
    assert.equal((await elsewhere.make({ id: 'one', name: 'One' })).status, 200);
  });

  test('an update replaces everything but ids, organisation and creation date', async () => {
    const { ask, make, orgId } = await tenant(app());
    await make({ id: 'p', name: 'P', rate: 10, per: 1, tags: ['a'], org_id: 'ignored' });
    const before = (await ask('GET', '/api/portal/policies/p')).body;
    const put = await ask('PUT', '/api/portal/policies/p', { name: 'Q', per: 2, date_created: 'x', org_id: 'x' });
    assert.equal(put.status, 200);
    const after = (await ask('GET', '/api/portal/policies/p')).body;
    assert.deepEqual(
      [after.name, after.rate, after.per, after.tags, after.org_id, after._id, after.date_created],
      ['Q', 0, 2, [], orgId, before._id, before.date_created],
    );
    expectError(await ask('PUT', '/api/portal/policies/p', { id: 'q', name: 'Q' }), 400, /^id: is p and cannot change/);
    expectError(await ask('PUT', '/api/portal/policies/nobody', { name: 'Q' }), 404, /not found/);
  });

  test('invalid members of a policy are refused with their path', async () => {
    const { make } = await tenant(app());
    expectError(await make({}), 400, /^name: is required$/);
    expectError(await make({ name: ' ' }), 400, /^name: is required$/);
    expectError(await make({ name: 'x'.repeat(301) }), 400, /^name: may have at most 300/);
    assert.equal((await make({ name: 'x'.repeat(300) })).status, 200);
    expectError(await make({ name: 'X', rate: 'much' }), 400, /^rate: /);
    expectError(await make({ name: 'X', state: 'asleep' }), 400, /^state: /);
    expectError(
      await make({ name: 'X', smoothing: { trigger: 0.005 } }),
      400,
      /^smoothing\.trigger: must be a multiple/,
    );
    expectError(
      await make({ name: 'X', smoothing: { delay: 0, step: 0, threshold: 0 } }),
      400,
      /delay.*step.*threshold/,
    );
    expectError(await make({ name: 'X', partitions: { per_api: true, acl: true } }), 400, /^partitions\.per_api: /);
    expectError(await make({ name: 'X', id: 'a/b' }), 400, /^id: may hold letters/);
    expectError(
      await make({ name: 'X', access_rights: { a1: { versions: [1] } } }),
      400,
      /^access_rights\.a1\.versions\[0\]/,
    );
    expectError(await make([]), 400, /expected object/);
  });

  test('the list has pages, newest first, and a page past the end is empty', async () => {
    const { ask, make } = await tenant(app());
    assert.deepEqual((await ask('GET', '/api/portal/policies')).body, { Data: [], Pages: 1 });
    for (let n = 1; n <= 12; n++) await make({ name: `P${n}`, state: n === 3 ? 'draft' : 'active' });
    const first = (await ask('GET', '/api/portal/policies')).body;
    assert.equal(first.Pages, 2);
    assert.equal(first.Data.length, 10);
    assert.equal(first.Data[0].name, 'P12');
    assert.deepEqual(Object.keys(first.Data[0]).sort(), members);
    assert.deepEqual((await ask('GET', '/api/portal/policies?p=3')).body, { Data: [], Pages: 2 });
    assert.equal((await ask('GET', '/api/portal/policies?p=-1')).body.Data.length, 12);
    assert.equal((await ask('GET', '/api/portal/policies?p=-1&active=no')).body.Data.length, 11);
    expectError(await ask('GET', '/api/portal/policies?p=one'), 400, /^p: /);
  });

  test('policies of another organisation are not found', async () => {
    const theirs = await tenant(app());
    const { body } = await theirs.make({ name: 'Theirs' });
    const { ask, search } = await tenant(app());
    for (const method of ['GET', 'DELETE']) {
      expectError(await ask(method, `/api/portal/policies/${body.Message}`), 404, /not found/);
    }
    expectError(await ask('PUT', `/api/portal/policies/${body.Message}`, { name: 'Mine' }), 404, /not found/);
    assert.deepEqual((await search(`policy_ids=${body.Message}`)).body, { Data: null, Pages: 1 });
  });
});

onEveryEngine('policy search', app => {
  /** Two APIs, and policies that differ in everything that is searched. */
  async function createTenant() {
    const own = await tenant(app());
    const api = async (name: string, more: object) => {
      const definition = {
        name,
        proxy: { listen_path: `/${own.orgId}/${name}/`, target_url: 'http://127.0.0.1:1' },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
        ...more,
      };
      const { body, text } = await own.ask('POST', '/api/apis', { api_definition: definition });
      assert.equal(body.Status, 'OK', text);
      return body.ID as string;
    };
    const token = await api('token', { use_standard_auth: true });
    const open = await api('open', { use_keyless: true });
    const rights = (...ids: string[]) => Object.fromEntries(ids.map(id => [id, { api_id: id, versions: ['Default'] }]));
    const policies = [
      { id: 'alpha', name: 'Beta plan', access_rights: rights(token) },
      { id: 'beta', name: 'alpha plan', access_rights: rights(open), state: 'draft' },
      { id: 'gamma', name: '100% plan', access_rights: rights(token, open), state: 'deny' },
      { id: 'delta', name: 'Delta', access_rights: {}, auth_type: 'custom' },
      { id: 'epsilon', name: 'Epsilon', access_rights: rights('unknown'), state: 'draft' },
    ];
    for (const policy of policies) assert.equal((await own.make(policy)).status, 200);
    return { ...own, token, open };
  }

  test('each filter restricts the result', async () => {
    const { names, token, open, ask } = await createTenant();
    const byId = async (query: string) => sortIds(await names(query));
    assert.deepEqual(await byId('q=ALPHA'), ['Beta plan', 'alpha plan']);
    assert.deepEqual(await byId('q=plan'), ['100% plan', 'Beta plan', 'alpha plan']);
    assert.deepEqual(await byId('q=%25'), ['100% plan']);
    assert.deepEqual(await byId('q=_'), null);
    const { body } = await ask('GET', '/api/portal/policies/delta');
    assert.deepEqual(await byId(`q=${body._id}`), ['Delta']);
    assert.deepEqual(await byId(`policy_ids=alpha,%20${body._id},nobody`), ['Beta plan', 'Delta']);
    assert.deepEqual(await byId('active=1'), ['Beta plan', 'Delta']);
    assert.deepEqual(await byId('active=false'), ['Beta plan', 'Delta']);
    assert.deepEqual(await byId('state=active'), ['Beta plan', 'Delta']);
    assert.deepEqual(await byId('state=draft'), ['Epsilon', 'alpha plan']);
    assert.deepEqual(await byId('state=deny'), ['100% plan']);
    assert.deepEqual(await byId(`api_id=${token}`), ['100% plan', 'Beta plan']);
    assert.deepEqual(await byId(`api_id=${token},${open}`), ['100% plan', 'Beta plan', 'alpha plan']);
    assert.deepEqual(await byId('api_id=unknown'), ['Epsilon']);
    assert.deepEqual(await byId('auth_type=authToken'), ['Beta plan']);
    assert.deepEqual(await byId('auth_type=keyless'), ['alpha plan']);
    assert.deepEqual(await byId('auth_type=other'), ['100% plan', 'Epsilon']);
    assert.deepEqual(await byId('auth_type=custom'), ['Delta']);
    assert.equal((await byId(''))?.length, 5);
  });

  test('each sort order is ascending', async () => {
    const { names } = await createTenant();
    assert.deepEqual(await names('sort=name'), ['100% plan', 'alpha plan', 'Beta plan', 'Delta', 'Epsilon']);
    assert.deepEqual(await names('sort=date_created'), ['Beta plan', 'alpha plan', '100% plan', 'Delta', 'Epsilon']);
    assert.deepEqual(await names('sort=state'), ['Beta plan', 'Delta', '100% plan', 'alpha plan', 'Epsilon']);
    assert.deepEqual(await names(''), ['Epsilon', 'Delta', '100% plan', 'alpha plan', 'Beta plan']);
  });

  test('filters and a sort order combine', async () => {
    const { names, token, open } = await createTenant();
    assert.deepEqual(await names(`q=plan&api_id=${token}&sort=name`), ['100% plan', 'Beta plan']);
    assert.deepEqual(await names(`q=plan&state=draft&auth_type=keyless&api_id=${open}`), ['alpha plan']);
    assert.deepEqual(await names('active=x&state=draft'), null);
    assert.deepEqual(await names('active=x&state=active&sort=name'), ['Beta plan', 'Delta']);
    assert.deepEqual(await names('q=alpha&policy_ids=beta,gamma'), ['alpha plan']);
    assert.deepEqual(await names(`q=a&policy_ids=alpha,beta,gamma&active=1&api_id=${token}&auth_type=authToken`), [
      'Beta plan',
    ]);
  });

  test('Data is null only when nothing matches; below 0 is everything, past the end is empty', async () => {
    const { make, search } = await createTenant();
    for (let n = 0; n < 8; n++) await make({ name: `Many ${n}` });
    assert.deepEqual((await search('q=nothing+like+it')).body, { Data: null, Pages: 1 });
    const first = (await search('sort=name')).body;
    assert.equal(first.Data.length, 10);
    assert.equal(first.Pages, 2);
    assert.equal((await search('sort=name&p=2')).body.Data.length, 3);
    assert.deepEqual((await search('p=9')).body, { Data: [], Pages: 2 });
    assert.equal((await search('p=-3')).body.Data.length, 13);
    assert.equal((await search('policy_ids=,&p=-1')).body.Data.length, 13);
  });

  test('an unknown filter value is refused by its name', async () => {
    const { search } = await tenant(app());
    expectError(await search('state=sleepy'), 400, /^state: /);
    expectError(await search('sort=rate'), 400, /^sort: /);
    expectError(await search('p=first'), 400, /^p: /);
  });

  test('auth_type follows a changed API; a deleted API is removed from all rights but the last', async () => {
    const { ask, names, token, open } = await createTenant();
    const definition = (await ask('GET', `/api/apis/${open}`)).body.api_definition;
    const changed = { ...definition, use_keyless: false, use_standard_auth: true };
    assert.equal((await ask('PUT', `/api/apis/${open}`, { api_definition: changed })).status, 200);
    assert.deepEqual(sortIds(await names('auth_type=authToken')), ['100% plan', 'Beta plan', 'alpha plan']);
    assert.equal((await ask('DELETE', `/api/apis/${token}`)).status, 200);
    const rightsOf = async (id: string) =>
      Object.keys((await ask('GET', `/api/portal/policies/${id}`)).body.access_rights);
    assert.deepEqual(await rightsOf('gamma'), [open]);
    assert.deepEqual(await rightsOf('alpha'), [token]);
    assert.deepEqual(await names(`api_id=${token}`), ['Beta plan']);
  });
});

onEveryEngine('policy import', app => {
  test('an export is imported unchanged with its ids; existing policies are not changed', async () => {
    const from = await tenant(app());
    await from.make({ id: `imp-${from.orgId}`, name: 'One', rate: 5, per: 1 });
    const { Data } = (await from.ask('GET', '/api/portal/policies?p=-1')).body;
    const again = await app().ask('POST', '/admin/policies/import', { body: { Data } });
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, { Status: 'OK', Message: 'Policies imported', Meta: { [Data[0].id]: false } });
    await from.ask('DELETE', `/api/portal/policies/${Data[0].id}`);
    const fresh = { id: 'fresh', name: 'Fresh', org_id: from.orgId };
    const made = await app().ask('POST', '/admin/policies/import', { body: { Data: [...Data, fresh] } });
    assert.deepEqual(made.body.Meta, { [Data[0].id]: true, fresh: true });
    const read = (await from.ask('GET', `/api/portal/policies/${Data[0].id}`)).body;
    assert.deepEqual({ ...read, last_updated: '' }, { ...Data[0], last_updated: '' });
  });

  test('an invalid policy is refused with its path, and nothing is imported', async () => {
    const { orgId, ask } = await tenant(app());
    const good = { id: `good-${orgId}`, name: 'Good', org_id: orgId };
    const post = (body: unknown) => app().ask('POST', '/admin/policies/import', { body });
    expectError(await post({ Data: [good, { name: 'No id' }] }), 400, /^Data\[1\]\.id: is required/);
    expectError(await post({ Data: [good, { ...good, rate: 'x' }] }), 400, /^Data\[1\]\.rate: /);
    expectError(await post({ Data: [good, { id: 'x' }] }), 400, /^Data\[1\]\.name: is required/);
    expectError(
      await post({ Data: [{ ...good, org_id: 'nowhere' }] }),
      400,
      /^org_id: there is no organisation nowhere/,
    );
    expectError(await post({}), 400, /^Data: /);
    assert.deepEqual((await ask('GET', '/api/portal/policies')).body.Data, []);
  });
});
