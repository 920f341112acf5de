import type { IsClientClaim } from '../server/client-claims.ts';
import { type HeaderList, hopByHopHeaders, removeConnectionHeaders } from './headers.ts';

/** Why a call is refused before it is one, in words for the caller. */
export interface InvalidRequest {
  readonly status: number;
  readonly fault: string;
}

const invalid = (fault: string, status = 400): InvalidRequest => ({ status, fault });

/** Lower-case, without port and final dot. */
export function normalizeHostHeader(authority: string): string {
  const host = authority.toLowerCase();
  const name = host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.split(':', 1)[0]!;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

const authorityPattern = /^(?:[A-Za-z0-9_~.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** A host and perhaps a port, in characters that every reader takes for the same. */
export const isAuthority = (text: string): boolean => authorityPattern.test(text);

/** Credentials of this installation. Whoever sends them by mistake to an API does not hand them to its upstream. */
const gatewayCredentials: ReadonlySet<string> = new Set(['x-gw-authorization', 'admin-auth', 'x-gw-explain']);

export const isGatewayCredential = (name: string): boolean => gatewayCredentials.has(name);

/** Takes the installation's own credentials off a request, but for a header the API reads its keys from. */
export function removeGatewayCredentials(headers: HeaderList, isApiKeyHeader: (name: string) => boolean): void {
  for (const name of gatewayCredentials) if (!isApiKeyHeader(name)) headers.remove(name);
}

/** Read by us and by the upstream: with two of them, each could take another one for the right one. */
const singletonBits = {
  host: 1,
  'content-type': 2,
  authorization: 4,
  'content-length': 8,
  'transfer-encoding': 16,
} as const;
const bothFramingBits = singletonBits['content-length'] | singletonBits['transfer-encoding'];
const singletonMask = 31;
const claimBit = 32;
const hopByHopBit = 64;
const gatewayCredentialBit = 128;

/** What is particular about a name. Most names are not here. */
const headerKinds: ReadonlyMap<string, number> = new Map([
  ...[...hopByHopHeaders].map(name => [name, hopByHopBit] as const),
  ...[...gatewayCredentials].map(name => [name, gatewayCredentialBit] as const),
  ...Object.entries(singletonBits),
]);
const kindOf = (name: string, isClientClaim: IsClientClaim) =>
  headerKinds.get(name) ?? (isClientClaim(name) ? claimBit : 0);

/** Whether `inspectHead` takes a lower-case name for a client claim: no setting makes one of a header with a kind of its own. */
export const isClaimHeader = (name: string, isClientClaim: IsClientClaim): boolean =>
  kindOf(name, isClientClaim) === claimBit;

/**
 * Looks at the head of a call before anything is made of it: refuses what two readers could understand in two ways, and
 * drops what a caller may not say. A name with `_` for `-` counts as the name, since some upstreams take them for the same.
 */
export function validateHead(
  headers: HeaderList,
  isTrusted: boolean,
  maxHeaders: number,
  isClientClaim: IsClientClaim,
): InvalidRequest | undefined {
  const { flat } = headers;
  if (flat.length > maxHeaders * 2) return invalid(`more than ${maxHeaders} headers`, 431);
  let length = 0;
  let seen = 0;
  let connectionValue = '';
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const value = flat[i + 1]!;
    const isAlias = name.includes('_');
    const kind = kindOf(isAlias ? name.replaceAll('_', '-') : name, isClientClaim);
    if (kind !== 0) {
      if (isAlias || (kind === claimBit && !isTrusted)) continue;
      if (kind & singletonMask) {
        const invalidHeader = validateSingleton(name, value, (seen & kind) !== 0);
        if (invalidHeader) return invalidHeader;
        seen |= kind;
      } else if (kind === gatewayCredentialBit) headers.hasGatewayCredentials = true;
      else if (name === 'connection') connectionValue = connectionValue ? `${connectionValue},${value}` : value;
    }
    if (length !== i) {
      flat[length] = flat[i]!;
      flat[length + 1] = value;
    }
    length += 2;
  }
  flat.length = length;
  if ((seen & bothFramingBits) === bothFramingBits) return invalid('both Content-Length and Transfer-Encoding');
  // Before any step adds a header of that name, which must go on.
  if (connectionValue !== '') removeConnectionHeaders(headers, connectionValue);
  return undefined;
}

function validateSingleton(name: string, value: string, isSecond: boolean): InvalidRequest | undefined {
  if (isSecond) return invalid(`more than one ${name}`);
  if (name === 'content-length' && !/^\d{1,15}$/.test(value)) return invalid('a Content-Length that is not a number');
  if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked')
    return invalid('a Transfer-Encoding other than chunked', 501);
  return undefined;
}
