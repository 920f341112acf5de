import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createClient } from 'redis';
import { testPostgres, testRedis } from './engines.ts';

test('each test file gets an empty PostgreSQL database of its own', async () => {
  const [one, other] = await Promise.all([testPostgres(), testPostgres()]);
  const client = new pg.Client({ connectionString: one.url });
  await client.connect();
  await client.query('create table mine (id int)');
  await client.end();
  const neighbour = new pg.Client({ connectionString: other.url });
  await neighbour.connect();
  const found = await neighbour.query(`select * from information_schema.tables where table_name = 'mine'`);
  await neighbour.end();
  assert.equal(found.rowCount, 0);
  await one.drop();
  await other.drop();
});

test('each test file gets an empty Redis database of its own', async () => {
  const [one, other] = await Promise.all([testRedis(), testRedis()]);
  const client = await createClient({ url: one }).connect();
  const neighbour = await createClient({ url: other }).connect();
  await client.set('mine', '1');
  assert.equal(await neighbour.get('mine'), null);
  client.destroy();
  neighbour.destroy();
});
