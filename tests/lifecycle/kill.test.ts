import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { Answer } from '../support/app.ts';
import { type Child, scratch, startChild } from '../support/gw-process.ts';
import { testPostgres } from '../support/services/engines.ts';

const { fresh, remove } = scratch('kill');
after(remove);

/** Writes one object; returns the path to read it back once the write was acknowledged. */
type Write = (child: Child) => Promise<string>;

const writing =
  (path: string, make: () => object, place: (answer: Answer['body']) => string): Write =>
  async child => {
    const { status, text, body } = await child.ask('POST', path, { body: make() });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return place(body);
  };

const person = () => ({ email_address: `u${createPublicId()}@example.org`, first_name: 'Survives', last_name: 'All' });
const colleague = () => ({ ...person(), user_permissions: { users: 'read' } });
const hook = () => ({ name: createPublicId(), method: 'POST', target_path: 'http://127.0.0.1:1/hook' });
const policy = () => ({ name: createPublicId(), rate: 1, per: 1, quota_max: -1, access_rights: {} });
const api = () => {
  const name = createPublicId();
  const proxy = { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:1/' };
  return { api_definition: { name, proxy, active: true, use_keyless: false } };
};

/** One kind of object per storage path. Keys need an API to grant. */
async function writesOf(child: Child): Promise<Write[]> {
  const { body: opened } = await child.ask('POST', '/api/apis', { body: api() });
  const right = { api_id: opened.ID, api_name: 'opened', versions: ['Default'] };
  const key = () => ({ alias: createPublicId(), rate: 1, per: 1, access_rights: { [opened.ID]: right } });
  return [
    writing('/admin/users', person, ({ Meta }) => `/admin/users/${Meta.id}`),
    writing('/api/users', colleague, ({ Meta }) => `/api/users/${Meta}`),
    writing(
      '/admin/organisations',
      () => ({ owner_name: createPublicId() }),
      ({ Meta }) => `/admin/organisations/${Meta}`,
    ),
    writing('/api/hooks', hook, ({ ID }) => `/api/hooks/${ID}`),
    writing('/api/portal/policies', policy, ({ Message }) => `/api/portal/policies/${Message}`),
    writing('/api/apis', api, ({ Meta }) => `/api/apis/${Meta}`),
    writing('/api/keys', key, ({ key_id }) => `/api/keys/${key_id}`),
    writing(
      '/portal-api/organisations',
      () => ({ Name: createPublicId() }),
      ({ ID }) => `/portal-api/organisations/${ID}`,
    ),
  ];
}

/** Writes until the child has exited; returns the paths of the acknowledged writes. */
async function writeUntilKilled(child: Child, write: Write, onWrite: () => void): Promise<string[]> {
  const paths: string[] = [];
  for (;;) {
    try {
      paths.push(await write(child));
      onWrite();
    } catch (error) {
      if (!/fetch failed|terminated/.test((error as Error).message)) throw error;
      return paths;
    }
  }
}

/** Kills the child in the middle of its work, after a number of writes that differs each time. */
async function killDuringWrites(child: Child, writes: readonly Write[]): Promise<string[]> {
  const most = 40;
  let left = 5 + Math.floor(Math.random() * most);
  const onWrite = () => {
    // The signal is sent while the other writers wait for their responses.
    if (--left === 0) setImmediate(() => child.process.kill('SIGKILL'));
  };
  const writers = writes.map(write => writeUntilKilled(child, write, onWrite));
  const paths = (await Promise.all(writers)).flat();
  assert.equal((await child.ended).signal, 'SIGKILL');
  return paths;
}

async function findLostWrites(child: Child, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async path => (await child.ask('GET', path)).status));
  return paths.filter((_, index) => found[index] !== 200);
}

async function survives(rounds: number, environment: Record<string, string>): Promise<void> {
  const directory = fresh();
  let child = await startChild({ directory, environment });
  const writes = await writesOf(child);
  const all: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    const paths = await killDuringWrites(child, writes);
    assert.ok(paths.length > 0, 'something was acknowledged');
    all.push(...paths);
    child = await startChild({ directory, environment });
    assert.deepEqual(await findLostWrites(child, paths), [], `round ${round}`);
  }
  assert.deepEqual(await findLostWrites(child, all), [], 'nothing is lost later either');
  assert.equal((await child.stop()).code, 0);
}

test('acknowledged writes survive twenty SIGKILLs', { timeout: 400_000 }, async () => {
  await survives(20, {});
});

test('acknowledged writes survive a SIGKILL on PostgreSQL', async () => {
  const database = await testPostgres();
  await survives(2, { GW_DATABASE_URL: database.url });
  await database.drop();
});
