import type { StoredPlan } from '../../plans/schema.ts';
import type { QuotaUse } from '../../quota-notices/quota-notices.ts';
import type { SiteServices } from '../page.ts';
import { type CountedKey, type KeyCalls, lastUseDays, readKeyCalls } from './key-use.ts';
import { readQuotaLeft } from './quota-left.ts';

/** Use of keys by the number of their credential. */
export interface PageUse {
  readonly calls: ReadonlyMap<number, KeyCalls>;
  readonly quotas: ReadonlyMap<number, QuotaUse>;
}

/** Use of the keys of a page, as far as it can be read: without it, the page still shows a key that is shown once. */
export async function readPageUse(
  keys: readonly (CountedKey & { readonly plan: StoredPlan | undefined })[],
  services: SiteServices,
): Promise<PageUse> {
  const orNone = async <T>(read: Promise<Map<number, T>>): Promise<Map<number, T>> => {
    try {
      return await read;
    } catch (error) {
      services.log.error({ err: error }, 'use of keys unreadable');
      return new Map();
    }
  };
  const calls = await orNone(readKeyCalls(keys, lastUseDays, services));
  return { calls, quotas: await orNone(readQuotaLeft(keys, services)) };
}
