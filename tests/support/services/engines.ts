import { type Database, freshDatabase, freshMigratedDatabase, startPostgres } from './postgres.ts';
import { freshRedis, startRedis } from './redis.ts';

/**
 * The engines of this run: those that `npm test` started, or, when one test file is run by hand, some of this process's
 * own that end with it.
 */

export const engines = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof engines)[number];

let postgresUrl: Promise<string> | undefined;
let redisUrl: Promise<string> | undefined;

/** A fresh, empty database for one test file. */
export const testPostgres = async (): Promise<Database> => freshDatabase(await findPostgres());

/** A fresh database with the tables of this release, for products that start often. */
export const testMigratedPostgres = async (): Promise<Database> => freshMigratedDatabase(await findPostgres());

function findPostgres(): Promise<string> {
  postgresUrl ??= findConfiguredUrl('GW_TEST_POSTGRES_URL') ?? startOwned(startPostgres);
  return postgresUrl;
}

/** The url of an empty Redis database for one test file. */
export async function testRedis(): Promise<string> {
  redisUrl ??= findConfiguredUrl('GW_TEST_REDIS_URL') ?? startOwned(startRedis);
  return freshRedis(await redisUrl);
}

function findConfiguredUrl(name: string): Promise<string> | undefined {
  const url = process.env[name];
  return url ? Promise.resolve(url) : undefined;
}

async function startOwned(start: () => Promise<{ url: string; stopNow(): void }>): Promise<string> {
  const engine = await start();
  process.once('exit', () => engine.stopNow());
  return engine.url;
}
