import {
  type BerElement,
  BerError,
  berTags,
  decodeElements,
  decodeInteger,
  encodeBoolean,
  encodeElement,
  encodeInteger,
  encodeText,
} from './ber.ts';
import { encodeFilter, type LdapFilter } from './filter.ts';

/** LDAPv3 messages (RFC 4511, section 4): what an authentication needs. */

export const ldapTags = {
  bindResponse: 0x61,
  searchEntry: 0x64,
  searchDone: 0x65,
  searchReference: 0x73,
  extendedResponse: 0x78,
};
/** Section 4.1.9. */
export const resultCodes = {
  success: 0,
  sizeLimitExceeded: 4,
  noSuchObject: 32,
  invalidDnSyntax: 34,
  inappropriateAuthentication: 48,
  invalidCredentials: 49,
  insufficientAccessRights: 50,
  unwillingToPerform: 53,
} as const;
const startTlsName = '1.3.6.1.4.1.1466.20037';

export interface LdapMessage {
  readonly id: number;
  readonly operation: BerElement;
}

const encodeMessage = (id: number, operation: Buffer) => encodeElement(berTags.sequence, encodeInteger(id), operation);

/** Simple bind (section 4.2). */
export const encodeBind = (id: number, name: string, password: string) =>
  encodeMessage(id, encodeElement(0x60, encodeInteger(3), encodeText(name), encodeText(password, 0x80)));

export const encodeUnbind = (id: number) => encodeMessage(id, encodeElement(0x42));

export const encodeStartTls = (id: number) => encodeMessage(id, encodeElement(0x77, encodeText(startTlsName, 0x80)));

export interface LdapSearch {
  readonly base: string;
  /** Base object, one level, whole subtree. */
  readonly scope: 0 | 1 | 2;
  readonly filter: LdapFilter;
  readonly userName: string;
  readonly attributes: readonly string[];
  readonly maxEntries: number;
  readonly timeoutSeconds: number;
}

/** Search (section 4.5). Aliases are never dereferenced: they would leave the base. */
export const encodeSearch = (id: number, search: LdapSearch) =>
  encodeMessage(
    id,
    encodeElement(
      0x63,
      encodeText(search.base),
      encodeInteger(search.scope, berTags.enumerated),
      encodeInteger(0, berTags.enumerated),
      encodeInteger(search.maxEntries),
      encodeInteger(search.timeoutSeconds),
      encodeBoolean(false),
      encodeFilter(search.filter, search.userName),
      encodeElement(berTags.sequence, ...search.attributes.map(name => encodeText(name))),
    ),
  );

export function decodeMessage(bytes: Buffer): LdapMessage {
  const [message] = decodeElements(bytes);
  if (message?.tag !== berTags.sequence) throw new BerError('not an LDAP message');
  const [id, operation] = decodeElements(message.content);
  if (id?.tag !== berTags.integer || !operation) throw new BerError('not an LDAP message');
  return { id: decodeInteger(id.content), operation };
}

/** `LDAPResult` (section 4.1.9). */
export function decodeResult({ content }: BerElement): { readonly code: number; readonly diagnostic: string } {
  const [code, , diagnostic] = decodeElements(content);
  if (code?.tag !== berTags.enumerated) throw new BerError('not an LDAP result');
  return { code: decodeInteger(code.content), diagnostic: diagnostic?.content.toString('utf8').slice(0, 200) ?? '' };
}

export interface LdapEntry {
  readonly name: string;
  /** Values by attribute name, lower case. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

export function decodeEntry({ content }: BerElement): LdapEntry {
  const [name, list] = decodeElements(content);
  if (!name || list?.tag !== berTags.sequence) throw new BerError('not a search entry');
  const attributes = new Map<string, readonly string[]>();
  for (const { content: pair } of decodeElements(list.content)) {
    const [type, values] = decodeElements(pair);
    if (!type || values?.tag !== berTags.set) throw new BerError('not an attribute');
    const texts = decodeElements(values.content).map(value => value.content.toString('utf8'));
    attributes.set(type.content.toString('utf8').toLowerCase(), texts);
  }
  return { name: name.content.toString('utf8'), attributes };
}
