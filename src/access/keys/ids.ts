import { createHash } from 'node:crypto';
import { murmur32, murmur64, murmur128 } from '#base/murmur.ts';

/** How a key is named: its two written forms, and the hash that stands for it once the key itself is hidden. */

const hashes = {
  murmur32: (text: string) => murmur32(text),
  murmur64,
  murmur128,
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

export type KeyAlgorithm = keyof typeof hashes;

/** The setting that chooses the form of new keys: empty is the legacy form, an unknown name means murmur64. */
export type KeyAlgorithmSetting = KeyAlgorithm | (string & {});

const isAlgorithm = (name: unknown): name is KeyAlgorithm => typeof name === 'string' && Object.hasOwn(hashes, name);

/** What a key of the JSON form says of itself. */
export interface KeyToken {
  readonly org: string;
  readonly id: string;
  readonly h: string;
}

const withoutOrg = (org: string, id: string) => (id.startsWith(org) ? id.slice(org.length) : id);

/** The full key id of a name or generated id inside an organisation. */
export function formatKeyId(org: string, id: string, algorithm: KeyAlgorithmSetting = ''): string {
  const localId = withoutOrg(org, id);
  if (algorithm === '') return org + localId;
  const token: KeyToken = { org, id: localId, h: isAlgorithm(algorithm) ? algorithm : 'murmur64' };
  return Buffer.from(JSON.stringify(token)).toString('base64');
}

const jsonForm = /^ey[A-Za-z0-9+/]*={0,2}$/;

/** Reads a key of the JSON form; nothing for any other text. */
export function parseKeyToken(text: string): KeyToken | undefined {
  if (!jsonForm.test(text) || text.length % 4 !== 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64').toString());
  } catch {
    // Any text may begin like a token by chance: then it is not one.
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('org' in value) || typeof value.org !== 'string')
    return undefined;
  const id = 'id' in value && typeof value.id === 'string' ? value.id : '';
  const h = 'h' in value && typeof value.h === 'string' ? value.h : '';
  return { org: value.org, id, h };
}

/** The organisation a key names, if it names one. */
export function orgOfKey(text: string): string | undefined {
  return parseKeyToken(text)?.org ?? /^[0-9a-fA-F]{24}/.exec(text)?.[0];
}

/** The handle of a key in lists and logs. A key of the JSON form says how it is hashed; others use murmur32. */
export function keyHash(keyId: string, algorithm: KeyAlgorithmSetting = parseKeyToken(keyId)?.h ?? ''): string {
  return hashes[isAlgorithm(algorithm) ? algorithm : 'murmur32'](keyId);
}

/** Custom names and user names shorter than this are too easily met by chance. */
export const minNameLength = 3;

/** Why a chosen name cannot be a key, if it cannot. */
export function nameFault(name: string, minLength: number = minNameLength): string | undefined {
  return name.length < minLength ? `a key must have at least ${minLength} characters` : undefined;
}

export interface KeyIdLookupOptions {
  /** Organisation of the API the caller asked for. */
  readonly orgId: string;
  readonly algorithm?: KeyAlgorithmSetting;
  /** Algorithms in use before; keys made then still work. */
  readonly formerAlgorithms?: readonly KeyAlgorithmSetting[];
}

/**
 * Key ids a presented text may stand for, most likely first: the id itself, then what a custom name becomes in this
 * organisation, today and before. A key that names another organisation is only ever itself, and the id of the
 * organisation, which names its own limits, is no credential.
 */
export function keyIdCandidates(
  presented: string,
  { orgId, algorithm = '', formerAlgorithms = [] }: KeyIdLookupOptions,
): string[] {
  const token = parseKeyToken(presented);
  if (token && token.org !== orgId) return [presented];
  const name = token ? token.id : presented;
  if (name === '' || name === orgId) return [];
  const forms = [algorithm, ...formerAlgorithms, ''];
  return [...new Set([presented, ...forms.map(form => formatKeyId(orgId, name, form))])];
}
