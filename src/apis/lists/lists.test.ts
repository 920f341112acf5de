import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';

interface Shown {
  api_definition: { name: string; api_id: string; [member: string]: unknown };
  [member: string]: unknown;
}
const names = ({ body }: { body: { apis: Shown[] } }) => body.apis.map(api => api.api_definition.name);

/** No two moments are the same, so that what came later is always sorted later. */
function strictClock() {
  let last = 0;
  return {
    now() {
      last = Math.max(last + 1, systemClock.now());
      return last;
    },
  };
}

const declareLists = (app: () => TestApp) => {
  /** An organisation of its own, so that a list holds what one test made and nothing else. */
  async function owner() {
    const { accessKey, orgId } = await app().stranger();
    let count = 0;
    const ask = (method: string, path: string, body?: unknown) =>
      app().ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
    const add = async (name: string, more: object = {}) => {
      const proxy = { listen_path: `/${orgId}/${count++}/`, target_url: 'http://127.0.0.1:9/' };
      const answer = await ask('POST', '/api/apis', { api_definition: { name, proxy, ...more } });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.ID as string;
    };
    return { ask, add, accessKey };
  }

  test('pages have the configured size, newest first; below one returns everything; past the end is empty', async () => {
    const { ask, add } = await owner();
    const made: string[] = [];
    for (let at = 0; at < 12; at++) made.push(await add(`Page ${at}`));
    const newest = Array.from({ length: 12 }, (_, at) => `Page ${11 - at}`);
    const first = await ask('GET', '/api/apis');
    assert.deepEqual([names(first), first.body.pages], [newest.slice(0, 10), 2]);
    assert.deepEqual(names(await ask('GET', '/api/apis?p=2')), newest.slice(10));
    const past = await ask('GET', '/api/apis?p=3');
    assert.deepEqual(past.body, { apis: [], pages: 2 });
    for (const p of [0, -1, -2]) {
      const all = await ask('GET', `/api/apis?p=${p}`);
      assert.deepEqual([names(all), all.body.pages], [newest, 1]);
    }
    assert.deepEqual(names(await ask('GET', '/api/apis/search?p=2')), newest.slice(10));
    assert.equal((await ask('GET', '/api/apis?p=x')).status, 400);
  });

  test('an organisation without APIs gets one empty page, and nothing of others', async () => {
    const { ask } = await owner();
    assert.deepEqual((await ask('GET', '/api/apis')).body, { apis: [], pages: 1 });
    assert.deepEqual((await ask('GET', '/api/apis/search?q=a')).body, { apis: [], pages: 1 });
    assert.deepEqual((await ask('GET', '/api/apis/categories')).body, { categories: [] });
    assert.deepEqual((await ask('GET', '/api/apis/groups')).body, {});
  });

  test('a list entry equals the API as read alone', async () => {
    const { ask, add } = await owner();
    const id = await add('Whole #one', { tags: ['a'], config_data: { any: [1] } });
    const [entry] = (await ask('GET', '/api/apis')).body.apis;
    assert.deepEqual(entry, (await ask('GET', `/api/apis/${id}`)).body);
    assert.deepEqual(entry.categories, ['one']);
  });

  test('the name search ignores case, and takes LIKE wildcards literally', async () => {
    const { ask, add } = await owner();
    for (const name of ['Orders ÄÖ', 'orders 100%', 'Other_one', 'Otherone']) await add(name);
    for (const path of ['/api/apis', '/api/apis/search']) {
      const find = async (q: string) => names(await ask('GET', `${path}?q=${encodeURIComponent(q)}`)).sort();
      assert.deepEqual(await find('ORDERS'), ['Orders ÄÖ', 'orders 100%']);
      assert.deepEqual(await find('äö'), ['Orders ÄÖ']);
      assert.deepEqual(await find('%'), ['orders 100%']);
      assert.deepEqual(await find('r_o'), ['Other_one']);
      assert.deepEqual(await find("' or 1=1"), []);
    }
  });

  test('lists sort by name, creation or change, both ways, and reject other keys', async () => {
    const { ask, add } = await owner();
    const first = await add('b');
    await add('C');
    await add('a');
    const listen = (await ask('GET', `/api/apis/${first}`)).body.api_definition.proxy;
    await ask('PUT', `/api/apis/${first}`, { api_definition: { name: 'b', proxy: listen } });
    const listSorted = async (sort: string) => names(await ask('GET', `/api/apis?sort=${sort}`)).join('');
    assert.equal(await listSorted('name'), 'abC');
    assert.equal(await listSorted('-name'), 'Cba');
    assert.equal(await listSorted('created_at'), 'bCa');
    assert.equal(await listSorted('-created_at'), 'aCb');
    assert.equal(await listSorted('updated_at'), 'Cab');
    assert.equal(await listSorted('-updated_at'), 'baC');
    for (const sort of ['body', 'name desc', '--name']) {
      const wrong = await ask('GET', `/api/apis?sort=${encodeURIComponent(sort)}`);
      assert.equal(wrong.status, 400);
      assert.match(wrong.body.Message, /^sort: /);
    }
  });

  test('categories are counted, and disappear with their last API', async () => {
    const { ask, add } = await owner();
    const one = await add('One #eu #public #eu');
    const two = await add('Two #public');
    await add('C# three');
    const categories = async () => (await ask('GET', '/api/apis/categories')).body.categories;
    assert.deepEqual(await categories(), [
      { name: 'eu', count: 1 },
      { name: 'public', count: 2 },
    ]);
    assert.deepEqual((await ask('GET', '/api/apis/groups')).body, { eu: [one], public: [one, two] });
    assert.deepEqual(names(await ask('GET', '/api/apis?category=eu')), ['One #eu #public #eu']);
    assert.equal(names(await ask('GET', '/api/apis?category=eu,public,none')).length, 2);
    assert.deepEqual(names(await ask('GET', '/api/apis?category=%23eu')), []);
    const { proxy } = (await ask('GET', `/api/apis/${one}`)).body.api_definition;
    await ask('PUT', `/api/apis/${one}`, { api_definition: { name: 'One #us', proxy } });
    await ask('DELETE', `/api/apis/${two}`);
    assert.deepEqual(await categories(), [{ name: 'us', count: 1 }]);
  });

  test('filters by auth type, kind, category and name combine, across pages', async () => {
    const { ask, add } = await owner();
    await add('Open #x', { use_keyless: true });
    await add('Token', { use_standard_auth: true });
    await add('Jwt and basic #x', { enable_jwt: true, use_basic_auth: true });
    await add('OAuth', { use_oauth2: true });
    await add('Signed', { enable_signature_checking: true });
    await add('Raw', { protocol: 'tcp', listen_port: 9400, use_keyless: true });
    await add('Graph', { graphql: { enabled: true, execution_mode: 'proxyOnly' } });
    await add('Universal', { graphql: { enabled: true, execution_mode: 'executionEngine' } });
    await add('Sub', { graphql: { enabled: true, execution_mode: 'subgraph' } });
    await add('Super', { graphql: { enabled: true, execution_mode: 'supergraph' }, internal: true });
    const findNames = async (query: string) => names(await ask('GET', `/api/apis?p=-1&sort=name&${query}`)).join('|');
    assert.equal(await findNames('auth_type=keyless'), 'Open #x|Raw');
    assert.equal(await findNames('auth_type=jwt'), 'Jwt and basic #x');
    assert.equal(await findNames('auth_type=ba,oauth'), 'Jwt and basic #x|OAuth');
    assert.equal(await findNames('auth_type=other'), 'Signed');
    assert.equal(await findNames('auth_type=authToken&api_type=rest'), 'Token');
    assert.equal(await findNames('api_type=tcp'), 'Raw');
    assert.equal(await findNames('api_type=graphql'), 'Graph');
    assert.equal(await findNames('api_type=udg,subgraph'), 'Sub|Universal');
    assert.equal(await findNames('api_type=supergraph'), 'Super');
    assert.equal(await findNames('api_type=internal'), 'Super');
    assert.equal(await findNames('category=x&auth_type=keyless,jwt&q=jwt'), 'Jwt and basic #x');
    const page = await ask('GET', '/api/apis?auth_type=authToken,keyless,jwt,oauth,other&p=1');
    assert.deepEqual([page.body.apis.length, page.body.pages], [10, 1]);
    assert.equal((await ask('GET', '/api/apis?api_type=rest,soap')).status, 400);
  });

  test('filters by state, format and owner combine with the others', async () => {
    const { ask, add, accessKey } = await owner();
    await add('On', { use_keyless: true });
    const off = await add('Off', { use_keyless: true, active: false });
    const { proxy } = (await ask('GET', `/api/apis/${off}`)).body.api_definition;
    const document = { openapi: '3.0.3', info: { title: 'Document', version: '1' }, paths: {} };
    const gateway = { info: { name: 'Document', state: { active: true } }, upstream: { url: 'http://127.0.0.1:9/' } };
    const server = { listenPath: { value: `${proxy.listen_path}document/` } };
    const made = await ask('POST', '/api/apis/oas', { ...document, 'x-gw-api-gateway': { ...gateway, server } });
    assert.equal(made.status, 200, made.text);
    const findNames = async (query: string) => names(await ask('GET', `/api/apis?sort=name&${query}`)).join('|');
    assert.equal(await findNames('state=active'), 'Document|On');
    assert.equal(await findNames('state=inactive'), 'Off');
    assert.equal(await findNames('state=active&format=classic'), 'On');
    assert.equal(await findNames('format=oas&auth_type=keyless'), 'Document');
    assert.equal(await findNames('format=streams'), '');
    assert.equal(await findNames('owned=1'), '');
    const me = (await app().ask('GET', '/api/users/me', { credential: accessKey })).body.id;
    const access = { userIds: [me], userGroupIds: [] };
    assert.equal((await ask('PUT', `/api/apis/${off}/access`, access)).status, 200);
    assert.equal(await findNames('owned=1'), 'Off');
    assert.equal(await findNames('owned=1&state=active'), '');
    assert.equal((await ask('GET', '/api/apis?state=broken')).status, 400);
  });

  test('api_ids restricts the list to these APIs of the organisation, and combines with owned', async () => {
    const { ask, add } = await owner();
    const [one, two] = [await add('One'), await add('Two')];
    await add('Three');
    const foreign = await (await owner()).add('Foreign');
    assert.deepEqual(names(await ask('GET', `/api/apis?sort=name&api_ids=${one},${two},${foreign},unknown`)), [
      'One',
      'Two',
    ]);
    const { body: session } = await ask('GET', '/api/session');
    await ask('PUT', `/api/apis/${two}/access`, { userIds: [session.user.id], userGroupIds: [] });
    assert.deepEqual(names(await ask('GET', `/api/apis?owned=1&api_ids=${one},${two}`)), ['Two']);
  });

  test('versions are left out on request, and listed again when their base is deleted', async () => {
    const { ask, add } = await owner();
    const base = await add('Base');
    const query = `base_api_id=${base}&base_api_version_name=v1&new_version_name=v2`;
    const child = { api_definition: { name: 'Child', internal: true, proxy: { target_url: 'http://127.0.0.1:9/' } } };
    assert.equal((await ask('POST', `/api/apis?${query}`, child)).status, 200);
    assert.deepEqual(names(await ask('GET', '/api/apis?base_apis=true')), ['Base']);
    await ask('DELETE', `/api/apis/${base}`);
    assert.deepEqual(names(await ask('GET', '/api/apis?base_apis=true')), ['Child']);
  });

  test('a compressed list returns only the identifying members of an API', async () => {
    const { ask, add } = await owner();
    const id = await add('Small', { CORS: { enable: true }, active: true, config_data: { big: 'x' } });
    const [entry] = (await ask('GET', '/api/apis?compressed=1')).body.apis;
    const { api_id, name, active, proxy, CORS, config_data } = entry.api_definition;
    assert.deepEqual([api_id, name, active, CORS, config_data], [id, 'Small', true, undefined, undefined]);
    assert.equal(proxy.target_url, 'http://127.0.0.1:9/');
  });
};

onEveryEngine('lists of APIs', declareLists, { clock: strictClock() });
