import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { keyHash, keyIdCandidates, parseKeyToken } from './ids.ts';
import type { Key } from './schema.ts';

/** Row format of stored keys: lookup digest and sealed body. Shared with read-only users of the table. */

export interface KeyRow {
  id: string;
  org_id: string;
  kind: string;
  digest: string;
  key_hash: string;
  sealed: string;
  body: string;
}

export const idPurpose = 'key';
/** Imported keys in JSON form are found by custom name too. */
const formerAlgorithms = ['murmur64', 'murmur128', 'sha256', 'murmur32'];

export const keyDigest = (vault: Vault, keyId: string): string => vault.digest(keyId, idPurpose);

/** Candidate key ids of a text in an organisation, most likely first. */
export const keyIdsOf = (orgId: string, text: string): string[] => keyIdCandidates(text, { orgId, formerAlgorithms });

/** Key hash for lists, events and logs. */
export const displayHash = (keyId: string, settings: Settings): string =>
  keyHash(keyId, parseKeyToken(keyId)?.h || settings['keys.hash_function']);

/** Seals or opens the secrets inside a key; empty means none. */
function mapKeySecrets(key: Key, transform: (text: string, purpose: string) => string): Key {
  const { hmac_string: hmac, jwt_data: jwt } = key;
  return {
    ...key,
    ...(hmac && { hmac_string: transform(hmac, 'key hmac') }),
    ...(jwt?.secret && { jwt_data: { ...jwt, secret: transform(jwt.secret, 'key jwt') } }),
  };
}

export const serializeKey = (key: Key, vault: Vault): string => JSON.stringify(mapKeySecrets(key, vault.seal));
export const parseKeyBody = (body: string, vault: Vault): Key => mapKeySecrets(JSON.parse(body) as Key, vault.open);
