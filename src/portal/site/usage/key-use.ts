import { setTimeout as delay } from 'node:timers/promises';
import { dayMs } from '#analytics/time-buckets.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { listKeyHashes, type StoredCredential } from '../../credentials/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import { isProviderFailure } from '../../providers/provider-client.ts';
import { hasQuota, type QuotaUse, readQuotaUse } from '../../quota-notices/quota-notices.ts';
import type { SiteServices } from '../page.ts';
import { createOrganisationFinder } from './daily-usage.ts';

/** Credentials of one page: the newest ones. */
const maxCredentials = 500;
/** Reads of quotas of one page, and the time that it waits for them. */
const maxQuotaReads = 20;
const quotaTimeoutMs = 1500;
/** Calls before are not looked for. */
export const lastUseDays = 90;

/** A credential with its request. */
export interface CountedKey {
  readonly credential: Pick<StoredCredential, 'ID' | 'Credential' | 'CredentialHash' | 'FormerHashes'>;
  readonly request: Pick<StoredAccessRequest, 'ProviderID'>;
}

export interface KeyCalls {
  readonly calls: number;
  readonly lastUsedMs: number;
}

/** Calls of the last days by credential; rotated keys count. Those of remote providers are counted elsewhere. */
export async function readKeyCalls(
  keys: readonly CountedKey[],
  days: number,
  services: SiteServices,
): Promise<Map<number, KeyCalls>> {
  const now = services.clock.now();
  const span = { from: now - days * dayMs, to: now + dayMs };
  const findOrganisation = createOrganisationFinder(services);
  const ownerOf = new Map<string, number>();
  const hashesOf = new Map<string, string[]>();
  for (const { credential, request } of keys.slice(-maxCredentials)) {
    const orgId = await findOrganisation(request.ProviderID);
    if (orgId === undefined) continue;
    for (const hash of listKeyHashes(credential)) {
      ownerOf.set(hash, credential.ID);
      hashesOf.set(orgId, [...(hashesOf.get(orgId) ?? []), hash]);
    }
  }
  const found = new Map<number, KeyCalls>();
  for (const [orgId, all] of hashesOf) {
    const keyHashes = all.slice(-maxCredentials);
    const query = { orgId, ...span, keyHashes, groups: ['key'], order: 'last_hit', ascending: false } as const;
    for (const { key, hits, last_hit } of (await services.usage.page(query, { page: 1, size: maxCredentials })).items) {
      const id = ownerOf.get(String(key))!;
      const { calls = 0, lastUsedMs = 0 } = found.get(id) ?? {};
      found.set(id, { calls: calls + Number(hits), lastUsedMs: Math.max(lastUsedMs, Number(last_hit)) });
    }
  }
  return found;
}

/** Quotas of keys as their providers count them now; without those that fail or do not answer in time. */
export async function readQuotaLeft(
  keys: readonly (CountedKey & { readonly plan: StoredPlan | undefined })[],
  services: SiteServices,
): Promise<Map<number, QuotaUse>> {
  const found = new Map<number, QuotaUse>();
  const read = async ({ credential, request, plan }: (typeof keys)[number]) => {
    const provider = await services.portal.providers.get(request.ProviderID);
    if (!provider || !plan) return;
    try {
      const use = await readQuotaUse(credential, plan, provider, services);
      if (use) found.set(credential.ID, use);
    } catch (error) {
      if (!isProviderFailure(error)) services.log.warn({ err: error }, 'quota of credential unreadable');
    }
  };
  const limited = keys.filter(({ credential, plan }) => credential.Credential !== '' && hasQuota(plan));
  const reads = Promise.all(limited.slice(0, maxQuotaReads).map(read));
  if (limited.length > 0) await Promise.race([reads, delay(quotaTimeoutMs, undefined, { ref: false })]);
  return new Map(found);
}
