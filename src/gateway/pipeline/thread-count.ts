import { availableParallelism } from 'node:os';
import type { Settings } from '#base/settings.ts';

/** SO_REUSEPORT balances connections over threads on Linux only. */
const sharesPorts = process.platform === 'linux';

/** 0: one thread per core. */
export const threadCount = ({ threads }: Pick<Settings, 'threads'>): number =>
  sharesPorts ? threads || availableParallelism() : 1;
