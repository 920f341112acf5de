import { isObject } from '#base/json-tree.ts';

/**
 * Portable names of certificates: a stored id is the id of the organisation followed by the fingerprint. In a
 * configuration the fingerprint stands with a prefix, so that another organisation can apply it.
 */
const prefix = 'certificate:';
const fingerprint = '[0-9a-f]{64}';
const portableName = new RegExp(`\\b${prefix}(${fingerprint})(?![0-9a-f])`, 'g');

export function toPortableCertificates<T>(definition: T, orgId: string): T {
  if (orgId === '') return definition;
  const storedId = new RegExp(`(?<![\\w-])${escapeRegex(orgId)}(${fingerprint})(?![0-9a-f])`, 'g');
  return mapTexts(definition, text => (text.includes(orgId) ? text.replaceAll(storedId, `${prefix}$1`) : text)) as T;
}

export const toStoredCertificates = <T>(definition: T, orgId: string): T =>
  mapTexts(definition, text => (text.includes(prefix) ? text.replaceAll(portableName, `${orgId}$1`) : text)) as T;

const escapeRegex = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** Maps every text value; returns the same object where none changes. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) {
    const items = value.map(item => mapTexts(item, map));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, mapTexts(member, map)] as const);
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value;
}
