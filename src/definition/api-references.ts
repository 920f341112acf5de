import { isObject } from '#base/json-tree.ts';
import { loopName, shortLoopName } from './loop-name.ts';
import { toolSourceSuffix } from './rest-tools/tool-source.ts';

/** API reference: a place in a definition that hands requests to another API of the organisation. */
export interface ApiReference {
  readonly path: string;
  /** As written: an id, a name, or for `isOpen` what stands before the part that a request fills in. */
  readonly name: string;
  /** The rest of the name comes from the request or a variable. */
  readonly isOpen: boolean;
  /** An entry of the list of versions, not a `gw://` address. */
  readonly isVersion: boolean;
}

/** Names by which an API is found. */
export interface NamedApi {
  readonly id: string;
  readonly api_id: string;
  readonly name: string;
}

/**
 * `gw://` addresses in any member, whichever feature holds it: a member that is read as an address one day is found too.
 * Two readers exist, that of target addresses (WHATWG URL, which drops tabs and line ends) and that of rewrites.
 */
export function findLoopReferences(definition: unknown): ApiReference[] {
  const found: ApiReference[] = [];
  function visit(value: unknown, path: string): void {
    if (typeof value === 'string') {
      for (const authority of loopAuthorities(value)) found.push(...referencesOf(path, authority));
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, `${path}[${at}]`);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) visit(member, path === '' ? name : `${path}.${name}`);
    }
  }
  visit(definition, '');
  return found.filter(({ name, isOpen }) => isOpen || (name !== '' && name !== 'self'));
}

/** Whitespace and control characters around an address, and tabs and line ends anywhere, do not count in a URL. */
const looping = /^[\0- ]*g[\t\n\r]*w[\t\n\r]*:/i;
const rewriteLoop = /^gw:\/\/([^/?#]*)/i;

function loopAuthorities(text: string): Set<string> {
  if (!looping.test(text)) return new Set();
  const [, rewritten] = rewriteLoop.exec(text) ?? [];
  return new Set([URL.parse(text)?.host, rewritten].filter(it => it !== undefined));
}

/** `name__mcp-server` is the API of that name, and the tools of the API `name`. */
const referencesOf = (path: string, authority: string): ApiReference[] =>
  authority.endsWith(toolSourceSuffix)
    ? [referenceOf(path, authority), referenceOf(path, authority.slice(0, -toolSourceSuffix.length))]
    : [referenceOf(path, authority)];

function referenceOf(path: string, authority: string): ApiReference {
  const open = authority.indexOf('$');
  return { path, name: open < 0 ? authority : authority.slice(0, open), isOpen: open >= 0, isVersion: false };
}

/** The gateway looks for the name as it is written, then as loops write names, then with runs of `-` as one. */
const spellingsOf = (name: string): string[] => [name, loopName(name), shortLoopName(name)];

const keysOf = ({ id, api_id, name }: NamedApi): string[] =>
  [id, api_id, loopName(name), shortLoopName(name)].filter(Boolean);

/** True where a reference leads, or could lead, to the API. */
export function isReferenceTo({ name, isOpen }: Pick<ApiReference, 'name' | 'isOpen'>, api: NamedApi): boolean {
  const spellings = spellingsOf(name);
  return keysOf(api).some(key => (isOpen ? spellings.some(lead => key.startsWith(lead)) : spellings.includes(key)));
}

/** True where a `gw://` address could mean either of two APIs. */
export const namesOverlap = (one: NamedApi, other: NamedApi): boolean =>
  keysOf(one).some(key => keysOf(other).includes(key));
