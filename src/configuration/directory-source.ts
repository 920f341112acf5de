import type { Log } from '#base/log.ts';
import type { Environment } from '#base/object-files/environment-references.ts';
import {
  formatFileFault,
  locateFaults,
  type ObjectFile,
  readObjectDirectory,
} from '#base/object-files/object-directory.ts';
import { type DirectoryWatch, watchDirectory } from '#base/object-files/watch-directory.ts';
import { Problem } from '#base/problems.ts';
import { readEnvironment } from '#base/process.ts';
import type { Actor } from '#operations/actor.ts';
import type { ConfigurationServices } from './kind.ts';
import { problem } from './problems.ts';
import { runConfiguration } from './run.ts';
import { type ConfigurationObject, type ConfigurationReport, type Fault, kindNames } from './schema.ts';

/**
 * Configuration from files: a gateway applies a directory to its own database in one transaction, at the start and after
 * every change of files. A set with a fault is refused whole, and the last good one stays in service.
 */
export interface DirectorySourceOptions {
  readonly directory: string;
  readonly environment: Environment;
  readonly services: ConfigurationServices & { defaultOrgId(): Promise<string> };
  readonly log: Log;
}

/** Kinds that live in the files alone. Users and groups are added, but the first administrator has no file. */
const prunedKinds = kindNames.filter(kind => kind !== 'user' && kind !== 'group');

async function applyDirectory(options: DirectorySourceOptions): Promise<ConfigurationReport> {
  const { directory, environment, services } = options;
  const { objects, faults } = readObjectDirectory({ directory, environment, kinds: kindNames });
  if (faults.length > 0) throw createFilesProblem(faults.map(formatFileFault));
  const orgId = await services.defaultOrgId();
  const actor: Actor = {
    surface: 'dashboard',
    id: '',
    name: 'configuration files',
    orgId,
    permissions: { IsAdmin: 'admin' },
  };
  const sent = objects.map(({ kind, id, spec }) => ({ kind, id, spec }) as ConfigurationObject);
  try {
    // Forced: a file is deleted by the operator, who has no other way to confirm it.
    const options = { commits: true, force: true };
    return await runConfiguration(services, actor, { objects: sent, prune: [...prunedKinds], ...options });
  } catch (error) {
    const found = readFaults(error);
    throw found ? createFilesProblem(formatFaults(directory, objects, found)) : error;
  }
}

const createFilesProblem = (lines: readonly string[]) =>
  problem.files_invalid({ detail: { faults: lines.join('\n'), lines } });

function readFaults(error: unknown): readonly Fault[] | undefined {
  if (!(error instanceof Problem) || error.code !== problem.objects_invalid.code) return undefined;
  return (error.detail.members as { Meta: { faults: readonly Fault[] } }).Meta.faults;
}

function formatFaults(directory: string, objects: readonly ObjectFile[], faults: readonly Fault[]): string[] {
  const files = new Map(objects.map(({ kind, id, file }) => [`${kind} ${id}`, file]));
  return faults.flatMap(({ kind, id, path, message }) => {
    const file = files.get(`${kind} ${id}`);
    if (file === undefined) return [`${kind} ${id}: ${message}`];
    return locateFaults(directory, [{ file, path, message }]).map(formatFileFault);
  });
}

/** Lines of a refused set that the log has. */
const maxLoggedFaults = 20;

/** Applies the directory now, where a fault is thrown, and again after every change of its files. */
export async function startConfigurationFiles(
  options: Omit<DirectorySourceOptions, 'environment'>,
): Promise<DirectoryWatch | undefined> {
  if (options.directory === '') return undefined;
  const source = { ...options, environment: readEnvironment() };
  // Before the files are read: a change in between starts another run.
  const watching = watchConfigurationFiles(source);
  try {
    await applyDirectory(source);
    return watching;
  } catch (error) {
    await watching.close();
    throw error;
  }
}

function watchConfigurationFiles(options: DirectorySourceOptions): DirectoryWatch {
  const { directory, log } = options;
  const reload = async () => {
    try {
      const { changes } = await applyDirectory(options);
      log.info({ directory, changes: changes.length }, 'configuration files applied');
    } catch (error) {
      const lines =
        error instanceof Problem ? ((error.detail.lines as string[] | undefined) ?? [error.message]) : undefined;
      if (!lines) log.error({ err: error, directory }, 'configuration files not applied, serving the last good ones');
      else {
        const faults = lines.slice(0, maxLoggedFaults);
        log.error(
          { directory, count: lines.length, faults },
          'configuration files refused, serving the last good ones',
        );
      }
    }
  };
  const watching = watchDirectory(directory, reload);
  watching.ended.catch((err: unknown) => log.error({ err, directory }, 'configuration files no longer watched'));
  return watching;
}
