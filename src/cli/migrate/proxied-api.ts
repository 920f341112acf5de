import { deriveDefinitionId } from '../api-documents.ts';
import type { Document } from '../documents.ts';

/** API of a reverse proxy: a route to an upstream, with what this gateway can express of it. */
export interface ProxyRoute {
  readonly name: string;
  readonly listenPath: string;
  readonly domain?: string | undefined;
  readonly stripListenPath: boolean;
  readonly preserveHost: boolean;
  readonly targets: readonly ProxiedTarget[];
  /** Empty for all. */
  readonly methods?: readonly string[] | undefined;
  /** Rewrites whole URLs, in place of the target. */
  readonly rewrites?: readonly { readonly method: string; readonly pattern: string; readonly to: string }[] | undefined;
  /** Members of the definition and of its only version, from features beside the route. */
  readonly members?: Document | undefined;
  readonly version?: Document | undefined;
}

export interface ProxiedTarget {
  readonly url: string;
  readonly weight: number;
}

/** Entries of the target list: a weight is a number of entries. */
const maxTargetEntries = 100;
/** Pattern of every path below the listen path. */
const anyPath = '/.*';

/** Classic definition of a proxied API. Without an auth method in `members` it needs no key. */
export function toProxiedDefinition(api: ProxyRoute): Document & { readonly api_id: string } {
  const { name, listenPath, domain = '', targets, members = {}, version = {} } = api;
  const [first] = targets;
  const proxy = {
    listen_path: listenPath,
    strip_listen_path: api.stripListenPath,
    preserve_host_header: api.preserveHost,
    target_url: first?.url ?? '',
    ...(targets.length > 1 && { enable_load_balancing: true, target_list: toTargetList(targets) }),
  };
  const identity = { domain, proxy, name };
  return {
    api_id: deriveDefinitionId(identity)!,
    ...identity,
    active: true,
    use_keyless: !('use_standard_auth' in members || 'use_basic_auth' in members),
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: toPaths(api), ...version } },
    },
    ...members,
  };
}

function toPaths({ methods = [], rewrites = [] }: ProxyRoute): Document {
  return {
    ...(methods.length > 0 && { white_list: methods.map(method => ({ path: anyPath, method })) }),
    ...(rewrites.length > 0 && {
      url_rewrites: rewrites.map(({ method, pattern, to }) => ({
        path: anyPath,
        method,
        match_pattern: pattern,
        rewrite_to: to,
      })),
    }),
  };
}

function toTargetList(targets: readonly ProxiedTarget[]): string[] {
  const divisor = targets.map(({ weight }) => weight).reduce(findDivisor);
  const counts = targets.map(({ weight }) => weight / divisor);
  const scale = Math.min(1, maxTargetEntries / counts.reduce((sum, count) => sum + count, 0));
  return targets.flatMap(({ url }, index) =>
    Array.from({ length: Math.max(1, Math.round(counts[index]! * scale)) }, () => url),
  );
}

const findDivisor = (a: number, b: number): number => (b === 0 ? a : findDivisor(b, a % b));

/** Rights of a key on some APIs. */
export const toAccessRights = (apis: readonly Document[]): Document =>
  Object.fromEntries(
    apis.map(({ api_id, name }) => [String(api_id), { api_id, api_name: name, versions: ['Default'] }]),
  );
