import { setFlagsFromString } from 'node:v8';

/**
 * The engine learns which objects live long, and from then on makes their kind among the old ones at once. Of traffic it
 * learns that from calls that happen to be under way when it looks: it then makes parts of every call there, where only a
 * collection of the whole memory finds them, the longer the more APIs and keys are remembered. Holds for all threads
 * that are started after it.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
