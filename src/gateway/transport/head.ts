import { dropNamed, type HeaderList, hopByHop } from '../headers.ts';

/** Why a call is refused before it is one, in words for the caller. */
export interface BadHead {
  readonly status: number;
  readonly fault: string;
}

const bad = (fault: string, status = 400): BadHead => ({ status, fault });

/** Lower-case, without port and final dot. */
export function hostOf(given: string): string {
  const host = given.toLowerCase();
  const name = host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.split(':', 1)[0]!;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

const authority = /^(?:[A-Za-z0-9_~.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** A host and perhaps a port, in characters that every reader takes for the same. */
export const isAuthority = (text: string): boolean => authority.test(text);

/**
 * What stands between a caller and us says about the caller, or about the address it asked for. From anybody but a
 * trusted proxy it is the caller's own claim, and some upstreams believe it.
 */
const claims: ReadonlySet<string> = new Set([
  'client-ip',
  'forwarded',
  'forwarded-for',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-host-override',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-url',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-rewrite-url',
]);
const isClaim = (name: string) => name.startsWith('x-forwarded') || claims.has(name);

/** Read by us and by the upstream: with two of them, each could take another one for the right one. */
const single: ReadonlyMap<string, number> = new Map([
  ['host', 1],
  ['content-type', 2],
  ['authorization', 4],
  ['content-length', 8],
  ['transfer-encoding', 16],
]);
const bothFramings = 24;

/**
 * Looks at the head of a call before anything is made of it: refuses what two readers could understand in two ways, and
 * drops what a caller may not say. A name with `_` for `-` counts as the name, since some upstreams take them for the same.
 */
export function inspectHead(headers: HeaderList, trusted: boolean, most: number): BadHead | undefined {
  const { flat } = headers;
  if (flat.length > most * 2) return bad(`more than ${most} headers`, 431);
  let kept = 0;
  let seen = 0;
  let named = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    const value = flat[at + 1]!;
    const plain = name.includes('_') ? name.replaceAll('_', '-') : name;
    if (plain !== name && (single.has(plain) || hopByHop.has(plain) || isClaim(plain))) continue;
    if (!trusted && isClaim(plain)) continue;
    const mark = single.get(name);
    if (mark !== undefined) {
      if (seen & mark) return bad(`more than one ${flat[at]}`);
      seen |= mark;
      if (name === 'content-length' && !/^\d{1,15}$/.test(value)) return bad('a Content-Length that is not a number');
      if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked')
        return bad('a Transfer-Encoding other than chunked', 501);
    } else if (name === 'connection') named = named ? `${named},${value}` : value;
    if (kept !== at) {
      flat[kept] = flat[at]!;
      flat[kept + 1] = value;
    }
    kept += 2;
  }
  flat.length = kept;
  if ((seen & bothFramings) === bothFramings) return bad('both Content-Length and Transfer-Encoding');
  // Before any step adds a header of that name, which must go on.
  if (named !== '') dropNamed(headers, named);
  return undefined;
}
