import { existsSync } from 'node:fs';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { type AnyOperation, isMutation } from '#operations/operation.ts';
import type { DataDirectory } from '#storage/data-directory.ts';

const problem = problems('files', {
  installation_exists: {
    status: 500,
    message: 'from: the data directory {path} has the database of an installation: choose another with GW_DATA_DIR',
  },
  read_only: { status: 403, message: 'The configuration comes from files: change them in place of this request' },
});

/** Database of a process whose configuration comes from files; that of an installation is never overwritten. */
const filesDatabase = 'files.db';

export function selectDatabase(settings: Settings, directory: DataDirectory): { url: string } | { file: string } {
  if (settings['database.url']) return { url: settings['database.url'] };
  if (!settings.from) return { file: directory.databasePath };
  if (existsSync(directory.databasePath)) throw problem.installation_exists({ detail: { path: directory.path } });
  return { file: directory.pathOf(filesDatabase) };
}

/** Keys and OAuth clients are no configuration: a gateway that reads files stores them in its data directory. */
const writableNouns: ReadonlySet<string> = new Set(['keys', 'oauth', 'cache', 'reload', 'debug', 'explanation']);

/** Rejects writes of configuration where it comes from files. */
export function rejectConfigurationWrite(operation: AnyOperation): void {
  if (isMutation(operation) && !writableNouns.has(operation.noun)) throw problem.read_only();
}
