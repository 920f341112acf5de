import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { createSecretText } from '#base/ids.ts';
import { postgresBin } from '../../tools/services.ts';
import { rememberSecrets } from '../support/app.ts';
import { walkOf } from '../support/doc-commands.ts';
import { type Child, runChild, scratch, startChild } from '../support/gw-process.ts';
import { testPostgres } from '../support/services/engines.ts';

const run = promisify(execFile);
const { fresh, remove } = scratch('backup');
after(remove);

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/backup.md'), 'utf8');

/** A key with its API; both exist in a backup only if it has the configuration and can open its secrets. */
async function publish(child: Child): Promise<string> {
  const definition = {
    ...{ api_id: 'kept', name: 'Kept', use_standard_auth: true },
    proxy: { listen_path: '/kept', target_url: child.urls.gateway, strip_listen_path: true },
  };
  const made = await child.ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
  assert.equal(made.status, 200, made.text);
  const access_rights = { kept: { api_id: 'kept', api_name: 'Kept', versions: ['Default'] } };
  const { body } = await child.ask('POST', '/api/keys', { body: { access_rights } });
  return body.key_id;
}

const callWith = async ({ urls }: Child, key: string) =>
  (await fetch(`${urls.gateway}/kept/hello`, { headers: { authorization: key } })).status;

test('a backup of SQLite by the guide: the restored directory has the configuration, its keys and the credentials', async () => {
  const directories = { DATA: fresh(), BACKUP: fresh(), RESTORED: fresh() };
  const first = await startChild({ directory: directories.DATA });
  const key = await publish(first);
  await walkOf('docs/guide/backup.md').run(directories);
  // Not in the backup.
  assert.equal((await first.ask('DELETE', '/api/apis/kept')).status, 200);
  await first.stop();
  const second = await startChild({ directory: directories.RESTORED });
  // The API of the test calls the gateway of the first process, which is gone: authorised is enough.
  assert.notEqual(await callWith(second, `${key}x`), await callWith(second, key));
  const listed = await second.ask('GET', '/api/apis', { credential: first.credentials.admin_access_key });
  assert.deepEqual([listed.status, listed.body.apis.length], [200, 1]);
  await second.stop();
});

test('a backup of PostgreSQL by the guide, dumped while gw runs, is restored into an empty database', async () => {
  const [database, restored] = [await testPostgres(), await testPostgres()];
  const tools = { PATH: `${postgresBin()}${delimiter}${process.env.PATH}` };
  const files = fresh();
  mkdirSync(files, { recursive: true });
  const runLine = (pattern: RegExp, environment: Record<string, string>) => {
    const [line] = pattern.exec(guide)!;
    return run('sh', ['-c', line], { cwd: files, env: { ...process.env, ...tools, ...environment } });
  };
  const masterKey = createSecretText();
  rememberSecrets({ masterKey });
  const first = await startChild({
    directory: fresh(),
    environment: { GW_DATABASE_URL: database.url, GW_MASTER_KEY: masterKey },
  });
  const key = await publish(first);
  await runLine(/pg_dump .*/, { DATABASE_URL: database.url });

  const environment = { GW_DATABASE_URL: database.url, GW_MASTER_KEY: masterKey };
  const rotated = await runChild(['credentials', '--rotate'], { directory: fresh(), environment });
  assert.equal(rotated.code, 0, rotated.err);
  const old = await first.ask('GET', '/api/apis', { credential: first.credentials.admin_access_key });
  assert.equal(old.status, 401, 'the running process refuses the old credentials at once');
  await first.stop();

  await runLine(/pg_restore .*/, { RESTORED_URL: restored.url });
  const second = await startChild({
    directory: fresh(),
    environment: { GW_DATABASE_URL: restored.url, GW_MASTER_KEY: masterKey },
  });
  assert.notEqual(await callWith(second, `${key}x`), await callWith(second, key));
  const listed = await second.ask('GET', '/api/apis', { credential: first.credentials.admin_access_key });
  assert.deepEqual([listed.status, listed.body.apis.length], [200, 1]);
  await second.stop();
  await Promise.all([database.drop(), restored.drop()]);
});

test('a second role of PostgreSQL in the owning role takes over without a change of the tables', async () => {
  const database = await testPostgres();
  const [owner, next] = ['a', 'b'].map(name => `gw_${name}_${randomBytes(6).toString('hex')}`) as [string, string];
  const withUser = (user: string, password: string) => {
    const url = new URL(database.url);
    Object.assign(url, { username: user, password });
    return url.href;
  };
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  try {
    await admin.query(`create role ${owner} login password 'first'`);
    await admin.query(`grant all on schema public to ${owner}`);
    const directory = fresh();
    const migrate = (url: string) => runChild(['migrate'], { directory, environment: { GW_DATABASE_URL: url } });
    assert.equal((await migrate(withUser(owner, 'first'))).code, 0);
    const statements = /CREATE ROLE gw2[^;`]*;[^`]*(?=`)/
      .exec(guide)![0]
      .replaceAll(/\bgw2\b/g, next)
      .replaceAll(/\bgw\b/g, owner);
    for (const statement of statements.replace('…', 'second').split(';')) await admin.query(statement);
    await admin.query(`alter role ${owner} nologin`);
    const taken = await migrate(withUser(next, 'second'));
    assert.equal(taken.code, 0, taken.err);
    const member = new pg.Client({ connectionString: withUser(next, 'second') });
    await member.connect();
    await member.query('alter table meta add column probe text');
    await member.end();
    const { rows } = await admin.query(`select tableowner from pg_tables where tablename = 'meta'`);
    assert.equal(rows[0].tableowner, owner);
  } finally {
    await admin.end();
    await database.drop();
  }
});
