import { isObject } from './json-tree.ts';
import { percentDecodeLoosely } from './percent-decode.ts';

/** Reference token of a JSON pointer (RFC 6901, section 3) for a member name. */
export const escapePointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
export const unescapePointerToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** JSON pointer (RFC 6901) of a path. */
export const toJsonPointer = (path: readonly PropertyKey[]): string =>
  path.map(segment => `/${escapePointerToken(String(segment))}`).join('');

/** Member names of a pointer in a URI fragment (RFC 6901, section 6), without its `#/`: percent-decoded first. */
export const parsePointerFragment = (fragment: string): string[] =>
  fragment.split('/').map(token => unescapePointerToken(percentDecodeLoosely(token)));

/** A segment of a member path: an index, a quoted name, or a plain name. */
const segmentPattern = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[]+)/gy;

/**
 * JSON pointer of a member path such as `proxy.target_list[2]` or `paths["/a b"].get`. Names that contain a dot are
 * found in the document that the path is about: the longest member name wins.
 */
export function pointerOfMemberPath(path: string, document: unknown): string {
  const segments: (string | number)[] = [];
  for (const [, index, quoted, name] of path.matchAll(segmentPattern))
    segments.push(index !== undefined ? Number(index) : quoted !== undefined ? JSON.parse(quoted) : name!);
  return toJsonPointer(joinDottedNames(segments, document));
}

function joinDottedNames(segments: readonly (string | number)[], document: unknown): (string | number)[] {
  const joined: (string | number)[] = [];
  let holder = document;
  for (let at = 0; at < segments.length; ) {
    const { name, count } = findLongestName(segments.slice(at), holder);
    joined.push(name);
    holder = readMember(holder, name);
    at += count;
  }
  return joined;
}

function findLongestName(segments: readonly (string | number)[], holder: unknown) {
  if (isObject(holder) && typeof segments[0] === 'string') {
    for (let count = segments.length; count > 1; count--) {
      const name = segments.slice(0, count).join('.');
      if (Object.hasOwn(holder, name)) return { name, count };
    }
  }
  return { name: segments[0]!, count: 1 };
}

function readMember(holder: unknown, name: string | number): unknown {
  if (Array.isArray(holder)) return holder[Number(name)];
  return isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}
