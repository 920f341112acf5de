import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { createClient } from 'redis';
import { startRedis } from '../../../tests/support/services/redis.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createRedisBlobs } from './redis-blobs.ts';

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

async function ownRedis() {
  const server = await startRedis();
  closing.push(server.stop);
  return server;
}

async function machine(url: string, prefix = 'test:', commandTimeoutMs = 2000) {
  const made = createRedisBlobs({ url, prefix, commandTimeoutMs });
  closing.push(made.close);
  await made.waitUntilReady(10_000);
  return made.blobs;
}

const read = async (blobs: Awaited<ReturnType<typeof machine>>, name: string) => (await blobs.read([name]))?.[0];

test('blobs are read by every machine as they were written', async () => {
  const { url } = await ownRedis();
  const [one, other, stranger] = [await machine(url), await machine(url), await machine(url, 'else:')];
  const bytes = randomBytes(300_000);
  one.write('a', bytes, 60_000);
  one.write('b', Buffer.alloc(0), 60_000);
  await eventually(async () => assert.ok(await read(other, 'b')));
  const found = await other.read(['a', 'b', 'c']);
  assert.deepEqual(found, [bytes, Buffer.alloc(0), undefined]);
  assert.deepEqual(await stranger.read(['a']), [undefined]);
  other.remove('a');
  await eventually(async () => assert.deepEqual(await one.read(['a', 'b']), [undefined, Buffer.alloc(0)]));
});

test('a blob expires with its TTL, and one without remaining TTL is not written', async () => {
  const { url } = await ownRedis();
  const blobs = await machine(url);
  blobs.write('over', Buffer.from('x'), 0);
  blobs.write('short', Buffer.from('x'), 60_000.7);
  await blobs.writePermanently('ever', Buffer.from('y'));
  await eventually(async () => assert.ok(await read(blobs, 'short')));
  assert.equal(await read(blobs, 'over'), undefined);
  const client = await createClient({ url }).connect();
  try {
    assert.ok((await client.pTTL('test:b:short')) > 0);
    assert.equal(await client.pTTL('test:b:ever'), -1);
  } finally {
    client.destroy();
  }
});

test('blobs beyond the bytes in flight are dropped, later ones are written again', async () => {
  const { url } = await ownRedis();
  const blobs = await machine(url, 'test:', 60_000);
  const halfOfBound = Buffer.alloc(8_388_608);
  for (const name of ['first', 'second']) blobs.write(name, halfOfBound, 60_000);
  blobs.write('beyond', Buffer.from('x'), 60_000);
  await eventually(async () => assert.equal((await read(blobs, 'second'))?.length, halfOfBound.length));
  blobs.write('later', Buffer.from('x'), 60_000);
  await eventually(async () => assert.ok(await read(blobs, 'later')));
  assert.equal(await read(blobs, 'beyond'), undefined);
  assert.equal((await read(blobs, 'first'))?.length, halfOfBound.length);
});

test('during a Redis outage reads miss without waiting and permanent writes reject; afterwards blobs work again', async () => {
  const server = await ownRedis();
  const blobs = await machine(server.url);
  await blobs.writePermanently('a', Buffer.from('x'));
  await server.kill();
  await eventually(async () => assert.equal(await blobs.read(['a']), undefined));
  blobs.write('b', Buffer.from('x'), 60_000);
  blobs.remove('b');
  await assert.rejects(blobs.writePermanently('c', Buffer.from('x')));
  await server.restartOnSamePort();
  await eventually(async () => assert.deepEqual(await blobs.read(['a', 'b']), [undefined, undefined]));
});

test('blobs that a full Redis rejects are dropped without other effect', async () => {
  const { url } = await ownRedis();
  const blobs = await machine(url);
  const client = await createClient({ url }).connect();
  try {
    await client.configSet('maxmemory', '1');
    await assert.rejects(blobs.writePermanently('a', Buffer.from('x')), /OOM/);
    await client.configSet('maxmemory', '0');
    await eventually(() => blobs.writePermanently('a', Buffer.from('x')));
  } finally {
    client.destroy();
  }
});

test('a removal during a Redis outage takes effect when Redis is available again', async () => {
  const { url } = await ownRedis();
  const [blobs, other] = [await machine(url, 'test:', 100), await machine(url)];
  blobs.write('stale', Buffer.from('x'), 60_000);
  await eventually(async () => assert.ok(await read(other, 'stale')));
  const client = await createClient({ url }).connect();
  closing.push(() => client.destroy());
  await client.sendCommand(['CLIENT', 'PAUSE', '1000', 'ALL']);
  assert.equal(await blobs.read(['stale']), undefined);
  blobs.remove('stale');
  await eventually(async () => assert.deepEqual(await blobs.read(['stale']), [undefined]));
  await blobs.writePermanently('later', Buffer.from('x'));
  blobs.remove('later');
  await eventually(async () => assert.equal(await read(other, 'later'), undefined));
});

test('a removal that fails is repeated, and later removals take effect', async () => {
  const { url } = await ownRedis();
  const blobs = await machine(url);
  const client = await createClient({ url }).connect();
  closing.push(() => client.destroy());
  for (const name of ['first', 'second', 'third']) await blobs.writePermanently(name, Buffer.from('x'));
  await client.sendCommand(['ACL', 'SETUSER', 'default', '-unlink']);
  blobs.remove('first');
  await eventually(async () => assert.equal(await blobs.read(['first']), undefined, 'the failure opens the circuit'));
  await client.sendCommand(['ACL', 'SETUSER', 'default', '+unlink']);
  for (const name of ['first', 'second', 'third']) {
    blobs.remove(name);
    await eventually(async () => assert.deepEqual(await blobs.read([name]), [undefined]));
  }
});

test('removals beyond the bound drop the oldest, whose blobs stay', async () => {
  const { url, pause, resume } = await ownRedis();
  const blobs = await machine(url, 'test:', 500);
  for (const name of ['oldest', 'next']) await blobs.writePermanently(name, Buffer.from('x'));
  pause();
  assert.equal(await blobs.read(['oldest']), undefined);
  for (const name of ['oldest', 'next']) blobs.remove(name);
  for (let n = 0; n < 100_000 - 1; n++) blobs.remove(`other ${n}`);
  resume();
  await eventually(async () => assert.deepEqual(await blobs.read(['oldest', 'next']), [Buffer.from('x'), undefined]));
});
