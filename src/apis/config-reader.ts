import { Problem } from '#base/problems.ts';
import { createTimeSlices } from '#base/time-slices.ts';
import { type Vault, vaultProblem } from '#base/vault.ts';
import { defaultOrgMetaName } from '#people/installation/default-organisation.ts';
import type { GrantRow, StoredGrants } from '#people/organisations/grants.ts';
import type { Reader } from '#storage/reader.ts';
import type { Topic } from '#storage/records.ts';
import type { StoredApi } from './api/schema.ts';
import { type ApiRow, openApiSecrets } from './api/sealing.ts';

export interface ConfigChange {
  readonly topic: Topic;
  /** Empty: everything of the topic. */
  readonly id: string;
}

export interface ConfigChanges {
  readonly revision: number;
  /** Undefined when the log no longer reaches back that far: everything must be reloaded. */
  readonly changes: readonly ConfigChange[] | undefined;
}

/** SQL placeholders, one for each value. */
export const buildPlaceholders = (values: readonly unknown[]) => values.map(() => '?').join(', ');

/** Values one statement may carry on every engine. */
const maxIdsPerQuery = 500;
/** Page size: bounds the duration of one query on a table of any size. */
const maxRowsPerPage = 1000;
/** Rows of APIs are large, and are read while the thread serves requests. */
const maxApisPerPage = 200;
/** Longest time for which parsing rows holds up the requests of the thread. */
const maxParseSliceMs = 1;

/** An API to be compiled. */
export interface ApiToCompile {
  readonly stored: StoredApi;
  /** Empty, or why its secrets cannot be unsealed: it is then unavailable, the others are served. */
  readonly secretsError: string;
}

export function parseApi(vault: Vault, body: string): ApiToCompile {
  const row = JSON.parse(body) as ApiRow;
  try {
    return { stored: openApiSecrets(vault, row), secretsError: '' };
  } catch (error) {
    if (!(error instanceof Problem && error.code === vaultProblem.cannot_open.code)) throw error;
    return { stored: row, secretsError: error.message };
  }
}

/** Parses in time slices, so that requests are served between them. */
async function parseRows(vault: Vault, rows: readonly { readonly body: string }[]): Promise<ApiToCompile[]> {
  const slices = createTimeSlices(maxParseSliceMs);
  const apis: ApiToCompile[] = [];
  for (const { body } of rows) {
    apis.push(parseApi(vault, body));
    const pause = slices.pauseIfDue();
    if (pause) await pause;
  }
  return apis;
}

/** Keyset pagination by id. `select` lists the columns, `id` among them. */
export async function* readPages<R extends { id: string }>(
  reader: Reader,
  select: string,
  pageSize = maxRowsPerPage,
): AsyncGenerator<readonly R[]> {
  for (let last = ''; ; ) {
    const rows = await reader.rows<R>(`${select} where id > ? order by id limit ?`, [last, pageSize]);
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    last = rows.at(-1)!.id;
  }
}

/** Reads the configuration of traffic threads from the database. */
export function createConfigReader(reader: Reader, vault: Vault) {
  async function readInBatches<R>(sql: (marks: string) => string, ids: readonly string[]): Promise<R[]> {
    const found: R[] = [];
    for (let at = 0; at < ids.length; at += maxIdsPerQuery) {
      const part = ids.slice(at, at + maxIdsPerQuery);
      found.push(...(await reader.rows<R>(sql(buildPlaceholders(part)), part)));
    }
    return found;
  }

  return {
    async revision(): Promise<number> {
      const [row] = await reader.rows<{ value: string }>("select value from meta where name = 'revision'", []);
      return Number(row?.value ?? 0);
    },
    /**
     * One statement: a commit between two would be skipped for good. Every revision has rows, so a thread's revision
     * is present as long as the log reaches back to it.
     */
    async changesSince(revision: number): Promise<ConfigChanges> {
      const rows = await reader.rows<ConfigChange & { revision: number }>(
        'select revision, topic, id from changes where revision >= ? order by revision',
        [revision],
      );
      const first = rows.length > 0 ? Number(rows[0]!.revision) : undefined;
      const last = rows.length > 0 ? Number(rows.at(-1)!.revision) : undefined;
      if (first === revision || (revision === 0 && (first ?? 1) === 1))
        return { revision: last ?? 0, changes: rows.filter(row => Number(row.revision) > revision) };
      // A database restored from a backup has no later revisions.
      return { revision: last ?? (await this.revision()), changes: undefined };
    },
    async allApis(): Promise<ApiToCompile[]> {
      const found: ApiToCompile[] = [];
      const pages = readPages<{ id: string; body: string }>(reader, 'select id, body from apis', maxApisPerPage);
      for await (const rows of pages) found.push(...(await parseRows(vault, rows)));
      return found;
    },
    /** Grants of all organisations, and the operator's organisation. */
    async grants(): Promise<StoredGrants> {
      const [row] = await reader.rows<{ value: string }>('select value from meta where name = ?', [defaultOrgMetaName]);
      const rows = await reader.rows<GrantRow>('select org_id, body from organisation_grants', []);
      return { operatorOrgId: row?.value ?? '', rows };
    },
    async apis(databaseIds: readonly string[]): Promise<ApiToCompile[]> {
      const rows = await readInBatches<{ body: string }>(
        list => `select body from apis where id in (${list})`,
        databaseIds,
      );
      return parseRows(vault, rows);
    },
  };
}

export type ConfigReader = ReturnType<typeof createConfigReader>;
