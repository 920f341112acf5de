import type { KeyStore } from '#access/keys/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';

export interface KeyFilterServices {
  keys: KeyStore;
  ownership: Ownership;
}

/** Keys of one filter: the newest that match. */
const maxFilteredKeys = 100;

export interface KeyFilterResult {
  readonly keyHashes: readonly string[] | undefined;
  /** More keys match than the filter has. */
  readonly isCut: boolean;
}

/**
 * Key filter: hashes of the keys that a text names. The text is a hash, which needs no stored key, or with `keys:read` a
 * part of an alias, a user name or a hash, of keys that the caller may see. It is no key: addresses are in logs of proxies.
 */
export async function findKeyHashes(
  { keys, ownership }: KeyFilterServices,
  actor: Actor,
  text: string | undefined,
): Promise<KeyFilterResult> {
  if (text === undefined) return { keyHashes: undefined, isCut: false };
  const named = [text.toLowerCase()];
  if (text === '' || !hasPermission(actor, 'keys:read')) return { keyHashes: named, isCut: false };
  const { apiIds: hiddenApis } = await ownership.findHidden(actor);
  const query = { page: 1, size: maxFilteredKeys, hiddenApis, text };
  const { items, total } = await keys.page(actor.orgId, query);
  return {
    keyHashes: [...new Set([...named, ...items.map(it => it.keyHash)])],
    isCut: total > maxFilteredKeys,
  };
}
