import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GuestFile } from './sandbox/guest.ts';

/** `_` as a name of its own: scripts that do not have it save the memory of the library in every image. */
const usage = /(?<![\w$.])_\s*[.(]/;

let library: GuestFile | undefined;

/** Underscore.js, which scripts of the driver `otto` may use without loading it; undefined where none does. */
export function selectUnderscore(files: readonly GuestFile[]): GuestFile | undefined {
  if (!files.some(({ source }) => usage.test(source))) return undefined;
  library ??= {
    name: 'underscore.js',
    source: readFileSync(fileURLToPath(import.meta.resolve('underscore/underscore-umd.js')), 'utf8'),
  };
  return library;
}
