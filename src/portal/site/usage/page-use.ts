import type { StoredPlan } from '../../plans/schema.ts';
import type { QuotaUse } from '../../quota-notices/quota-notices.ts';
import type { SiteServices } from '../page.ts';
import { type CountedKey, type KeyCalls, lastUseDays, maxPageKeys, readKeyCalls, selectNewest } from './key-use.ts';
import { readQuotaLeft } from './quota-left.ts';

/** Use of keys by the number of their credential. */
export interface PageUse {
  readonly calls: ReadonlyMap<number, KeyCalls>;
  readonly quotas: ReadonlyMap<number, QuotaUse>;
}

type LimitedKeys = readonly (CountedKey & { readonly plan: StoredPlan | undefined })[];

/** Use that can be read, or none: a page is shown without it. */
async function orNone<T>(read: Promise<Map<number, T>>, { log }: SiteServices): Promise<Map<number, T>> {
  try {
    return await read;
  } catch (error) {
    log.error({ err: error }, 'use of keys unreadable');
    return new Map();
  }
}

export const readPageQuotas = (keys: LimitedKeys, services: SiteServices): Promise<Map<number, QuotaUse>> =>
  orNone(readQuotaLeft(keys, services), services);

/** Use of the keys of a page, as far as it can be read: without it, the page still shows a key that is shown once. */
export async function readPageUse(keys: LimitedKeys, services: SiteServices): Promise<PageUse> {
  const calls = await orNone(readKeyCalls(selectNewest(keys, maxPageKeys), lastUseDays, services), services);
  return { calls, quotas: await readPageQuotas(keys, services) };
}
