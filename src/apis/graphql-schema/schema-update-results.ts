import type { Meta } from '#storage/meta.ts';

/** Last update of the schema of an API by its interval. */
export interface UpdateResult {
  /** ISO time. */
  readonly checked_at: string;
  /** Absent where the schema was read. */
  readonly error?: string;
}

const resultsName = 'graphql.schema_updates.results';
/** Beyond it, results of the oldest APIs are kept. */
const maxResults = 5000;

/** Results of schema updates by database id, as one value: a single process writes it. */
export function createUpdateResults(meta: Meta) {
  async function read(): Promise<Record<string, UpdateResult>> {
    const text = await meta.get(resultsName);
    return text === undefined ? {} : (JSON.parse(text) as Record<string, UpdateResult>);
  }
  return {
    read,
    /** Adds results, and drops those of APIs without updates. */
    async write(updated: Readonly<Record<string, UpdateResult>>, ids: readonly string[]): Promise<void> {
      const all: Record<string, UpdateResult> = { ...(await read()), ...updated };
      const kept = ids.slice(0, maxResults).flatMap(id => (all[id] ? [[id, all[id]] as const] : []));
      await meta.set(resultsName, JSON.stringify(Object.fromEntries(kept)));
    },
  };
}
