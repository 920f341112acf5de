import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openRecords } from '#storage/records.ts';
import { postgresBin } from '../../../tools/services.ts';
import { type Identity, type Server, startServer } from './server.ts';

export interface Database {
  url: string;
  drop(): Promise<void>;
}

export interface Postgres extends Omit<Server, 'port'> {
  url: string;
  /** A fresh, empty database. */
  database(): Promise<Database>;
  stop(): Promise<void>;
  stopNow(): void;
}

export interface PostgresOptions {
  /** Makes commits reach the disk, for tests of what survives a crash. Off by default because it is slow. */
  fsync?: boolean;
}

const run = promisify(execFile);

/** Starts a throw-away cluster of its own in a temporary directory. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const bin = postgresBin();
  const identity = findUnprivilegedUser();
  const directory = mkdtempSync(join(tmpdir(), 'gw-postgres-'));
  if (identity) chownSync(directory, identity.uid, identity.gid);
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  try {
    await run(
      join(bin, 'initdb'),
      ['-D', directory, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
      { cwd: directory, ...identity },
    );
    const { port, ...server } = await startServer({
      program: join(bin, 'postgres'),
      args: at => ['-D', directory, '-p', String(at), ...settings(options)],
      identity,
      // An immediate shutdown: like a crash, the next start recovers from the log.
      killSignal: 'SIGQUIT',
      answers: at => withClient(`postgresql://postgres@127.0.0.1:${at}/postgres`, client => client.query('select 1')),
    });
    const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    return {
      ...server,
      url,
      database: () => freshDatabase(url),
      async stop() {
        await server.kill();
        remove();
      },
      stopNow() {
        server.killNow();
        waitWhileExists(join(directory, 'postmaster.pid'));
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Makes a database in the cluster whose administrator's url is given: empty, or a copy of another. */
export async function freshDatabase(adminUrl: string, template = 'template1'): Promise<Database> {
  const name = `gw_${randomBytes(8).toString('hex')}`;
  await withClient(adminUrl, client => client.query(`create database ${name} template ${template}`));
  return {
    url: withDatabase(adminUrl, name),
    async drop() {
      await withClient(adminUrl, client => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

const migrations = join(import.meta.dirname, '../../../src/storage/migrations');

/**
 * Name of the database of the cluster with the tables of this release and no row: the first caller makes it. The name
 * has a digest of the migrations, because mutants of one run share a cluster.
 */
function nameMigratedTemplate(): string {
  const digest = createHash('sha256');
  for (const file of readdirSync(migrations).sort()) digest.update(file).update(readFileSync(join(migrations, file)));
  return `gw_migrated_${digest.digest('hex').slice(0, 16)}`;
}

/** Makes a copy of a migrated database: a start on it takes half of the processor time of one that migrates. */
export async function freshMigratedDatabase(adminUrl: string): Promise<Database> {
  const migratedTemplate = nameMigratedTemplate();
  await withClient(adminUrl, async client => {
    const findTemplate = () => client.query('select 1 from pg_database where datname = $1', [migratedTemplate]);
    if ((await findTemplate()).rowCount) return;
    await client.query('select pg_advisory_lock(1)');
    if ((await findTemplate()).rowCount) return;
    const unfinished = `${migratedTemplate}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await (await openRecords({ url: withDatabase(adminUrl, unfinished) })).close();
    await client.query(`alter database ${unfinished} rename to ${migratedTemplate}`);
  });
  return freshDatabase(adminUrl, migratedTemplate);
}

function withDatabase(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function settings({ fsync = false }: PostgresOptions): string[] {
  const given = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    // Its workers would visit the many small databases of a run.
    autovacuum: 'off',
    jit: 'off',
    shared_buffers: '32MB',
    fsync: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
    synchronous_commit: fsync ? 'on' : 'off',
  };
  return Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** A server that is ending still writes, and its last act removes this file. Waits without the event loop. */
function waitWhileExists(path: string): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let turn = 0; turn < 500 && existsSync(path); turn++) Atomics.wait(nobody, 0, 0, 10);
}

/** PostgreSQL refuses to run as root, so root lends it another user of the machine. */
function findUnprivilegedUser(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user) throw new Error('PostgreSQL does not run as root: please add a user named postgres.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
