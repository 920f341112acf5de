import { readFile, stat } from 'node:fs/promises';
import { formatFileStamp } from '#base/file-stamp.ts';
import { classifyAddress } from '#base/http-client/ssrf-guard.ts';
import { loadMaxmindReader } from '#base/lazy-packages.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { every } from '#base/repeat.ts';
import { problem } from '../problems.ts';
import type { LoggedCall } from '../schema.ts';

/** Place of a client; members that the database does not have are absent. */
export type GeoPlace = NonNullable<LoggedCall['geo']>;

/** Places of client addresses, by a MaxMind DB file of the operator. */
export interface GeoDatabase {
  /** Undefined for unknown addresses, and for those that are not public. */
  locate(address: string): GeoPlace | undefined;
  close(): Promise<void>;
}

export interface GeoDatabaseOptions {
  readonly path: string;
  readonly log: Log;
  readonly reloadIntervalMs?: number;
}

const defaultReloadIntervalMs = 10_000;
const maxDatabaseBytes = 1_073_741_824;
/** Places of addresses that were looked up; beyond that the least recently used are evicted. */
const maxCachedAddresses = 20_000;
const maxNameCharacters = 200;
/** Bytes between search tree and data (MaxMind DB 2.0). */
const separatorBytes = 16;

type Lookup = (address: string) => unknown;

/** Opens the file; throws where it cannot be used. A changed file is loaded again, a broken one leaves the old in use. */
export async function openGeoDatabase(options: GeoDatabaseOptions): Promise<GeoDatabase> {
  const { path, log, reloadIntervalMs = defaultReloadIntervalMs } = options;
  let stamp = await readStamp(path);
  let lookUp = await loadDatabase(path);
  const cache = new Lru<string, GeoPlace | null>(maxCachedAddresses);
  let hasFailed = false;

  async function reload(): Promise<void> {
    const found = await readStamp(path);
    if (found === stamp) return;
    // A file that cannot be loaded is not tried again before it changes.
    stamp = found;
    lookUp = await loadDatabase(path);
    cache.clear();
    hasFailed = false;
    log.info({ path }, 'geo database reloaded');
  }

  const reloads = every(reloadIntervalMs, reload, {
    onError: error => log.error({ reason: error.message }, 'geo database not reloaded, the old one stays in use'),
    unref: true,
  });

  function findPlace(address: string): GeoPlace | undefined {
    if (classifyAddress(address).reach !== 'public') return undefined;
    try {
      return toPlace(lookUp(address));
    } catch (error) {
      // Damage inside of the data, which opening cannot see.
      if (!hasFailed) log.error({ reason: (error as Error).message }, 'geo database damaged');
      hasFailed = true;
      return undefined;
    }
  }

  return {
    locate(address) {
      const known = cache.get(address);
      if (known !== undefined) return known ?? undefined;
      const place = findPlace(address);
      cache.set(address, place ?? null);
      return place;
    },
    close: reloads.close,
  };
}

async function readStamp(path: string): Promise<string> {
  try {
    return formatFileStamp(await stat(path));
  } catch (error) {
    throw unusable(path, error);
  }
}

async function loadDatabase(path: string): Promise<Lookup> {
  try {
    const { size } = await stat(path);
    if (size > maxDatabaseBytes) throw new Error(`it is larger than ${maxDatabaseBytes} bytes`);
    const bytes = await readFile(path);
    const { Reader } = loadMaxmindReader();
    const reader = new Reader(bytes);
    const { searchTreeSize, ipVersion } = reader.metadata;
    const isWhole = searchTreeSize > 0 && searchTreeSize + separatorBytes < bytes.length;
    if (!isWhole || (ipVersion !== 4 && ipVersion !== 6)) throw new Error('it is no complete MaxMind DB file');
    return address => (ipVersion === 4 && address.includes(':') ? null : reader.get(address));
  } catch (error) {
    throw unusable(path, error);
  }
}

const unusable = (path: string, error: unknown) =>
  problem.geo_database_unusable({ detail: { path, reason: (error as Error).message }, cause: error });

/** The members of a City or Country database that records have; anything else in it is ignored. */
interface DatabaseRecord {
  readonly country?: { readonly iso_code?: unknown };
  readonly city?: { readonly geoname_id?: unknown; readonly names?: { readonly en?: unknown } };
  readonly location?: { readonly latitude?: unknown; readonly longitude?: unknown; readonly time_zone?: unknown };
}

function toPlace(found: unknown): GeoPlace | undefined {
  const { country, city, location } = Object(found) as DatabaseRecord;
  const isoCode = country?.iso_code;
  if (typeof isoCode !== 'string' || !/^[A-Z]{2}$/.test(isoCode)) return undefined;
  const geonameId = city?.geoname_id;
  const name = city?.names?.en;
  const { latitude, longitude, time_zone: timeZone } = location ?? {};
  return {
    country: { iso_code: isoCode },
    ...(typeof geonameId === 'number' || typeof name === 'string'
      ? {
          city: {
            geoname_id: typeof geonameId === 'number' ? geonameId : 0,
            names: typeof name === 'string' ? { en: name.slice(0, maxNameCharacters) } : {},
          },
        }
      : {}),
    ...(typeof latitude === 'number' && typeof longitude === 'number'
      ? { location: { latitude, longitude, time_zone: typeof timeZone === 'string' ? timeZone : '' } }
      : {}),
  };
}
