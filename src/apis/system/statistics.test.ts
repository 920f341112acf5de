import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';
import { countGateways } from './heartbeat.ts';
import type { SystemNode } from './node-store.ts';
import { createStatisticsStore, sampleIntervalMs, toDay } from './statistics-store.ts';

const noon = Date.UTC(2026, 1, 3, 12);

withRecords('Daily statistics', given => {
  const addOrganisation = (id: string) =>
    given().db.insertInto('organisations').values({ id, name: id, created_at: 1, body: '{}' }).execute();
  const addApi = (id: string, org_id: string, active: number) =>
    given()
      .db.insertInto('apis')
      .values({
        ...{ id, org_id, api_id: id, kind: 'classic', name: id, name_fold: id, domain: '', listen_path: `/${id}` },
        ...{ created_at: 1, updated_at: 1, body: '{}', active },
      })
      .execute();
  const removeApis = (org: string) => given().db.deleteFrom('apis').where('org_id', '=', org).execute();

  test('samples of an organisation are added up by day, and its APIs are counted apart from those of others', async () => {
    const statistics = createStatisticsStore(given());
    for (const id of ['one', 'two', 'empty']) await addOrganisation(id);
    await addApi('a', 'one', 1);
    await addApi('b', 'two', 0);
    await statistics.sampleApis(noon);
    await addApi('c', 'one', 0);
    await addApi('d', 'one', 1);
    await statistics.sampleApis(noon + sampleIntervalMs);
    const list = (org: string) => statistics.list(org, 'apis', '2026-01-01', '2026-12-31');
    const one = { day: '2026-02-03', samples: 2, total: 4, lowest: 1, highest: 3 };
    assert.deepEqual(await list('one'), [{ ...one, active_total: 3, active_lowest: 1, active_highest: 2 }]);
    const two = { day: '2026-02-03', samples: 2, total: 2, lowest: 1, highest: 1 };
    assert.deepEqual(await list('two'), [{ ...two, active_total: 0, active_lowest: 0, active_highest: 0 }]);
    assert.deepEqual(await list('empty'), []);
    assert.deepEqual(await statistics.countApis('one'), { count: 3, active: 2 });
    await removeApis('one');
    await statistics.sampleApis(noon + 2 * sampleIntervalMs);
    assert.deepEqual(
      (await list('one')).map(({ samples, lowest }) => [samples, lowest]),
      [[3, 0]],
    );
    await statistics.sampleApis(noon + 24 * sampleIntervalMs);
    assert.equal((await list('one')).length, 1, 'a day without APIs has no row');
    assert.equal((await list('two')).length, 2);
  });

  test('of several processes that sample within an hour, the first counts', async () => {
    const statistics = createStatisticsStore(given());
    const later = noon + 48 * sampleIntervalMs;
    await Promise.all(Array.from({ length: 5 }, () => statistics.sampleApis(later)));
    await statistics.sampleApis(later + sampleIntervalMs - 1);
    await statistics.sample('dataplanes', { count: 2, active: 1 }, later);
    await statistics.sample('dataplanes', { count: 9, active: 9 }, later + 1);
    const [day] = await statistics.list('two', 'apis', toDay(later), toDay(later));
    assert.deepEqual([day?.samples, day?.total], [1, 1]);
    const [planes] = await statistics.list('', 'dataplanes', toDay(later), toDay(later));
    assert.deepEqual([planes?.samples, planes?.highest, planes?.active_highest], [1, 2, 1]);
  });

  test('old days and those of deleted organisations are removed', async () => {
    const statistics = createStatisticsStore(given());
    const later = noon + 72 * sampleIntervalMs;
    await statistics.sampleApis(later);
    await statistics.sample('dataplanes', { count: 1, active: 1 }, later);
    await statistics.prune(toDay(later));
    const listRows = async () => {
      const rows = await given()
        .db.selectFrom('daily_statistics')
        .select(['org_id', 'day'])
        .orderBy('org_id')
        .execute();
      return rows.map(({ org_id, day }) => [org_id, day]);
    };
    assert.deepEqual(await listRows(), [
      ['', toDay(later)],
      ['two', toDay(later)],
    ]);
    await given().db.deleteFrom('organisations').where('id', '=', 'two').execute();
    await statistics.prune(toDay(later));
    assert.deepEqual(await listRows(), [['', toDay(later)]]);
  });
});

test('gateways with the same segments are one data plane, and one without running threads is not active', () => {
  const traffic = { threads: 2, running: 2, restarts: 0, revision: 1, loadedAtMs: 1 };
  const toNode = (segments: string[], more: Partial<SystemNode> = {}): SystemNode => ({
    ...{ id: createPublicId(), hostname: 'h', startedAtMs: 1, heartbeatAtMs: 1, pid: 1, role: 'all', version: '1' },
    ...{ nodeVersion: '26', residentBytes: 1, segments, traffic, ...more },
  });
  const nodes = [
    toNode(['a', 'b']),
    toNode(['b', 'a']),
    toNode([], { traffic: { ...traffic, running: 0 } }),
    toNode(['c'], { traffic: undefined }),
  ];
  assert.deepEqual(countGateways(nodes), {
    gateways: { count: 3, active: 2 },
    dataPlanes: { count: 2, active: 1 },
  });
});

onEveryEngine('System statistics', app => {
  async function publish(more: object, asked: Asked = {}): Promise<string> {
    const proxy = { listen_path: `/s${createPublicId()}/`, target_url: 'http://127.0.0.1:9/' };
    const api_definition = { name: `S ${createPublicId()}`, use_keyless: true, proxy, ...more };
    const { status, body, text } = await app().ask('POST', '/api/apis', { body: { api_definition }, ...asked });
    assert.equal(status, 200, text);
    return body.ID;
  }
  const read = (query = '', asked: Asked = {}) => app().ask('GET', `/api/system/stats${query}`, asked);

  test('the present day has the APIs of the organisation, active ones apart, and the maximum of its grants', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    await publish({}, { credential });
    const id = await publish({ active: false }, { credential });
    const granted = await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { max_apis: 7 } });
    assert.equal(granted.status, 200, granted.text);
    const { status, body, text } = await read('', { credential });
    assert.equal(status, 200, text);
    const date = toDay(Date.now());
    const counts = { min_usage: 2, max_usage: 2, avg_usage: 2, min_active_usage: 1, max_active_usage: 1 };
    const entitled = { license_entitlement: 7, license_entitlement_active: 7 };
    assert.deepEqual(body, {
      ...{ status: 'Success', message: '' },
      stats: {
        apis: [{ date, ...counts, avg_active_usage: 1, ...entitled }],
        ...{ dataplanes: [], dataplanes_gateways: [] },
      },
    });
    const { api_definition } = (await app().ask('GET', `/api/apis/${id}`, { credential })).body;
    const changed = { api_definition: { ...api_definition, active: true } };
    assert.equal((await app().ask('PUT', `/api/apis/${id}`, { credential, body: changed })).status, 200);
    assert.equal((await read('', { credential })).body.stats.apis[0].max_active_usage, 2);
  });

  test('data planes and gateways are those of the installation', async () => {
    for (const [entity, member] of [
      ['dataplanes', 'dataplanes'],
      ['dataplanes.gateways', 'dataplanes_gateways'],
    ] as const) {
      const { status, body } = await read(`?entity=${entity}&resolution=day`);
      assert.equal(status, 200);
      assert.deepEqual(body.stats.apis, []);
      const { date, avg_usage, max_active_usage, license_entitlement } = body.stats[member].at(-1);
      assert.deepEqual([date, avg_usage, max_active_usage, license_entitlement], [toDay(Date.now()), 1, 1, -1]);
    }
  });

  test('days without statistics are not found, and an unclear range is refused', async () => {
    const none = await read('?start_day=2001-01-01&end_day=2001-12-31');
    assert.deepEqual([none.status, none.body.Message], [404, 'No statistics found between 2001-01-01 and 2001-12-31']);
    for (const [query, message] of [
      ['?start_day=2026-02-30', /start_day: must be a day such as/],
      ['?end_day=2026-2-3', /end_day: must be a day/],
      ['?start_day=2026-02-02&end_day=2026-02-01', /end_day: must not be before start_day/],
      ['?entity=users', /entity/],
      ['?resolution=hour', /resolution/],
    ] as const) {
      const { status, body } = await read(query);
      assert.equal(status, 400, query);
      assert.match(body.Message, message);
    }
  });
});
