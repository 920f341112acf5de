import { availableParallelism } from 'node:os';
import type { Settings } from '#base/settings.ts';

/** Where the system lets several threads listen on one port. */
const sharesPorts = process.platform === 'linux';

/** 0 asks for one on each core. */
export const threadCount = ({ threads }: Pick<Settings, 'threads'>): number =>
  sharesPorts ? threads || availableParallelism() : 1;
