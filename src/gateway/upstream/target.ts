import { withoutFinalSlashes } from '#base/slashes.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { Exchange } from '../exchange.ts';
import { type LoopControls, loopControls } from '../loops.ts';
import { tidied } from '../path.ts';
import { Unservable } from '../step.ts';

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
  next(): Destination;
}

const schemes: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'h2c:': 'http:',
  'ws:': 'http:',
  'wss:': 'https:',
};

export function destinationOf(address: string, fallbackScheme = 'http'): Destination {
  const text = address.includes('://') ? address : `${fallbackScheme}://${address}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Unservable(`the upstream address ${JSON.stringify(address)} cannot be read`);
  }
  if (url.protocol === 'gw:') {
    return {
      origin: '',
      host: '',
      path: withoutFinalSlashes(url.pathname),
      query: url.search.slice(1),
      loop: url.host || url.hostname,
      controls: loopControls(url.search.slice(1)),
    };
  }
  const scheme = schemes[url.protocol];
  if (!scheme || url.hostname === '')
    throw new Unservable(`the upstream address ${JSON.stringify(address)} is not one a call can go to`);
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

/** By version key. A version's own target wins over balancing, as its author would expect. */
export function targetsOf(model: Model): ReadonlyMap<string, Target> {
  const shared = sharedTarget(model);
  return new Map(model.versions.map(version => [version.key, ownTarget(version, model) ?? shared]));
}

function ownTarget({ version }: VersionModel, model: Model): Target | undefined {
  if (version.overrideTarget === '' || model.versionData.notVersioned) return undefined;
  return single(destinationOf(version.overrideTarget));
}

function sharedTarget({ loadBalancing, upstream }: Model): Target {
  if (!loadBalancing.enabled) return single(destinationOf(upstream.url));
  const list = loadBalancing.targets.flatMap(({ url, weight }) => Array<Destination>(weight).fill(destinationOf(url)));
  if (list.length === 0) throw new Unservable('all load balancing targets have weight 0');
  let at = 0;
  return {
    next() {
      at = (at + 1) % list.length;
      return list[at]!;
    },
  };
}

const single = (destination: Destination): Target => ({ next: () => destination });

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
  const { rewritten } = call;
  const asked = tidied(rewritten?.path ?? (strip ? call.innerPath : call.pathWithoutVersion || call.path));
  const root = base.endsWith('/') ? base.slice(0, -1) : base;
  const path = asked === '/' ? (keepSlash ? base : root) || '/' : root + asked;
  const given = rewritten ? rewritten.query : call.query;
  const query = ownQuery && given ? `${ownQuery}&${given}` : ownQuery || given;
  return query ? `${path}?${query}` : path;
}
