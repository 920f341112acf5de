import { type FormObject, readFieldValue, toJsonObject, withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';

const info = [gatewayMember, 'info'];
const versioning = [...info, 'versioning'];

interface NamedVersion {
  readonly id: string;
  readonly name: string;
}

/** Document of a base with another name of one version, which may be the base itself; the default follows. */
export function renameVersion(document: FormObject, from: string, to: string): unknown {
  const before = toJsonObject(readFieldValue(document, versioning));
  const versions = (Array.isArray(before.versions) ? before.versions : []) as readonly NamedVersion[];
  const rename = (name: unknown) => (name === from ? to : name);
  return withMember(document, versioning, {
    ...before,
    name: rename(before.name),
    default: rename(before.default),
    versions: versions.map(it => ({ ...it, name: rename(it.name) })),
  });
}

/** Document that refuses requests after a time, `YYYY-MM-DD HH:MM` in UTC; 0 removes the time. */
export const withExpiration = (document: FormObject, seconds: number): unknown =>
  withMember(document, [...info, 'expiration'], seconds === 0 ? undefined : toExpiryText(seconds));

const toExpiryText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');

/** Unix seconds of an expiry; 0 for never. */
export function readExpiry(text: string): number {
  const found = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/.exec(text.trim());
  const ms = found ? Date.parse(`${found[1]}T${found[2]}:00Z`) : Number.NaN;
  return Number.isNaN(ms) ? 0 : ms / 1000;
}
