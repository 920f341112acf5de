import { isIP } from 'node:net';
import { classifyAddress } from '#base/http-client/ssrf-guard.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { needsUpstream } from '#definition/required-parts.ts';
import { resolveDots } from '../http/path.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { parseLoopControls } from '../pipeline/loops.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import { createHostStatus, hasUptimeTests, toHostAndPort } from './host-status.ts';
import type { DiscoveredList, ServiceDiscovery } from './service-discovery.ts';
import type { ProxyServices } from './services.ts';

/** Chooses the upstream of each request for one version. */
export interface LoadBalancer {
  /** Set when there is only one upstream. */
  readonly single?: UpstreamAddress;
  /** Undefined when no host is available. */
  next(): MaybePromise<UpstreamAddress | undefined>;
}

const schemes: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'h2c:': 'http:',
  'ws:': 'http:',
  'wss:': 'https:',
};

/** Parsed addresses, shared by all APIs. Rewrites build some from client input, so long ones are not cached. */
const maxCachedAddresses = 10_000;
const maxCachedAddressLength = 256;
const addressCache = new Lru<string, UpstreamAddress>(maxCachedAddresses);

export function parseUpstreamAddress(address: string, fallbackScheme = 'http'): UpstreamAddress {
  const text = address.includes('://') ? address : `${fallbackScheme}://${address}`;
  const cached = addressCache.get(text);
  if (cached) return cached;
  const parsed = parseAddress(text, address);
  if (text.length <= maxCachedAddressLength) addressCache.set(text, parsed);
  return parsed;
}

function parseAddress(text: string, address: string): UpstreamAddress {
  const url = URL.parse(text);
  if (!url) throw new ApiCompileError(`the upstream URL ${JSON.stringify(address)} is invalid`);
  if (url.protocol === 'gw:') {
    if (url.host === '') throw new ApiCompileError(`the upstream URL ${JSON.stringify(address)} references no API`);
    return {
      origin: '',
      host: '',
      path: trimTrailingSlashes(url.pathname),
      query: url.search.slice(1),
      loop: url.host,
      controls: parseLoopControls(url.search.slice(1)),
    };
  }
  const scheme = schemes[url.protocol];
  if (!scheme || url.hostname === '')
    throw new ApiCompileError(`the upstream URL ${JSON.stringify(address)} has an unsupported scheme`);
  const host = url.host.toLowerCase();
  return {
    origin: `${scheme}//${host}`,
    host,
    path: url.pathname,
    query: url.search.slice(1),
    loop: '',
    http2: url.protocol === 'h2c:',
  };
}

/** Load balancers by version key. The target override of a version wins over balancing and discovery. */
export function createLoadBalancers(model: Model, services: LoadBalancerServices): ReadonlyMap<string, LoadBalancer> {
  const shared = createSharedBalancer(model, services);
  return new Map(model.versions.map(version => [version.key, createOverrideTarget(version, model) ?? shared]));
}

type LoadBalancerServices = Pick<ProxyServices, 'serviceDiscovery' | 'processCounters' | 'clock' | 'settings'>;

function createOverrideTarget({ version }: VersionModel, model: Model): LoadBalancer | undefined {
  if (version.overrideTarget === '' || model.versionData.notVersioned) return undefined;
  return createSingleTarget(parseUpstreamAddress(version.overrideTarget));
}

function createSharedBalancer(model: Model, services: LoadBalancerServices): LoadBalancer {
  const { loadBalancing, upstream, serviceDiscovery, listen } = model;
  const scheme = schemes[`${listen.protocol}:`] ? listen.protocol : 'http';
  const choose = createChooser(model, services);
  if (serviceDiscovery.enabled) {
    const registry = createDiscoveredHosts(model, services.serviceDiscovery);
    return {
      next() {
        const list = registry.list();
        return list instanceof Promise ? list.then(choose) : choose(list);
      },
    };
  }
  // Requests that no mock, plugin or rewrite handles are refused as with an empty host list.
  if (upstream.url === '' && !loadBalancing.enabled && !needsUpstream(model)) return { next: () => undefined };
  if (!loadBalancing.enabled) return createSingleTarget(parseUpstreamAddress(upstream.url));
  const list = loadBalancing.targets.flatMap(({ url, weight }) =>
    Array<UpstreamAddress>(weight).fill(parseUpstreamAddress(url, scheme)),
  );
  if (list.length === 0) throw new ApiCompileError('all load balancing targets have weight 0');
  return { next: () => choose(list) };
}

const createSingleTarget = (address: UpstreamAddress): LoadBalancer => ({ single: address, next: () => address });

/** Round robin; skips hosts that are down where configured. */
function createChooser(
  model: Model,
  services: LoadBalancerServices,
): (list: readonly UpstreamAddress[]) => UpstreamAddress | undefined {
  const { enabled, skipUnavailableHosts } = model.loadBalancing;
  const hostStatus =
    skipUnavailableHosts && hasUptimeTests(model) ? createHostStatus(services, model.identity.id) : undefined;
  const names = new WeakMap<UpstreamAddress, string>();
  const isUp = (address: UpstreamAddress): boolean => {
    if (!hostStatus || address.loop) return true;
    let name = names.get(address);
    if (name === undefined) {
      name = toHostAndPort(address.origin);
      names.set(address, name);
    }
    return !hostStatus.isDown(name);
  };
  if (!enabled) return list => list[0];
  let index = 0;
  return list => {
    for (let tried = 0; tried < list.length; tried++) {
      index = (index + 1) % list.length;
      if (isUp(list[index]!)) return list[index];
    }
    return undefined;
  };
}

/** Hosts of service discovery, without loops, other schemes and link-local metadata addresses. */
export function createDiscoveredHosts(
  { serviceDiscovery, listen }: Pick<Model, 'serviceDiscovery' | 'listen'>,
  registries: ServiceDiscovery,
): DiscoveredList<UpstreamAddress> {
  const scheme = schemes[`${listen.protocol}:`] ? listen.protocol : 'http';
  return registries.of(`hosts ${scheme}`, serviceDiscovery, texts =>
    texts.flatMap(text => parseDiscoveredHost(text, scheme)),
  );
}

function parseDiscoveredHost(text: string, scheme: string): UpstreamAddress[] {
  const whole = text.includes('://') ? text : `${scheme}://${text}`;
  const url = URL.parse(whole);
  if (!url || !schemes[url.protocol] || url.username !== '' || url.hostname === '' || !isValidHost(url.hostname))
    return [];
  return [parseUpstreamAddress(whole)];
}

/** False for addresses of the machine itself, such as cloud metadata. */
export const isValidHost = (hostname: string): boolean => {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 || classifyAddress(bare).reach !== 'forbidden';
};

/**
 * Builds the upstream path, for every protocol. Both parts are canonical, so joining them cannot leave the base path of
 * the target.
 */
export function buildUpstreamPath(
  call: Exchange,
  { path: base, query: ownQuery }: UpstreamAddress,
  strip: boolean,
  keepSlash: boolean,
): string {
  const { rewrittenTarget } = call;
  const requested = resolveDots(
    rewrittenTarget?.path ?? (strip ? call.innerPath : call.pathWithoutVersion || call.path),
  );
  const root = base.endsWith('/') ? base.slice(0, -1) : base;
  const path = requested === '/' ? (keepSlash ? base : root) || '/' : root + requested;
  const requestQuery = rewrittenTarget ? rewrittenTarget.query : call.query;
  const query = ownQuery && requestQuery ? `${ownQuery}&${requestQuery}` : ownQuery || requestQuery;
  return query ? `${path}?${query}` : path;
}
