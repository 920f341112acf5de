import type { MaybePromise } from '#base/maybe-promise.ts';
import type { StoredItem } from './cache-entry.ts';

export interface CacheLookup {
  readonly item: StoredItem | undefined;
  /** Passed to `put`: detects invalidations since this lookup. Undefined: store nothing. */
  readonly writeToken: string | undefined;
  /** Part of the coalescing key: a request after an invalidation does not join one from before it. */
  readonly generation: string;
}

/** Stored responses. A failure of the store is a miss, never a failed request. */
export interface ResponseCache {
  find(apiId: string, key: string): MaybePromise<CacheLookup>;
  /** Returns at once; the write may still be under way. The organisation is the one whose room the item takes. */
  put(apiId: string, key: string, item: StoredItem, writeToken: string, orgId?: string): void;
  delete(apiId: string, key: string): void;
  /** Invalidates all responses of an API, in-flight ones included. Rejects when that is not certain. */
  purgeApi(apiId: string): Promise<void>;
}
