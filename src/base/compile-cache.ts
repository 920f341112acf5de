import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/** Beside what is installed: whoever may write there could change the program itself. */
const directory = join(import.meta.dirname, '../../node_modules/.cache/gatewright');

/** Keeps what the engine makes of each file for the next start. Where that cannot be written, every start does it anew. */
export function useCompileCache(): void {
  enableCompileCache(directory);
  // Threads look here.
  process.env.NODE_COMPILE_CACHE ??= directory;
}

/** Without waiting for the end, which may come suddenly. */
export const writeCompileCache = (): void => flushCompileCache();
