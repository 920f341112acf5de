import type { IsClientClaim } from '../server/client-claims.ts';
import { dropNamed, type HeaderList, hopByHop } from './headers.ts';

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

/** Credentials of this installation. Whoever sends them by mistake to an API does not hand them to its upstream. */
const ownCredentials: ReadonlySet<string> = new Set(['x-gw-authorization', 'admin-auth', 'x-gw-explain']);

export const isOwnCredential = (name: string): boolean => ownCredentials.has(name);

/** Takes the installation's own credentials off a request, but for a header the API reads its keys from. */
export function dropOwnCredentials(headers: HeaderList, isKeptHeader: (name: string) => boolean): void {
  for (const name of ownCredentials) if (!isKeptHeader(name)) headers.remove(name);
}

/** Read by us and by the upstream: with two of them, each could take another one for the right one. */
const single = { host: 1, 'content-type': 2, authorization: 4, 'content-length': 8, 'transfer-encoding': 16 } as const;
const bothFramings = single['content-length'] | single['transfer-encoding'];
const isSingle = 31;
const isClaim = 32;
const isHop = 64;
const isOwn = 128;

/** What is particular about a name. Most names are not here. */
const kinds: ReadonlyMap<string, number> = new Map([
  ...[...hopByHop].map(name => [name, isHop] as const),
  ...[...ownCredentials].map(name => [name, isOwn] as const),
  ...Object.entries(single),
]);
const kindOf = (name: string, isClientClaim: IsClientClaim) => kinds.get(name) ?? (isClientClaim(name) ? isClaim : 0);

/** Whether `inspectHead` takes a lower-case name for a client claim: no setting makes one of a header with a kind of its own. */
export const isClaimHeader = (name: string, isClientClaim: IsClientClaim): boolean =>
  kindOf(name, isClientClaim) === isClaim;

/**
 * Looks at the head of a call before anything is made of it: refuses what two readers could understand in two ways, and
 * drops what a caller may not say. A name with `_` for `-` counts as the name, since some upstreams take them for the same.
 */
export function inspectHead(
  headers: HeaderList,
  trusted: boolean,
  most: number,
  isClientClaim: IsClientClaim,
): BadHead | undefined {
  const { flat } = headers;
  if (flat.length > most * 2) return bad(`more than ${most} headers`, 431);
  let kept = 0;
  let seen = 0;
  let named = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    const value = flat[at + 1]!;
    const isAlias = name.includes('_');
    const kind = kindOf(isAlias ? name.replaceAll('_', '-') : name, isClientClaim);
    if (kind !== 0) {
      if (isAlias || (kind === isClaim && !trusted)) continue;
      if (kind & isSingle) {
        const fault = singleFault(name, value, (seen & kind) !== 0);
        if (fault) return fault;
        seen |= kind;
      } else if (kind === isOwn) headers.holdsOwnCredentials = true;
      else if (name === 'connection') named = named ? `${named},${value}` : value;
    }
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

function singleFault(name: string, value: string, isSecond: boolean): BadHead | undefined {
  if (isSecond) return bad(`more than one ${name}`);
  if (name === 'content-length' && !/^\d{1,15}$/.test(value)) return bad('a Content-Length that is not a number');
  if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked')
    return bad('a Transfer-Encoding other than chunked', 501);
  return undefined;
}
