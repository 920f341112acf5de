import type { IsClientClaim } from './client-claims.ts';
import { toLowerName } from './header-names.ts';
import { type HeaderList, hopByHopHeaders, removeConnectionHeaders } from './headers.ts';

/** Reason of the refusal, for the client. */
export interface InvalidRequest {
  readonly status: number;
  readonly fault: string;
}

const invalid = (fault: string, status = 400): InvalidRequest => ({ status, fault });

/** Lower-case, without port and trailing dot. */
export function normalizeHostHeader(authority: string): string {
  const host = authority.toLowerCase();
  const name = host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.split(':', 1)[0]!;
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

const authorityPattern = /^(?:[A-Za-z0-9_~.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Host with optional port, restricted to characters every parser reads the same way. */
export const isAuthority = (text: string): boolean => authorityPattern.test(text);

/** Host headers that were read lately: clients repeat them, and checking one costs more than comparing it. */
const maxCachedHosts = 64;
const cachedHosts = Array.from({ length: maxCachedHosts }, () => ({ header: '', host: '' }));

/** Normalized host of a Host header; undefined for an invalid one. */
export function readHostHeader(header: string): string | undefined {
  const { length } = header;
  const hash =
    length + 3 * header.charCodeAt(0) + 5 * header.charCodeAt(length >> 1) + 7 * header.charCodeAt(length - 1);
  const cached = cachedHosts[hash % maxCachedHosts];
  if (cached !== undefined && cached.header === header) return cached.host;
  if (!isAuthority(header)) return undefined;
  const host = normalizeHostHeader(header);
  // Copies: a slice would hold the memory of its whole head.
  cachedHosts[hash % maxCachedHosts] = { header: copyText(header), host: copyText(host) };
  return host;
}

const copyText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Credentials of the gateway itself, not forwarded to upstreams when a client sends them by mistake. */
const gatewayCredentials: ReadonlySet<string> = new Set(['x-gw-authorization', 'admin-auth', 'x-gw-explain']);

export const isGatewayCredential = (name: string): boolean => gatewayCredentials.has(name);

/** Removes gateway credentials, except a header the API reads its keys from. */
export function removeGatewayCredentials(headers: HeaderList, isApiKeyHeader: (name: string) => boolean): void {
  for (const name of gatewayCredentials) if (!isApiKeyHeader(name)) headers.remove(name);
}

/** Singleton headers: with two of them the gateway and the upstream could each read another one. */
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

/** Bit per header name; most names have none. */
const headerKinds: ReadonlyMap<string, number> = new Map([
  ...[...hopByHopHeaders].map(name => [name, hopByHopBit] as const),
  ...[...gatewayCredentials].map(name => [name, gatewayCredentialBit] as const),
  ...Object.entries(singletonBits),
]);
const kindOf = (name: string, isClientClaim: IsClientClaim) =>
  headerKinds.get(name) ?? (isClientClaim(name) ? claimBit : 0);

/** True when `validateHead` treats a lower-case name as a client claim; headers with a kind of their own never are. */
export const isClaimHeader = (name: string, isClientClaim: IsClientClaim): boolean =>
  kindOf(name, isClientClaim) === claimBit;

/**
 * Validates a request head before an exchange is created: refuses what two parsers could read differently (request
 * smuggling) and drops headers clients may not send. A name with `_` for `-` counts as that name, since some upstreams
 * treat them alike.
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
    const name = toLowerName(flat[i]!);
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
  if ((seen & bothFramingBits) === bothFramingBits)
    return invalid('the head has both Content-Length and Transfer-Encoding');
  // Before a step adds a header of that name, which must be forwarded.
  if (connectionValue !== '') removeConnectionHeaders(headers, connectionValue);
  return undefined;
}

function validateSingleton(name: string, value: string, isSecond: boolean): InvalidRequest | undefined {
  if (isSecond) return invalid(`the ${toTitleCase(name)} header is repeated`);
  if (name === 'content-length' && !/^\d{1,15}$/.test(value)) return invalid('the Content-Length is not a number');
  if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked')
    return invalid('the Transfer-Encoding is not chunked', 501);
  return undefined;
}

const toTitleCase = (name: string) => name.replace(/(?:^|-)[a-z]/g, letter => letter.toUpperCase());
