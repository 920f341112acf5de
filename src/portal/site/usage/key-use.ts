import { dayMs } from '#analytics/time-buckets.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { toBatches } from '../../batch-store.ts';
import { listKeyHashes, type StoredCredential } from '../../credentials/schema.ts';
import type { SiteServices } from '../page.ts';
import { createOrganisationFinder } from './organisation-finder.ts';

/** Credentials of one page of the site whose calls are read: the newest ones. */
export const maxPageKeys = 500;
/** Calls before are not looked for. */
export const lastUseDays = 90;

/** A credential with its request. */
interface HashedKey {
  readonly credential: Pick<StoredCredential, 'ID' | 'CredentialHash' | 'FormerHashes'>;
  readonly request: Pick<StoredAccessRequest, 'ProviderID'>;
}

/** With the key, by which its provider is asked. */
export interface CountedKey extends HashedKey {
  readonly credential: HashedKey['credential'] & Pick<StoredCredential, 'Credential'>;
}

export type KeyCallServices = Pick<SiteServices, 'clock' | 'usage' | 'portal' | 'defaultOrgId'>;

export interface KeyCalls {
  readonly calls: number;
  readonly lastUsedMs: number;
}

/** The newest ones first. */
export const selectNewest = <T extends HashedKey>(keys: readonly T[], max: number): T[] =>
  keys.toSorted((a, b) => b.credential.ID - a.credential.ID).slice(0, max);

/**
 * Calls of the last days by credential, those of its rotated keys included; another installation counts those of remote
 * providers. Hashes are read in batches: a credential has several, and one query a bounded number.
 */
export async function readKeyCalls(
  keys: readonly HashedKey[],
  days: number,
  services: KeyCallServices,
): Promise<Map<number, KeyCalls>> {
  const now = services.clock.now();
  const span = { from: now - days * dayMs, to: now + dayMs };
  const findOrganisation = createOrganisationFinder(services);
  const ownerOf = new Map<string, number>();
  const hashesOf = new Map<string, string[]>();
  for (const { credential, request } of keys) {
    const orgId = await findOrganisation(request.ProviderID);
    if (orgId === undefined) continue;
    const hashes = listKeyHashes(credential);
    for (const hash of hashes) ownerOf.set(hash, credential.ID);
    const ofOrganisation = hashesOf.get(orgId);
    if (ofOrganisation) ofOrganisation.push(...hashes);
    else hashesOf.set(orgId, hashes);
  }
  const found = new Map<number, KeyCalls>();
  for (const [orgId, hashes] of hashesOf)
    for (const keyHashes of toBatches(hashes)) {
      const query = { orgId, ...span, keyHashes, groups: ['key'], order: 'last_hit', ascending: false } as const;
      const { items } = await services.usage.page(query, { page: 1, size: keyHashes.length });
      for (const { key, hits, last_hit } of items) {
        const id = ownerOf.get(String(key))!;
        const { calls = 0, lastUsedMs = 0 } = found.get(id) ?? {};
        found.set(id, { calls: calls + Number(hits), lastUsedMs: Math.max(lastUsedMs, Number(last_hit)) });
      }
    }
  return found;
}
