import { setFlagsFromString } from 'node:v8';

/**
 * Disables V8 allocation-site pretenuring. Requests in flight during a scavenge made V8 allocate per-request objects in
 * old space, where only a full GC frees them, the slower the more APIs and keys are cached. Applies to threads started
 * later.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Lets `releaseMemory` run in threads started later. */
export function exposeCollection(): void {
  setFlagsFromString('--expose-gc');
}
