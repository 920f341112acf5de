import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Engine } from '#storage/migrate.ts';
import { openRecords, type Records } from '#storage/records.ts';
import { testPostgres } from '../support/services/engines.ts';

/** An empty database of either engine, with its connection settings. */
export interface EmptyDatabase {
  readonly engine: Engine;
  readonly options: { file: string } | { url: string };
  drop(): Promise<void>;
}

const empty: Record<Engine, () => Promise<EmptyDatabase>> = {
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'gw-records-'));
    const drop = async () => rmSync(directory, { recursive: true, force: true });
    return { engine: 'sqlite', options: { file: join(directory, 'gw.db') }, drop };
  },
  async postgres() {
    const { url, drop } = await testPostgres();
    return { engine: 'postgres', options: { url }, drop };
  },
};

/** Declares the same tests for both engines. `fresh` creates an empty database, which is dropped at the end. */
export function onBothEngines(title: string, declare: (fresh: () => Promise<EmptyDatabase>, engine: Engine) => void) {
  for (const engine of ['sqlite', 'postgres'] as const) {
    describe(`${title} (${engine})`, () => {
      const made: EmptyDatabase[] = [];
      const fresh = async () => {
        const database = await empty[engine]();
        made.push(database);
        return database;
      };
      after(async () => {
        for (const database of made) await database.drop();
      });
      declare(fresh, engine);
    });
  }
}

/** The same with one migrated database that all tests of the block share. */
export function withRecords(title: string, declare: (records: () => Records, engine: Engine) => void): void {
  onBothEngines(title, (fresh, engine) => {
    let records: Records;
    before(async () => {
      records = await openRecords((await fresh()).options);
    });
    after(() => records?.close());
    declare(() => records, engine);
  });
}
