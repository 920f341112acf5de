import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { startRedis } from '../support/services/redis.ts';
import { freePort } from '../support/services/server.ts';

const { fresh, remove } = scratch('redis');
after(remove);

const hello = async (child: Child, url = child.urls.dashboard) => (await (await fetch(`${url}/hello`)).json()) as Hello;
interface Hello {
  status: string;
  details: Record<string, { status: string; componentType?: string; time?: string; output?: string }>;
}
const redisIs = (child: Child, status: string) =>
  eventually(async () => (await hello(child)).details.redis?.status === status, `/hello reports Redis as ${status}`);

test('without redis.url /hello does not report Redis', async () => {
  const child = await startChild({ directory: fresh() });
  const { status, details } = await hello(child);
  assert.deepEqual([status, Object.keys(details)], ['pass', ['database']]);
  await child.stop();
});

test('/hello reports Redis; while Redis is down the process keeps serving, and it reconnects afterwards', async () => {
  const redis = await startRedis();
  try {
    const child = await startChild({ directory: fresh(), environment: { GW_REDIS_URL: redis.url } });
    for (const url of [child.urls.dashboard!, child.urls.portal!, child.urls.gateway!]) {
      const { status, details } = await hello(child, url);
      const { time, ...redisPart } = details.redis!;
      assert.deepEqual([status, redisPart], ['pass', { status: 'pass', componentType: 'datastore' }], url);
      assert.match(time!, /^\d{4}-\d\d-\d\dT/, url);
    }
    await redis.kill();
    await redisIs(child, 'fail');
    const degraded = await hello(child);
    assert.equal(degraded.status, 'warn');
    assert.match(degraded.details.redis!.output!, /^Redis unavailable/);
    assert.match(child.err(), /"level":"warn".*Redis unavailable, limits are counted in this process/);
    assert.equal((await child.ask('POST', '/admin/organisations', { body: { owner_name: 'Works on' } })).status, 200);
    assert.equal((await child.ask('GET', '/ready')).status, 200, 'Redis is bridged');
    await redis.restartOnSamePort();
    await redisIs(child, 'pass');
    assert.match(child.err(), /Redis available, limits are shared/);
    assert.equal((await child.stop()).code, 0);
  } finally {
    await redis.stop();
  }
});

test('a start while Redis is down succeeds with a warning', async () => {
  const environment = { GW_REDIS_URL: `redis://:canary-password@127.0.0.1:${await freePort()}` };
  const child = await startChild({ directory: fresh(), environment });
  assert.equal((await hello(child)).details.redis?.status, 'fail');
  assert.match(child.err(), /"level":"warn".*Redis unavailable, limits are counted in this process/);
  assert.doesNotMatch(child.err() + child.out(), /canary-password/);
  assert.equal((await child.ask('GET', '/api/users/me')).status, 200);
  assert.equal((await child.stop()).code, 0);
});
