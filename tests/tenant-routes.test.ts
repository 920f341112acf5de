import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import { foreignRouteQueries, type RouteSearch } from '../src/apis/api/store.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { openApi } from './support/traffic.ts';
import { withSettings } from './support/with-settings.ts';

interface Tenant {
  readonly orgId: string;
  readonly accessKey: string;
}

const upstreamUrl = { url: 'http://127.0.0.1:9/' };
const extension = (orgId: string, path: string, active = true) => ({
  info: { name: 'Routes', id: createPublicId(), orgId, state: { active } },
  server: { listenPath: { value: path } },
  upstream: upstreamUrl,
});
const document = (orgId: string, path: string, active = true) => ({
  openapi: '3.0.3',
  info: { title: 'Routes', version: '1' },
  paths: {},
  'x-gw-api-gateway': extension(orgId, path, active),
});
const streams = (orgId: string, path: string) => ({
  'x-gw-api-gateway': extension(orgId, path),
  'x-gw-streaming': { streams: {} },
});
const classic = (path: string, more: object = {}) =>
  openApi(upstreamUrl as Parameters<typeof openApi>[0], { ...more, proxy: { listen_path: path } });
const streamsType = { 'content-type': 'application/vnd.gw.streams.oas' };

const write = async (app: TestApp, { accessKey }: Tenant, definition: object): Promise<number> =>
  (await app.ask('POST', '/api/apis', { credential: accessKey, body: { api_definition: definition } })).status;

onEveryEngine('Overlapping routes of organisations', app => {
  test('OpenAPI documents and streams are refused like classic definitions', async () => {
    const [a, b] = [await app().stranger(), await app().stranger()];
    const path = `/form-${createPublicId()}/`;
    assert.equal(await write(app(), a, classic(path)), 200);
    const inside = `${path}inside/`;
    const oas = (body: object) => app().ask('POST', '/gw/apis/oas', { body });
    assert.equal((await oas(document(b.orgId, inside))).status, 409);
    assert.equal((await oas(streams(b.orgId, inside))).status, 409);
    const asTenant = { credential: b.accessKey, headers: streamsType };
    const post = (target: string) =>
      app().ask('POST', '/api/apis/streams', { ...asTenant, body: JSON.stringify(streams(b.orgId, target)) });
    assert.equal((await post(inside)).status, 409);
    const own = await post(`/own-${createPublicId()}/`);
    assert.equal(own.status, 200, own.text);
    const moved = JSON.stringify(streams(b.orgId, inside)).replace(/"id":"\w+",/, '');
    const place = `/api/apis/streams/${own.body.ID}`;
    assert.equal((await app().ask('PUT', place, { ...asTenant, body: moved })).status, 409);
    assert.equal((await oas(document(a.orgId, inside))).status, 200, 'its own organisation may nest');
  });

  test('an inactive route stays reserved, and its organisation can activate it again', async () => {
    const [a, b] = [await app().stranger(), await app().stranger()];
    const path = `/off-${createPublicId()}/`;
    const made = classic(path, { active: false });
    assert.equal(await write(app(), a, made), 200);
    assert.equal(await write(app(), b, classic(`${path}x/`)), 409);
    assert.equal(await write(app(), b, classic(`${path}y/`, { active: false })), 409);
    const on = await app().ask('PUT', `/api/apis/${made.api_id}`, {
      credential: a.accessKey,
      body: { api_definition: { ...made, active: true } },
    });
    assert.equal(on.status, 200, on.text);
  });

  test('a document that already overlapped is kept, but cannot be activated again', async () => {
    const [a, b] = [await app().stranger(), await app().stranger()];
    const path = `/before-${createPublicId()}/`;
    const given = document(b.orgId, `/later-${createPublicId()}/`, false);
    assert.equal((await app().ask('POST', '/gw/apis/oas', { body: given })).status, 200);
    assert.equal(await write(app(), a, classic(path)), 200);
    const { records, services } = app().application.installation;
    const { id } = given['x-gw-api-gateway'].info;
    const overlapping = (active: boolean) => {
      const changed = document(b.orgId, `${path}x/`, active);
      return {
        ...changed,
        'x-gw-api-gateway': { ...changed['x-gw-api-gateway'], info: { ...changed['x-gw-api-gateway'].info, id } },
      };
    };
    await records.write(async () => {
      const stored = (await services.apis.get(b.orgId, id))!;
      const summary = { ...stored.summary, listen_path: `${path}x` };
      await services.apis.replace({ ...stored, definition: overlapping(false), summary } as typeof stored);
    });
    const put = (active: boolean) => app().ask('PUT', `/gw/apis/oas/${id}`, { body: overlapping(active) });
    assert.equal((await put(false)).status, 200, 'an unchanged route is not compared again');
    assert.equal((await put(true)).status, 409);
  });
});

withSettings('gateway.listen_path_match: prefix', { 'gateway.listen_path_match': 'prefix' }, app => {
  test('a route that is a prefix of another organisation’s, or the reverse, is refused', async () => {
    const [a, b] = [await app().stranger(), await app().stranger()];
    assert.equal(await write(app(), a, classic('/pay')), 200);
    for (const path of ['/payments/', '/pa', '/pay-x/y/', '/'])
      assert.equal(await write(app(), b, classic(path)), 409, path);
    assert.equal(await write(app(), b, classic('/shop/')), 200);
    assert.equal(await write(app(), a, classic('/payments/')), 200, 'its own organisation may');
  });
});

withSettings('gateway.api_id_paths', { 'gateway.api_id_paths': 'true' }, app => {
  test('a route equal to the id of another organisation’s API is refused', async () => {
    const [a, b] = [await app().stranger(), await app().stranger()];
    const made = classic('/by-path/');
    assert.equal(await write(app(), a, made), 200);
    for (const path of [`/${made.api_id}/`, `/${made.api_id}/deep/`, '/{any}/'])
      assert.equal(await write(app(), b, classic(path)), 409, path);
    assert.equal(await write(app(), a, classic(`/${made.api_id}/`)), 200, 'its own organisation may');
  });
});

/** A table read from its first row to its last is the one thing a plan may not hold. */
const reads = { sqlite: /^SCAN (?!\w+ USING)apis\b/m, postgres: /Seq Scan on apis\b/ };
const rowCount = 5000;
const below = { from: '/orders/7/', to: '/orders/70' };
const searches: readonly RouteSearch[] = [
  { domains: ['', 'shop.example'], above: ['/', '/orders', '/orders/7'], below, id: undefined },
  { domains: undefined, above: ['/', '/orders', '/orders/7'], below, id: 'orders' },
];

onEveryEngine('Route comparison at scale', (app, engine) => {
  test('routes above, below and at an id are found by an index', async () => {
    const { records } = app().application.installation;
    const rows = Array.from({ length: rowCount }, (_, n) => ({
      id: `route-${n}`,
      org_id: `org-${n % 100}`,
      api_id: `api-${n}`,
      kind: 'classic',
      name: `API ${n}`,
      name_fold: `api ${n}`,
      domain: n % 3 === 0 ? `h${n}.example` : '',
      listen_path: `/orders/${n}`,
      created_at: n,
      updated_at: n,
      body: JSON.stringify({ filler: 'x'.repeat(500) }),
    }));
    await records.write(async () => {
      for (let at = 0; at < rows.length; at += 500)
        await records.db
          .insertInto('apis')
          .values(rows.slice(at, at + 500) as never)
          .execute();
    });
    await sql`analyze`.execute(records.db);
    for (const search of searches) {
      const { routes, byId } = foreignRouteQueries(records, 'org-1', search);
      const exact = [routes[0]!, routes[1]!, ...(byId ? [byId] : [])];
      for (const query of exact) {
        const text = await records.explain(query.compile());
        assert.doesNotMatch(text, reads[engine], text);
      }
    }
  });
});
