import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench, type Sent } from '../../../tests/support/step-harness.ts';

describe('endpoint lists', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  const withLists = (extended_paths: object, more: object = {}) =>
    bench.compile({
      use_keyless: true,
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
      },
      ...more,
    });
  const versionFailure = {
    event: 'VersionFailure',
    message: 'Attempted access to disallowed version / path.',
    key: '',
  };
  const forbidden = [403, errorBody('Requested endpoint is forbidden'), [versionFailure]];
  const passes = [0, '', []];
  type Lists = Parameters<typeof withLists>[0];
  const answer = async (lists: Lists, sent: Sent) => {
    const { status, body, events } = await bench.send(await withLists(lists), sent);
    return [status, body, events];
  };

  test('a blocked endpoint gets 403 and an event, for its method', async () => {
    const lists = { black_list: [{ path: '/admin', method: 'POST' }] };
    assert.deepEqual(await answer(lists, { target: '/admin', method: 'POST' }), forbidden);
    assert.deepEqual(await answer(lists, { target: '/admin/', method: 'POST' }), forbidden);
    assert.deepEqual(await answer(lists, { target: '/admin?x', method: 'POST' }), forbidden);
    assert.deepEqual(await answer(lists, { target: '/admin' }), passes);
    assert.deepEqual(await answer(lists, { target: '/administration', method: 'POST' }), passes);
  });

  test('an allow list closes all other endpoints', async () => {
    const lists = { white_list: [{ path: '/open/{id}', method: 'GET' }] };
    assert.deepEqual(await answer(lists, { target: '/open/1' }), passes);
    assert.deepEqual(await answer(lists, { target: '/open/1', method: 'DELETE' }), forbidden);
    assert.deepEqual(await answer(lists, { target: '/other' }), forbidden);
  });

  test('block wins over allow, and ignore authentication over both', async () => {
    const both = { white_list: [{ path: '/x' }], black_list: [{ path: '/x' }] };
    assert.deepEqual(await answer(both, { target: '/x' }), forbidden);
    assert.deepEqual(await answer({ ...both, ignored: [{ path: '/x' }] }, { target: '/x' }), passes);
  });

  test('a disabled entry has no effect', async () => {
    const lists = { black_list: [{ path: '/x', disabled: true }], white_list: [{ path: '/y', disabled: true }] };
    assert.deepEqual(await answer(lists, { target: '/x' }), passes);
  });

  test('an internal endpoint is closed to clients and open to loops', async () => {
    const lists = { internal: [{ path: '/x', method: 'GET' }], white_list: [{ path: '/y' }] };
    assert.deepEqual(await answer(lists, { target: '/x' }), forbidden);
    const change: Sent['change'] = call => {
      call.loopCount = 1;
    };
    assert.deepEqual(await answer(lists, { target: '/x', change }), passes);
    assert.deepEqual(await answer(lists, { target: '/z', change }), forbidden);
    const enter: Sent['change'] = call => {
      call.loopCount = 1;
      call.entryLoopCount = 1;
    };
    assert.deepEqual(await answer(lists, { target: '/x', change: enter }), forbidden);
  });

  test('an open endpoint needs no key; its neighbours do', async () => {
    const api = await withLists({ ignored: [{ path: '/public/*' }] }, { use_keyless: false });
    const open = await bench.send(api, { target: '/public/x' });
    assert.deepEqual([open.status, open.call.skipsAuth], [0, true]);
    for (const target of ['/public', '/publicly/x', '/x/public/y'])
      assert.equal((await bench.send(api, { target })).status, 401, target);
  });

  test('the older lists of bare paths apply to every method', async () => {
    const api = await bench.compile({
      use_keyless: true,
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', paths: { black_list: ['/x'], white_list: [], ignored: [] } } },
      },
    });
    assert.equal((await bench.send(api, { target: '/x', method: 'PATCH' })).status, 403);
    assert.equal((await bench.send(api, { target: '/y' })).status, 0);
  });
});

test('classic mocks with classic_mocks_first need no key, win over all lists and are not recorded', async () => {
  const bench = await openBench({ 'gateway.classic_mocks_first': 'true' });
  const extended_paths = { mock_response: [{ path: '/x', method: 'GET', code: 202 }], black_list: [{ path: '/x' }] };
  const api = await bench.compile({
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
    },
  });
  const { status, call } = await bench.send(api, { target: '/x' });
  assert.deepEqual([status, call.isRecorded], [202, false]);
  assert.equal((await bench.send(api, { target: '/x', method: 'POST' })).status, 403);
  assert.equal((await bench.send(api, { target: '/y' })).status, 401);
  await bench.close();
});
