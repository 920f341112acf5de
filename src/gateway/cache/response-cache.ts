import type { MaybePromise } from '../pipeline/step.ts';
import type { Kept } from './entry.ts';

export interface Found {
  readonly kept: Kept | undefined;
  /** Goes with what is kept in answer to this look: it tells what was forgotten since. Undefined: keep nothing. */
  readonly era: string | undefined;
  /** Calls of one turn may share an answer; another begins when what was known is forgotten. */
  readonly turn: string;
}

/** Where answers are kept. Nothing here fails a call: what cannot be had is not there. */
export interface Responses {
  find(apiId: string, key: string): MaybePromise<Found>;
  /** Never waits. */
  keep(apiId: string, key: string, kept: Kept, era: string): void;
  drop(apiId: string, key: string): void;
  /** Forgets all answers of an API, those that are still on their way included. Rejects when it cannot be sure. */
  forget(apiId: string): Promise<void>;
}
