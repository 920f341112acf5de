import { createHash } from 'node:crypto';
import { murmur32, murmur64, murmur128 } from '#base/murmur.ts';
import { tryParseJson } from '#base/try-parse-json.ts';

/** Key ids: the two written forms, and the hash that represents a key in lists and logs. */

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

/** Content of a key id in JSON form. */
export interface KeyToken {
  readonly org: string;
  readonly id: string;
  readonly h: string;
}

const withoutOrg = (org: string, id: string) => (id.startsWith(org) ? id.slice(org.length) : id);

/** Key id of a name or generated id in an organisation. */
export function formatKeyId(org: string, id: string, algorithm: KeyAlgorithmSetting = ''): string {
  const localId = withoutOrg(org, id);
  if (algorithm === '') return org + localId;
  const token: KeyToken = { org, id: localId, h: isAlgorithm(algorithm) ? algorithm : 'murmur64' };
  return Buffer.from(JSON.stringify(token)).toString('base64');
}

const jsonForm = /^ey[A-Za-z0-9+/]*={0,2}$/;

/** Parses a key id in JSON form; undefined for any other text. */
export function parseKeyToken(text: string): KeyToken | undefined {
  if (!jsonForm.test(text) || text.length % 4 !== 0) return undefined;
  // An opaque key may look like base64.
  const value = tryParseJson(Buffer.from(text, 'base64').toString());
  if (typeof value !== 'object' || value === null || !('org' in value) || typeof value.org !== 'string')
    return undefined;
  const id = 'id' in value && typeof value.id === 'string' ? value.id : '';
  const h = 'h' in value && typeof value.h === 'string' ? value.h : '';
  return { org: value.org, id, h };
}

/** Organisation id embedded in a key, if any. */
export function orgOfKey(text: string): string | undefined {
  return parseKeyToken(text)?.org ?? /^[0-9a-fA-F]{24}/.exec(text)?.[0];
}

/** Key hash for lists and logs. The JSON form names its algorithm; others use murmur32. */
export function keyHash(keyId: string, algorithm: KeyAlgorithmSetting = parseKeyToken(keyId)?.h ?? ''): string {
  return hashes[isAlgorithm(algorithm) ? algorithm : 'murmur32'](keyId);
}

/** Minimum length of custom and user names: shorter ones are guessed too easily. */
const minNameLength = 3;

/** Fault of a chosen name; undefined when valid. */
export function nameFault(name: string, minLength: number = minNameLength): string | undefined {
  return name.length < minLength ? `a key must have at least ${minLength} characters` : undefined;
}

export interface KeyIdLookupOptions {
  /** Organisation of the requested API. */
  readonly orgId: string;
  readonly algorithm?: KeyAlgorithmSetting;
  /** Formerly used algorithms; keys created with them still work. */
  readonly formerAlgorithms?: readonly KeyAlgorithmSetting[];
}

/**
 * Candidate key ids of a presented credential, most likely first: the id itself, then the ids of a custom name in this
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
