import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/** Beside the installed packages: write access there is write access to the program anyway. */
const directory = join(import.meta.dirname, '../../node_modules/.cache/gatewright');

/** Enables Node's on-disk compile cache. Without write access every start compiles again. */
export function useCompileCache(): void {
  enableCompileCache(directory);
  // Worker threads read the variable.
  process.env.NODE_COMPILE_CACHE ??= directory;
}

/** Flushes the cache now: a process that is killed writes none at its end. */
export const writeCompileCache = (): void => flushCompileCache();
