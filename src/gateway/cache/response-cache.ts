import type { MaybePromise } from '../pipeline/step.ts';
import type { StoredItem } from './entry.ts';

export interface CacheLookup {
  readonly kept: StoredItem | undefined;
  /** Goes with what is kept in answer to this look: it tells what was forgotten since. Undefined: keep nothing. */
  readonly era: string | undefined;
  /** Calls of one turn may share an answer; another begins when what was known is forgotten. */
  readonly turn: string;
}

/** Where answers are kept. Nothing here fails a call: what cannot be had is not there. */
export interface ResponseCache {
  find(apiId: string, key: string): MaybePromise<CacheLookup>;
  /** Never waits. */
  put(apiId: string, key: string, kept: StoredItem, era: string): void;
  delete(apiId: string, key: string): void;
  /** Forgets all answers of an API, those that are still on their way included. Rejects when it cannot be sure. */
  purgeApi(apiId: string): Promise<void>;
}
