import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { publicId } from '#base/ids.ts';
import { type Child, scratch, startChild } from '../child.ts';
import { testPostgres } from '../services/engines.ts';

const { fresh, remove } = scratch('kill');
after(remove);

const user = () => ({
  email_address: `u${publicId()}@example.org`,
  first_name: 'Survives',
  last_name: 'Everything',
});

/** Writes one thing; where it can be read again once it was acknowledged. */
type Write = (child: Child) => Promise<string>;

const writing =
  (path: string, make: () => object, place: (meta: never) => string): Write =>
  async child => {
    const answer = await child.ask('POST', path, { body: make() });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return place(answer.body.Meta as never);
  };

const writes: Write[] = [
  writing('/admin/users', user, ({ id }: { id: string }) => `/admin/users/${id}`),
  writing(
    '/api/users',
    () => ({ ...user(), user_permissions: { users: 'read' } }),
    (id: string) => `/api/users/${id}`,
  ),
  writing(
    '/admin/organisations',
    () => ({ owner_name: publicId() }),
    (id: string) => `/admin/organisations/${id}`,
  ),
];

/** Writes until the child is gone; the paths of what it acknowledged. */
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
async function killedRound(child: Child): Promise<string[]> {
  const most = 60;
  let left = 5 + Math.floor(Math.random() * most);
  const onWrite = () => {
    // The signal is sent while the other writers wait for their answers.
    if (--left === 0) setImmediate(() => child.process.kill('SIGKILL'));
  };
  const writers = [...writes, ...writes].map(write => writeUntilKilled(child, write, onWrite));
  const paths = (await Promise.all(writers)).flat();
  assert.equal((await child.ended).signal, 'SIGKILL');
  return paths;
}

async function lost(child: Child, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async path => (await child.ask('GET', path)).status));
  return paths.filter((_, index) => found[index] !== 200);
}

async function survives(rounds: number, environment: Record<string, string>): Promise<void> {
  const directory = fresh();
  let child = await startChild({ directory, environment });
  const all: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    const paths = await killedRound(child);
    assert.ok(paths.length > 0, 'something was acknowledged');
    all.push(...paths);
    child = await startChild({ directory, environment });
    assert.deepEqual(await lost(child, paths), [], `round ${round}`);
  }
  assert.deepEqual(await lost(child, all), [], 'nothing is lost later either');
  assert.equal((await child.stop()).code, 0);
}

test('what was acknowledged survives twenty kills', async () => {
  await survives(20, {});
});

test('what was acknowledged survives a kill on PostgreSQL', async () => {
  const database = await testPostgres();
  await survives(2, { GW_DATABASE_URL: database.url });
  await database.drop();
});
