import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { keyHash, keyIdCandidates, parseKeyToken } from './ids.ts';
import type { Key } from './schema.ts';

/** What finding and reading a stored key takes, for those who only read: how it is found, and what its row says. */

export const idPurpose = 'key';
/** Keys brought from installations that wrote ids in the JSON form are found by their name too. */
const formerAlgorithms = ['murmur64', 'murmur128', 'sha256', 'murmur32'];

export const keyDigest = (vault: Vault, keyId: string): string => vault.digest(keyId, idPurpose);

/** The ids a text may stand for in an organisation, most likely first. */
export const keyIdsOf = (orgId: string, text: string): string[] => keyIdCandidates(text, { orgId, formerAlgorithms });

/** The handle of a key in lists, events and logs. */
export const displayHash = (keyId: string, settings: Settings): string =>
  keyHash(keyId, parseKeyToken(keyId)?.h || settings['keys.hash_function']);

/** Secrets inside a key are kept sealed; an empty one says that there is none. */
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
