import type { ValidationError } from '#operations/validation-error.ts';
import type { Model, VersionModel } from './model.ts';

/**
 * Completeness: what a definition cannot do without.
 *
 * | Definition                                              | Listen path | Upstream |
 * |---------------------------------------------------------|-------------|----------|
 * | an API of its own                                       | yes         | yes      |
 * | internal, reached by loops only                         | no          | yes      |
 * | a version of another API, reached through its base      | no          | yes      |
 * | TCP or TLS service                                      | no (a port) | yes      |
 * | load balancing with targets, service discovery          | yes         | no       |
 * | every version inside it has a target of its own         | yes         | no       |
 * | streams                                                 | yes         | no       |
 * | GraphQL data graph (execution engine), supergraph       | yes         | no       |
 * | mock replies, virtual endpoints, plugins, rewrites to   | yes         | no       |
 * | whole addresses: calls they leave over are refused      |             |          |
 */
export type RequiredPart = 'listen path' | 'upstream';

function needsListenPath({ identity, listen }: Pick<Model, 'identity' | 'listen'>): boolean {
  return !identity.internal && listen.protocol !== 'tcp' && listen.protocol !== 'tls';
}

/** True where the definition needs an upstream address, given its other targets. */
export function needsUpstream(model: Model): boolean {
  const { format, graphql, serviceDiscovery, loadBalancing } = model;
  if (format === 'streams' || serviceDiscovery.enabled || loadBalancing.enabled) return false;
  if (graphql.enabled && graphsWithoutUpstream.has(graphql.executionMode)) return false;
  return !hasOwnTargets(model) && !respondsWithoutUpstream(model);
}

const graphsWithoutUpstream: ReadonlySet<string> = new Set(['executionEngine', 'supergraph']);

const hasOwnTargets = ({ versions, versionData }: Model) =>
  !versionData.notVersioned &&
  versions.length > 0 &&
  versions.every(({ version }) => version.overrideTarget.trim() !== '');

const respondsWithoutUpstream = ({ versions, plugins, pluginConfig }: Model) =>
  versions.some(hasRespondingEndpoint) ||
  [plugins.pre, plugins.postAuth, plugins.post].some(list => list.some(({ enabled }) => enabled)) ||
  (pluginConfig.bundleEnabled && pluginConfig.bundlePath !== '');

const hasRespondingEndpoint = ({
  endpoints: { mockResponse, virtualEndpoint, endpointPlugin, urlRewrite },
}: VersionModel) =>
  [mockResponse, virtualEndpoint, endpointPlugin].some(list => list.length > 0) ||
  urlRewrite.some(({ rewriteTo }) => rewriteTo.includes('://'));

const memberPaths: Record<'classic' | 'oas', Record<RequiredPart, string>> = {
  classic: { 'listen path': 'proxy.listen_path', upstream: 'proxy.target_url' },
  oas: { 'listen path': 'x-gw-api-gateway.server.listenPath.value', upstream: 'x-gw-api-gateway.upstream.url' },
};

export interface MissingPart extends ValidationError {
  readonly part: RequiredPart;
}

/** Required parts that the definition lacks. */
export function findMissingParts(model: Model): MissingPart[] {
  const paths = memberPaths[model.format === 'classic' ? 'classic' : 'oas'];
  const missing: RequiredPart[] = [];
  if (model.listen.path.trim() === '' && needsListenPath(model)) missing.push('listen path');
  if (model.upstream.url.trim() === '' && needsUpstream(model)) missing.push('upstream');
  return missing.map(part => ({ part, path: paths[part], message: 'is required' }));
}
