import { isIP } from 'node:net';
import { classifyAddress } from '#base/http-client/ssrf-guard.ts';
import { Lru } from '#base/lru.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { needsUpstream } from '#definition/required-parts.ts';
import { tidied } from '../http/path.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type LoopControls, loopControls } from '../pipeline/loops.ts';
import { ApiCompileError, type MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { hostMarks, hostName, isTested } from './host-status.ts';
import type { Registries, Registry } from './service-discovery.ts';

/** One place calls go to. */
export interface Destination {
  /** `http://host:port` */
  readonly origin: string;
  readonly host: string;
  /** Without a final slash. */
  readonly path: string;
  readonly query: string;
  /** The API named by a `gw://` address; empty for a real upstream. */
  readonly loop: string;
  /** What that address asks of the call besides. */
  readonly controls?: LoopControls;
  /** Spoken to in HTTP/2 without TLS. */
  readonly http2?: boolean;
}

/** Where the calls of one version go: chooses among several where there are several. */
export interface Target {
  /** Set where it is always the same. */
  readonly fixed?: Destination;
  /** Undefined when there is none that could take a call. */
  next(): MaybePromise<Destination | undefined>;
}

const schemes: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'h2c:': 'http:',
  'ws:': 'http:',
  'wss:': 'https:',
};

/** Places that are known once, however many APIs go there. Rewrites make some of what callers send, so long ones are not kept. */
const placesKept = 10_000;
const longestPlace = 256;
const places = new Lru<string, Destination>(placesKept);

export function destinationOf(address: string, fallbackScheme = 'http'): Destination {
  const text = address.includes('://') ? address : `${fallbackScheme}://${address}`;
  const known = places.get(text);
  if (known) return known;
  const read = readAddress(text, address);
  if (text.length <= longestPlace) places.set(text, read);
  return read;
}

function readAddress(text: string, address: string): Destination {
  const url = URL.parse(text);
  if (!url) throw new ApiCompileError(`the upstream address ${JSON.stringify(address)} cannot be read`);
  if (url.protocol === 'gw:') {
    if (url.host === '') throw new ApiCompileError(`the upstream address ${JSON.stringify(address)} names no API`);
    return {
      origin: '',
      host: '',
      path: trimTrailingSlashes(url.pathname),
      query: url.search.slice(1),
      loop: url.host,
      controls: loopControls(url.search.slice(1)),
    };
  }
  const scheme = schemes[url.protocol];
  if (!scheme || url.hostname === '')
    throw new ApiCompileError(`the upstream address ${JSON.stringify(address)} is not one a call can go to`);
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

/** By version key. A version's own target wins over balancing and discovery, as its author would expect. */
export function targetsOf(model: Model, services: TargetTools): ReadonlyMap<string, Target> {
  const shared = sharedTarget(model, services);
  return new Map(model.versions.map(version => [version.key, ownTarget(version, model) ?? shared]));
}

type TargetTools = Pick<StepServices, 'serviceDiscovery' | 'processCounters' | 'clock' | 'settings'>;

function ownTarget({ version }: VersionModel, model: Model): Target | undefined {
  if (version.overrideTarget === '' || model.versionData.notVersioned) return undefined;
  return single(destinationOf(version.overrideTarget));
}

function sharedTarget(model: Model, services: TargetTools): Target {
  const { loadBalancing, upstream, serviceDiscovery, listen } = model;
  const scheme = schemes[`${listen.protocol}:`] ? listen.protocol : 'http';
  const choose = chooser(model, services);
  if (serviceDiscovery.enabled) {
    const registry = registeredHosts(model, services.serviceDiscovery);
    return {
      next() {
        const list = registry.list();
        return list instanceof Promise ? list.then(choose) : choose(list);
      },
    };
  }
  // What mocks, plugins and rewrites leave over is refused as by a registry that names no host.
  if (upstream.url === '' && !loadBalancing.enabled && !needsUpstream(model)) return { next: () => undefined };
  if (!loadBalancing.enabled) return single(destinationOf(upstream.url));
  const list = loadBalancing.targets.flatMap(({ url, weight }) =>
    Array<Destination>(weight).fill(destinationOf(url, scheme)),
  );
  if (list.length === 0) throw new ApiCompileError('all load balancing targets have weight 0');
  return { next: () => choose(list) };
}

const single = (fixed: Destination): Target => ({ fixed, next: () => fixed });

/** In turn; past those that are down, where that is asked for. */
function chooser(model: Model, services: TargetTools): (list: readonly Destination[]) => Destination | undefined {
  const { enabled, skipUnavailableHosts } = model.loadBalancing;
  const marks = skipUnavailableHosts && isTested(model) ? hostMarks(services, model.identity.id) : undefined;
  const names = new WeakMap<Destination, string>();
  const isUp = (destination: Destination): boolean => {
    if (!marks || destination.loop) return true;
    let name = names.get(destination);
    if (name === undefined) {
      name = hostName(destination.origin);
      names.set(destination, name);
    }
    return !marks.isDown(name);
  };
  if (!enabled) return list => list[0];
  let at = 0;
  return list => {
    for (let tried = 0; tried < list.length; tried++) {
      at = (at + 1) % list.length;
      if (isUp(list[at]!)) return list[at];
    }
    return undefined;
  };
}

/** The hosts a registry names. What it must not name is left out: other APIs, other schemes, the machine's own secrets. */
export function registeredHosts(
  { serviceDiscovery, listen }: Pick<Model, 'serviceDiscovery' | 'listen'>,
  registries: Registries,
): Registry<Destination> {
  const scheme = schemes[`${listen.protocol}:`] ? listen.protocol : 'http';
  return registries.of(`hosts ${scheme}`, serviceDiscovery, texts => texts.flatMap(text => registered(text, scheme)));
}

function registered(text: string, scheme: string): Destination[] {
  const whole = text.includes('://') ? text : `${scheme}://${text}`;
  const url = URL.parse(whole);
  if (!url || !schemes[url.protocol] || url.username !== '' || url.hostname === '' || !mayBeNamed(url.hostname))
    return [];
  return [destinationOf(whole)];
}

/** Not what speaks for the machine itself, such as the metadata of a cloud. */
export const mayBeNamed = (hostname: string): boolean => {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 || classifyAddress(bare).reach !== 'forbidden';
};

/**
 * The one place where an upstream path is made, for every protocol. Paths are canonical on both sides, whatever steps made
 * of them, so joining them cannot leave the target's own path.
 */
export function upstreamPath(
  call: Exchange,
  { path: base, query: ownQuery }: Destination,
  strip: boolean,
  keepSlash: boolean,
): string {
  const { rewrittenTarget } = call;
  const asked = tidied(rewrittenTarget?.path ?? (strip ? call.innerPath : call.pathWithoutVersion || call.path));
  const root = base.endsWith('/') ? base.slice(0, -1) : base;
  const path = asked === '/' ? (keepSlash ? base : root) || '/' : root + asked;
  const given = rewrittenTarget ? rewrittenTarget.query : call.query;
  const query = ownQuery && given ? `${ownQuery}&${given}` : ownQuery || given;
  return query ? `${path}?${query}` : path;
}
