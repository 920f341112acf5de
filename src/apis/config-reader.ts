import { Problem } from '#base/problems.ts';
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
  /** Undefined when the log no longer reaches back that far: everything has to be read anew. */
  readonly changes: readonly ConfigChange[] | undefined;
}

/** A list of `?` as long as the values. */
export const buildPlaceholders = (values: readonly unknown[]) => values.map(() => '?').join(', ');

/** Values one statement may carry on every engine. */
const maxIdsPerQuery = 500;
/** Rows read in one go: a table of any size is read in steps that end in time. */
const maxRowsPerPage = 1000;

/** An API to be compiled. */
export interface ApiToCompile {
  readonly stored: StoredApi;
  /** Empty, or why its secrets cannot be opened: it is then kept and not served, and the others are. */
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

/** A table by its id, in steps. `select` names the columns, and `id` among them. */
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

/** What a traffic thread reads of the records. */
export function createConfigReader(reader: Reader, vault: Vault) {
  async function readInBatches<R>(sql: (marks: string) => string, ids: readonly string[]): Promise<R[]> {
    const found: R[] = [];
    for (let at = 0; at < ids.length; at += maxIdsPerQuery) {
      const part = ids.slice(at, at + maxIdsPerQuery);
      found.push(...(await reader.rows<R>(sql(buildPlaceholders(part)), part)));
    }
    return found;
  }
  const parseRow = ({ body }: { body: string }) => parseApi(vault, body);

  return {
    async revision(): Promise<number> {
      const [row] = await reader.rows<{ value: string }>("select value from meta where name = 'revision'", []);
      return Number(row?.value ?? 0);
    },
    /**
     * One statement: what is committed between two would be passed over for ever. Every revision has its rows, so the one
     * a thread has is there as long as the log reaches back to it.
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
      // A database that was put back to an earlier state knows nothing of what came after it.
      return { revision: last ?? (await this.revision()), changes: undefined };
    },
    async allApis(): Promise<ApiToCompile[]> {
      const found: ApiToCompile[] = [];
      for await (const rows of readPages<{ id: string; body: string }>(reader, 'select id, body from apis'))
        found.push(...rows.map(parseRow));
      return found;
    },
    /** Grants of all organisations, and whose the installation is. */
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
      return rows.map(parseRow);
    },
  };
}

export type ConfigReader = ReturnType<typeof createConfigReader>;
