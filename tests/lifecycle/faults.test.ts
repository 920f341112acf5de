import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ChildOptions, eventually, runChild, scratch, startChild } from '../support/gw-process.ts';
import { startPostgres } from '../support/services/postgres.ts';
import { freePort } from '../support/services/server.ts';

const { fresh, remove } = scratch('faults');
after(remove);

/** Runs a start that must fail: one sentence on stderr, no stack trace, a non-zero exit code. */
async function refusal(options: ChildOptions & { args?: string[] }): Promise<string> {
  const { code, out, err } = await runChild(['start', ...(options.args ?? [])], options);
  assert.notEqual(code, 0);
  assert.equal(out, '');
  const lines = err.trimEnd().split('\n');
  assert.equal(lines.length, 1, err);
  assert.doesNotMatch(err, /^\s+at |\.ts:\d/m);
  return lines[0]!;
}

test('a second process on the same data directory refuses to start, and the first keeps serving', async () => {
  const directory = fresh();
  const first = await startChild({ directory });
  const sentence = `Another gw is running on the data directory ${directory}: stop it, or choose another with GW_DATA_DIR`;
  assert.equal(await refusal({ directory }), sentence);
  assert.equal((await first.ask('GET', '/api/users/me')).status, 200);
  await first.stop('SIGKILL');
  const next = await startChild({ directory });
  assert.equal((await next.stop()).code, 0);
});

test('a port in use fails the start with an error that names the port and its setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  for (const name of ['GATEWAY', 'DASHBOARD', 'PORTAL']) {
    const setting = `GW_${name}_PORT`;
    assert.equal(
      await refusal({ directory: fresh(), environment: { [setting]: String(port) } }),
      `Port ${port} on 127.0.0.1 is in use: stop the process that listens there, or set ${setting}`,
    );
  }
  other.close();
});

test('a listen address that no interface has fails the start', async () => {
  const environment = { GW_DASHBOARD_HOST: '192.0.2.1' };
  assert.match(await refusal({ directory: fresh(), environment }), /^Cannot listen on 192\.0\.2\.1:0: .*EADDRNOTAVAIL/);
});

test('a data directory that cannot be created or is a file fails the start', async () => {
  const file = fresh();
  writeFileSync(file, '');
  for (const directory of [file, join(file, 'below')])
    assert.match(await refusal({ directory }), new RegExp(`^The data directory ${directory} cannot be used: `));
});

test('a file that is no database, or a corrupt one, fails the start and is not modified', async () => {
  const none = fresh();
  mkdirSync(none);
  const garbage = 'this is not a database'.repeat(500);
  writeFileSync(join(none, 'gw.db'), garbage);
  assert.match(await refusal({ directory: none }), /^The database is damaged \(file is not a database\): /);
  assert.equal(statSync(join(none, 'gw.db')).size, garbage.length);

  const damaged = fresh();
  await (await startChild({ directory: damaged })).stop();
  const file = openSync(join(damaged, 'gw.db'), 'r+');
  const { size } = statSync(join(damaged, 'gw.db'));
  writeSync(file, Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096);
  closeSync(file);
  assert.match(
    await refusal({ directory: damaged }),
    /^The database is damaged \(database disk image is malformed\): /,
  );
});

test('an unreachable PostgreSQL fails the start with an error that omits the password', async () => {
  const url = `postgres://gw:canary-password@127.0.0.1:${await freePort()}/gw`;
  const sentence = await refusal({ directory: fresh(), environment: { GW_DATABASE_URL: url } });
  assert.match(sentence, /^The database is unavailable: connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
});

test('an invalid redis.url fails the start', async () => {
  const environment = { GW_REDIS_URL: 'not-an-address-canary' };
  assert.match(await refusal({ directory: fresh(), environment }), /^redis\.url cannot be used: (?!.*canary)/);
});

test('production mode refuses weak secrets and accepts random ones', async () => {
  const environment = { GW_PRODUCTION: 'true', GW_ADMIN_SECRET: 'canary' };
  assert.equal(
    await refusal({ directory: fresh(), environment }),
    'admin.secret: has only 6 bytes; production needs at least 32 random bytes',
  );
  const child = await startChild({ directory: fresh(), args: ['--production'] });
  assert.equal((await child.ask('GET', '/api/users/me')).status, 200);
  await child.stop();
});

test('while PostgreSQL is down writes return 503 and /ready fails, and both recover after it restarts', async () => {
  const postgres = await startPostgres({ fsync: true });
  try {
    const { url } = await postgres.database();
    const child = await startChild({ directory: fresh(), environment: { GW_DATABASE_URL: url } });
    const make = (name: string) => child.ask('POST', '/admin/organisations', { body: { owner_name: name } });
    assert.equal((await make('Before')).status, 200);
    await postgres.kill();
    const refused = await make('Lost');
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.body.Message, /^The database is unavailable: /);
    const part = async () => (await child.ask('GET', '/hello')).body.details.database.status;
    await eventually(async () => (await part()) === 'fail', '/hello reports the database as unavailable');
    assert.equal((await child.ask('GET', '/ready')).status, 503);
    assert.equal((await child.ask('GET', '/live')).status, 200);
    await postgres.restartOnSamePort();
    await eventually(async () => (await part()) === 'pass', '/hello reports the database as available');
    assert.equal((await make('After')).status, 200);
    assert.equal((await child.ask('GET', '/ready')).status, 200);
    const { body } = await child.ask('GET', '/admin/organisations');
    const names = body.organisations.map((it: { owner_name: string }) => it.owner_name);
    assert.deepEqual(names, ['After', 'Before', 'Default organisation']);
    assert.equal((await child.stop()).code, 0);
  } finally {
    await postgres.stop();
  }
});
