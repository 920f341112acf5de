import { type Stats, statSync } from 'node:fs';

/** Text that changes when a file is written or replaced. */
export const formatFileStamp = (found: Pick<Stats, 'mtimeMs' | 'size' | 'ino'> | undefined): string =>
  `${found?.mtimeMs}/${found?.size}/${found?.ino}`;

/** Stamp of a file, also of one that does not exist. */
export const readFileStamp = (path: string): string => formatFileStamp(statSync(path, { throwIfNoEntry: false }));
