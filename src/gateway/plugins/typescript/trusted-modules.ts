import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Settings } from '#base/settings.ts';
import { ApiCompileError } from '../../pipeline/step.ts';

const require = createRequire(import.meta.url);
const loadModuleFiles = (): typeof import('./module-files.ts') => require('./module-files.ts');

export type TrustedModule = Readonly<Record<string, unknown>>;

/** Result of an import: the module, or why it does not load. */
type Imported = { readonly module: TrustedModule } | { readonly fault: string };

export interface TrustedModules {
  /** True for a file that the operator marked as trusted. */
  isTrusted(path: string): boolean;
  /** Imports trusted files in their present version, so that compiling is synchronous. */
  prefetch(paths: readonly string[]): Promise<void>;
  /** The module as it was prefetched; throws `ApiCompileError` where it does not load. */
  find(path: string): TrustedModule;
}

const versionParameter = 'gw-plugin';
const versionPattern = new RegExp(`\\?${versionParameter}=[0-9a-f]+$`);

let hasResolver = false;

/** Imported files take the version of their importer, so that a change of one of them loads all of them again. */
function registerVersionResolver(): void {
  if (hasResolver) return;
  hasResolver = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const result = nextResolve(specifier, context);
      const [version] = versionPattern.exec(context.parentURL ?? '') ?? [];
      return version && /^\.{1,2}\//.test(specifier) ? { ...result, url: result.url + version } : result;
    },
  });
}

/**
 * Trusted plugins: modules that Node imports into the traffic thread (`plugins.trusted`). The version in the URL of a
 * module is a hash of its files: an unchanged file is imported once. Node keeps earlier versions until the process ends.
 */
export function createTrustedModules(settings: Settings): TrustedModules {
  const directory = settings['plugins.directory'];
  const trusted = new Set(settings['plugins.trusted'].map(path => posix.normalize(path)));
  const loadTimeoutMs = settings['plugins.timeout_ms'];
  const imported = new Map<string, Imported>();

  async function importModule(path: string): Promise<Imported> {
    try {
      const files = loadModuleFiles().readModuleFiles(directory, path);
      const hash = createHash('sha256');
      for (const { name, source } of files) hash.update(`${name}\0${source}\0`);
      const url = pathToFileURL(realpathSync(join(directory, path))).href;
      registerVersionResolver();
      const module = await limitTime(
        import(`${url}?${versionParameter}=${hash.digest('hex').slice(0, 32)}`) as Promise<TrustedModule>,
        loadTimeoutMs,
      );
      return { module };
    } catch (error) {
      if (error instanceof ApiCompileError) return { fault: error.message };
      return { fault: `a plugin does not load: ${describeThrown(error)}` };
    }
  }

  return {
    isTrusted: path => trusted.has(posix.normalize(path)),
    async prefetch(paths) {
      await Promise.all(paths.map(async path => imported.set(posix.normalize(path), await importModule(path))));
    },
    find(path) {
      const found = imported.get(posix.normalize(path));
      if (!found) throw new ApiCompileError(`the plugin ${path} is not loaded`);
      if ('fault' in found) throw new ApiCompileError(found.fault);
      return found.module;
    },
  };
}

/** Settles as the promise does, or rejects after the time. */
export async function limitTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HookTimeout(`the plugin did not end within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** A trusted plugin took too long. */
export class HookTimeout extends Error {}

const maxMessageLength = 500;
const place = /([^/\s():]+)\?gw-plugin=[0-9a-f]+:(\d+)/;

/** Message of a value that a plugin threw, with file and line. */
export function describeThrown(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, maxMessageLength);
  const [, file, line] = place.exec(error instanceof Error ? (error.stack ?? '') : '') ?? [];
  return file === undefined ? message : `${file}:${line}: ${message}`;
}
