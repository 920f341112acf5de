import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine, startApp } from '../../../../tests/support/app.ts';
import { openApi, publish } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';
import { createDebugRuns } from './run-limit.ts';

let upstream: Upstream;
before(async () => {
  upstream = await startUpstream();
});
after(() => upstream.close());

onEveryEngine('testing a definition through the dashboard', app => {
  const debug = (body: object, more: Asked = {}) => app().ask('POST', '/api/debug', { body, ...more });
  const keyed = (more: object = {}) =>
    openApi(upstream, { use_keyless: false, auth: { auth_header_name: 'Authorization' }, ...more });
  async function createUser(permissions: object): Promise<string> {
    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: permissions } });
    return made.body.Message;
  }

  test('a definition in either format runs as on the control interface, and nothing is stored', async () => {
    const known = (await app().ask('GET', '/api/apis?p=-1')).text;
    const spec = openApi(upstream);
    const { status, body, text } = await debug({ spec, request: { path: '/x?a=1' } });
    assert.deepEqual([status, body.message], [200, 'ok'], text);
    assert.match(body.response, /^====== Request ======\nGET \/x\?a=1 HTTP.*HTTP\/1\.1 200 OK/s);
    const lines = body.logs.split('\n').map((line: string) => JSON.parse(line));
    assert.ok(
      lines.some((line: { mw?: string; api_id: string }) => line.mw === 'upstream' && line.api_id === spec.api_id),
    );
    const oas = {
      openapi: '3.0.3',
      info: { title: 'O', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: 'O', state: { active: true } },
        server: { listenPath: { value: '/o/', strip: true } },
        upstream: { url: upstream.url },
      },
    };
    assert.match((await debug({ oas, request: {} })).body.response, /HTTP\/1\.1 200 OK/);
    assert.equal((await app().ask('GET', '/api/apis?p=-1')).text, known);
  });

  test('the definition is one of the caller’s organisation, whatever organisation it names', async () => {
    const spec = keyed({ org_id: app().credentials.organisation_id });
    const access_rights = { [spec.api_id]: { api_id: spec.api_id, versions: ['Default'] } };
    const { key_id } = (await app().ask('POST', '/api/keys', { body: { access_rights } })).body;
    const request = { path: '/', headers: { Authorization: key_id } };
    assert.match((await debug({ spec, request })).body.response, /HTTP\/1\.1 200 OK/);
    const { accessKey: credential, orgId } = await app().stranger();
    const foreign = await debug({ spec, request }, { credential });
    assert.match(foreign.body.response, /HTTP\/1\.1 403 Forbidden/);
    for (const line of foreign.body.logs.split('\n')) assert.equal(JSON.parse(line).org_id, orgId);
  });

  test('ids, loops and addresses that a write of this caller would refuse are refused', async () => {
    const saved = openApi(upstream);
    await publish(app(), saved);
    const { accessKey: stranger } = await app().stranger();
    const taken = await debug({ spec: saved, request: {} }, { credential: stranger });
    assert.equal(taken.status, 409, taken.text);

    const owned = openApi(upstream, { name: `Owned ${createPublicId()}` });
    const owner = (await app().ask('GET', '/api/users/me')).body.id;
    await app().ask('POST', '/api/apis', { body: { api_definition: owned, user_owners: [owner] } });
    const credential = await createUser({ apis: 'write' });
    assert.equal((await debug({ spec: owned, request: {} }, { credential })).status, 403);
    const loop = openApi({ url: `gw://${owned.api_id}/` });
    const looped = await debug({ spec: loop, request: {} }, { credential });
    assert.equal(looped.status, 403);
    assert.match(looped.body.Message, /^spec\.proxy\.target_url: references an API that you do not own/);
    assert.match((await debug({ spec: loop, request: {} })).body.response, /HTTP\/1\.1 200 OK/);

    const metadata = await debug({ spec: openApi({ url: 'http://169.254.169.254/' }), request: {} });
    assert.equal(metadata.status, 400);
    assert.match(metadata.body.Message, /^spec\.proxy\.target_url: /);
  });

  test('an unclear body is refused with every error, and a lesser permission too', async () => {
    const spec = openApi(upstream);
    for (const [body, message] of [
      [{ request: {} }, /^Spec field is missing$/],
      [{ spec }, /^Request field is missing$/],
      [
        { spec: { ...spec, name: 7, proxy: 3 }, request: {} },
        /^spec\.name: must be a string; spec\.proxy: must be an object$/,
      ],
      [{ spec, request: { path: '/a b' } }, /^request\.path: must hold no space$/],
    ] as const) {
      const { status, body: answer } = await debug(body);
      assert.equal(status, 400);
      assert.match(answer.Message, message);
    }
    const credential = await createUser({ apis: 'read' });
    assert.equal((await debug({ spec, request: {} }, { credential })).status, 403);
  });
});

describe('limits of tests through the dashboard', () => {
  test('an organisation may run so many tests in a minute; others are not affected', () => {
    const clock = { ms: 0, now: () => clock.ms };
    const runs = createDebugRuns(clock);
    for (let n = 0; n < 120; n++) runs.count('a');
    assert.throws(() => runs.count('a'), /may test 120 requests in a minute/);
    runs.count('b');
    clock.ms += 60_000;
    runs.count('a');
  });

  test('a process without traffic threads refuses with a hint', async () => {
    const app = await startApp('sqlite', { settings: { role: 'dashboard' } });
    const { status, body } = await app.ask('POST', '/api/debug', { body: { spec: openApi(upstream), request: {} } });
    await app.close();
    assert.equal(status, 503);
    assert.match(body.Message, /^This process serves no API traffic/);
  });
});
