import type { ResponseCache } from './response-cache.ts';

/** Response cache that stores nothing: every lookup is a miss. Requests are still coalesced. */
export const createDisabledCache = (): ResponseCache => ({
  find: () => ({ item: undefined, writeToken: undefined, generation: '' }),
  put: () => undefined,
  delete: () => undefined,
  purgeApi: async () => undefined,
});
