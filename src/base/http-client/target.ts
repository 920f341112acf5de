import { isIP } from 'node:net';
import { type AddressPolicy, isMetadataHost } from '../address-policy.ts';
import type { Problem } from '../problems.ts';
import { outboundProblem } from './problems.ts';
import { type AddressKind, classifyAddress } from './ssrf-guard.ts';

/** Origin of a URL: configured by an operator, or entered by a visitor of the portal. */
export type Audience = 'operator' | 'visitor';

export interface AudienceRules {
  /** Allows loopback and private networks. */
  readonly allowsLocal: boolean;
  /** Local origins (`http://127.0.0.1:8080`) that are allowed all the same. */
  readonly origins: readonly string[];
}

export const defaultAudienceRules: Readonly<Record<Audience, AudienceRules>> = {
  operator: { allowsLocal: true, origins: [] },
  visitor: { allowsLocal: false, origins: [] },
};

export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A URL whose host was resolved once, to allowed addresses. */
export interface OutboundTarget {
  readonly url: URL;
  readonly host: string;
  readonly addresses: readonly string[];
}

export const maxUrlCharacters = 8192;
const maxAddresses = 16;

export function parseTargetUrl(text: string): URL {
  const url = text.length <= maxUrlCharacters && URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw outboundProblem.bad_url({ detail: { url: text.slice(0, 200) } });
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw outboundProblem.bad_scheme({ detail: { scheme: url.protocol.slice(0, -1) } });
  if (url.username || url.password) throw outboundProblem.credentials_in_url();
  // The URL parser normalises spellings of IP addresses; trailing dots remain.
  url.hostname = url.hostname.replace(/\.+$/, '');
  url.hash = '';
  return url;
}

/** Resolves the host and checks every address: one refused address refuses the target. */
export async function resolveTarget(
  url: URL,
  audience: Audience,
  rules: AudienceRules,
  resolve: ResolveHost,
  policy?: AddressPolicy,
): Promise<OutboundTarget> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isMetadataHost(host)) throw outboundProblem.refused({ detail: { host } });
  // Internal names and addresses are reported only to callers that may reach them.
  const reported = policy === undefined || policy.key === '' ? audience : 'visitor';
  const addresses = isIP(host) ? [host] : await resolveHost(host, reported, resolve);
  for (const address of addresses) {
    const kind = classifyAddress(address);
    if (!isAllowed(rules, url, kind)) throw createRefusal(audience, host, address, kind.about);
    const about = policy?.refuse(address, Number(url.port || (url.protocol === 'https:' ? '443' : '80')));
    if (about !== undefined) throw createRefusal(reported, host, address, about);
  }
  return { url, host, addresses };
}

function isAllowed(rules: AudienceRules, url: URL, { reach }: AddressKind): boolean {
  if (reach === 'local') return rules.allowsLocal || rules.origins.includes(url.origin);
  return reach === 'public';
}

/** Visitors get one error for internal and for unknown names, so that names cannot be probed. */
function createRefusal(audience: Audience, host: string, address: string, about: string): Problem {
  if (audience === 'visitor') return outboundProblem.refused({ detail: { host } });
  return outboundProblem.refused_address({ detail: { host, address, about } });
}

async function resolveHost(host: string, audience: Audience, resolve: ResolveHost): Promise<readonly string[]> {
  const make = audience === 'visitor' ? outboundProblem.refused : outboundProblem.unknown_host;
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw make({ detail: { host }, cause });
  });
  if (addresses.length === 0) throw make({ detail: { host } });
  return addresses.slice(0, maxAddresses);
}
