import { lookup as lookupSystem } from 'node:dns';
import { isIP, isIPv6, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { classifyAddress, parseCidr, toAddressValue } from './http-client/ssrf-guard.ts';
import { SettingError } from './settings-rows.ts';

/**
 * Address policy: which addresses an outbound connection may be opened to. It checks the address that is connected to,
 * after DNS resolution, which defeats DNS rebinding.
 */
export interface AddressPolicy {
  /** The same for the same rules: connections are pooled under it. Empty for all networks. */
  readonly key: string;
  /** Why the address is refused, as a word for a message; undefined when it is allowed. */
  refuse(address: string, port: number): string | undefined;
}

/** Networks by name; CIDR ranges name others. */
export const networkNames = ['public', 'private', 'loopback'] as const;

export interface AddressPolicyOptions {
  /** `public`, `private`, `loopback` or CIDR ranges. */
  readonly networks: readonly string[];
  /** Ports of the management listeners of this process; read at each check, since listeners open later than pools. */
  readonly managementPorts: () => readonly number[];
  /** Address ranges, each with an optional port, that are refused in every network. */
  readonly refused?: readonly string[];
  /** Addresses of this machine. */
  readonly localAddresses?: () => readonly string[];
}

/** The policy refuses the address; no connection was opened. */
class AddressRefused extends Error {
  readonly code = 'GW_ADDRESS_REFUSED';
}

export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const { networks, managementPorts, localAddresses = readLocalAddresses } = options;
  const named = new Set(networks);
  const ranges = networks.filter(network => network.includes('/')).map(parseCidr);
  const refused = (options.refused ?? []).map(parseRefusedAddress);
  const isAll = networkNames.every(name => named.has(name));

  function isLocal(address: string, about: string): boolean {
    if (about === 'loopback') return true;
    const value = toAddressValue(address);
    return localAddresses().some(own => toAddressValue(own) === value);
  }

  return {
    key: isAll ? '' : `networks ${[...named].sort().join(',')}`,
    refuse(address, port) {
      const { reach, about } = classifyAddress(address);
      if (reach === 'forbidden') return about;
      // Interfaces change while a process runs; they are read only for a port that is one of ours.
      if (managementPorts().includes(port) && isLocal(address, about)) return 'a management listener';
      const value = toAddressValue(address);
      if (refused.some(it => value >> it.shift === it.value && (it.port === 0 || it.port === port)))
        return 'refused by a setting';
      if (isAll || ranges.some(it => value >> it.shift === it.value)) return undefined;
      const network = reach === 'public' ? 'public' : about === 'loopback' ? 'loopback' : 'private';
      return named.has(network) ? undefined : about;
    },
  };
}

const readLocalAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(({ address }) => address));

const refusedPattern = /^(?:\[([^\]]+)\]|([^[\]:]+)|([0-9A-Fa-f:.]+(?:\/\d{1,3})?))(?::(\d{1,5}))?$/;

/** `10.0.0.5`, `10.0.0.0/8`, `10.0.0.5:3000`, `fd00::/8`, `[fd00::5]:3000`. */
function parseRefusedAddress(text: string): { value: bigint; shift: bigint; port: number } {
  const [, bracketed, plain, bare, port = '0'] = refusedPattern.exec(text) ?? [];
  const range = bracketed ?? plain ?? bare ?? '';
  const [address = '', bits] = range.split('/');
  const family = isIP(address);
  const maxBits = family === 4 ? 32 : 128;
  if (
    family === 0 ||
    (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)) ||
    Number(port) > 65_535
  )
    throw new SettingError(`${JSON.stringify(text)} is not an IP address or network, with or without a port`);
  return { ...parseCidr(`${address}/${bits ?? maxBits}`), port: Number(port) };
}

/** Throws a `SettingError` for an entry that cannot be read. */
export function validateRefusedAddresses(entries: readonly string[]): void {
  for (const entry of entries) parseRefusedAddress(entry);
}

/** DNS resolution by the system; replaced in tests. */
export type LookupAll = (
  host: string,
  answer: (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void,
) => void;

const lookupAll: LookupAll = (host, answer) =>
  lookupSystem(host, { all: true }, (error, found) => answer(error, error ? [] : found.map(({ address }) => address)));

/** Host names of cloud metadata services, refused before DNS resolution. */
const metadataHosts = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal']);

export const isMetadataHost = (host: string): boolean => metadataHosts.has(host.toLowerCase().replace(/\.+$/, ''));

const createAddressRefused = (host: string, port: number, about: string) =>
  new AddressRefused(`connection to ${host}:${port} refused: its address is ${about}`);

/** Checks a host that needs no lookup: a literal address, or the name of a metadata service. */
export function refuseHost(policy: AddressPolicy, host: string, port: number): AddressRefused | undefined {
  const bare = host.replace(/^\[|\]$/g, '');
  const about = isMetadataHost(bare) ? 'cloud metadata' : isIP(bare) === 0 ? undefined : policy.refuse(bare, port);
  return about === undefined ? undefined : createAddressRefused(host, port, about);
}

/** Default ports of the schemes that addresses are written with; 0 where a port is required. */
const schemePorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'ws:': 80,
  'h2c:': 80,
  'https:': 443,
  'wss:': 443,
  'tcp:': 0,
  'tls:': 0,
};

/** `10.0.0.5`, `10.0.0.5:80`, `[fd00::5]:80/path`: a literal address without a scheme. */
const bareAddress = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#]|$)/i;

/** Checks the host of an address as it is written; undefined also for a name, which is checked when it is resolved. */
export function refuseWrittenAddress(policy: AddressPolicy, text: string): AddressRefused | undefined {
  const address = text.trim();
  const url = URL.parse(bareAddress.test(address) ? `http://${address}` : address);
  const port = url ? schemePorts[url.protocol] : undefined;
  return url && port !== undefined ? refuseHost(policy, url.hostname, Number(url.port || port)) : undefined;
}

/**
 * DNS resolution for `net.connect`: the socket connects to the very addresses that were checked. One refused address
 * refuses the whole answer. Node resolves no literal address: `refuseHost` checks those.
 */
export function createGuardedLookup(policy: AddressPolicy, port: number, resolve = lookupAll): LookupFunction {
  return (host, options, answer) =>
    resolve(host, (error, addresses) => {
      if (error) return answer(error, '', 0);
      const family = options.family === 4 || options.family === 6 ? options.family : 0;
      for (const address of addresses) {
        const about = policy.refuse(address, port);
        if (about !== undefined) return answer(createAddressRefused(host, port, about), '', 0);
      }
      const entries = addresses
        .map(address => ({ address, family: isIPv6(address) ? 6 : 4 }))
        .filter(it => family === 0 || it.family === family);
      const [first] = entries;
      if (!first) answer(Object.assign(new Error(`no address for ${host}`), { code: 'ENOTFOUND' }), '', 0);
      else if (options.all) answer(null, entries);
      else answer(null, first.address, first.family);
    });
}
