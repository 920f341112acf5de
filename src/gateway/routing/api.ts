import type { AddressPolicy } from '#base/address-policy.ts';
import { createContextNameCheck } from '#definition/context-names.ts';
import { normalizeListenPath } from '#definition/listen-path.ts';
import type { Model } from '#definition/model.ts';
import { findPathTemplateError, normalizeHost } from '#definition/path-template.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import { createDataGraph } from '../graphql/create-data-graph.ts';
import type { DataGraph } from '../graphql/data-graph.ts';
import { isGatewayCredential } from '../http/request-head.ts';
import type { ApiInfo } from '../pipeline/api-info.ts';
import type { BuiltInRoute } from '../pipeline/built-in-route.ts';
import { listenPortOf, validateListenPort } from '../pipeline/listen-port.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { createRecordHook } from '../plugins/record-hook.ts';
import { createConnectionOptions, createDefaultConnection, createUpstreamTls } from '../proxy/connection-options.ts';
import { createLoadBalancers } from '../proxy/load-balancer.ts';
import type { ProxiedApi } from '../proxy/proxy.ts';
import { ApiAnalytics } from '../recording/api-analytics.ts';
import { buildChain } from '../steps/build-chain.ts';
import { createOptionsAccess } from '../steps/options-access.ts';
import { scopeServices } from '../steps/organisation-services.ts';
import type { StepServices } from '../steps/step-services.ts';
import { resolveReferences } from '../variables/secret-references.ts';
import { createBuiltInRoutes } from './built-in-routes.ts';
import type { SniIdentity } from './sni-identity.ts';
import { createSniIdentity } from './sni-identity.ts';
import { compileTcpService, isTcpApi, type TcpService } from './tcp-proxy.ts';
import { createVersionSelector, type VersionRuntime, type VersionSelector } from './versions.ts';

/** A compiled API: everything that does not depend on the request is decided at load. */
export interface Api extends ApiInfo, ProxiedApi {
  /** Creation time; of two routes that overlap the older one answers. */
  readonly createdAt: string;
  /** Empty, or why the secrets inside its definition cannot be unsealed. */
  readonly secretsError: string;
  readonly host: string;
  /** Its own listen port; 0 for the gateway's. */
  readonly port: number;
  /** TLS certificates for its custom domain. */
  readonly sniIdentity: SniIdentity | undefined;
  readonly isRouted: boolean;
  /** OPTIONS requests go to the upstream past every step. */
  readonly forwardsOptions: boolean;
  /** Tests for a header that carries the client's key, by lower-case name. */
  readonly isKeyHeader: (name: string) => boolean;
  /** Built-in routes by the path below the listen path. */
  readonly builtInRoutes: ReadonlyMap<string, BuiltInRoute>;
  readonly versionSelector: VersionSelector;
  /** The only version; undefined where the request selects one. */
  readonly onlyVersion: VersionRuntime | undefined;
  /** All versions inside the definition. */
  readonly versionRuntimes: readonly VersionRuntime[];
  /** Set for a TCP service, which uses only the connection options of the above. */
  readonly tcpService: TcpService | undefined;
  readonly analytics: ApiAnalytics;
  /** Executes operations in place of an upstream. */
  readonly dataGraph: DataGraph | undefined;
}

/** Facts of a stored API that are not in its definition. */
export type StoredApiFacts = Pick<Api, 'createdAt' | 'secretsError'>;
const noStoredFacts: StoredApiFacts = { createdAt: '', secretsError: '' };

export function compileApi(definitionModel: Model, threadServices: StepServices, facts = noStoredFacts): Api {
  const { orgId } = definitionModel.identity;
  const { policy, services: scoped } = scopeServices(threadServices, orgId);
  const { secrets } = scoped;
  const { bundleEnabled, bundlePath } = definitionModel.pluginConfig;
  const usesBundle = bundleEnabled && bundlePath !== '';
  const bundled = usesBundle ? threadServices.pluginBundles.apply(definitionModel) : definitionModel;
  const { model, missing: missingReferences } = resolveReferences(bundled, secrets);
  const services: StepServices = { ...scoped, isContextName: createContextNameCheck(model) };
  const address = readAddress(model);
  const isInSegment = matchesSegments(model, services.settings['gateway.segments']);
  const base = buildUnavailableApi(model, services, { ...facts, ...address, isInSegment, policy });
  try {
    if (facts.secretsError !== '') throw new ApiCompileError(facts.secretsError);
    if (missingReferences !== '') throw new ApiCompileError(missingReferences);
    if (address.error !== undefined)
      throw new ApiCompileError(`its domain or listen path is invalid: ${address.error}`);
    const passage = compileTcpService(model, services);
    validateListenPort(model, services.settings);
    const served = passage ? [] : buildVersionRuntimes(model, services);
    base.analytics.recordHook = createRecordHook({ model, services });
    const versions = createVersionSelector(model, served, services.settings['gateway.version_header']);
    return {
      ...base,
      versionSelector: versions,
      onlyVersion: versions.only,
      versionRuntimes: served,
      dataGraph: createDataGraph(model, services),
      connectionOptionsFor: createConnectionOptions(model, services.certificates, policy, services.upstreamAuthorities),
      sniIdentity: createSniIdentity(model, services.certificates),
      tcpService: isInSegment ? passage : undefined,
    };
  } catch (error) {
    if (!(error instanceof ApiCompileError)) throw error;
    return { ...base, unavailableReason: secrets.redact(error.message) };
  }
}

/** Host and listen path. One that does not compile stays out of the router: there it would fail every other route. */
function readAddress({ listen, customDomain }: Model) {
  const host = customDomain.enabled ? normalizeHost(customDomain.name) : '';
  const listenPath = normalizeListenPath(listen.path);
  return { host, listenPath, error: findPathTemplateError(listenPath, '/') ?? findPathTemplateError(host, '') };
}

interface ApiFacts extends StoredApiFacts, ReturnType<typeof readAddress> {
  readonly isInSegment: boolean;
  readonly policy: AddressPolicy;
}

/** The API without its versions. All members from the start: objects of one hidden class are read faster. */
function buildUnavailableApi(model: Model, services: StepServices, facts: ApiFacts): Api {
  const { identity, listen, upstream } = model;
  const { id, databaseId, orgId, name } = identity;
  const { createdAt, secretsError, host, listenPath } = facts;
  const defaultConnection = createDefaultConnection(facts.policy);
  const readUpstreamTls = createUpstreamTls(model, services);
  return {
    unavailableReason: '',
    builtInRoutes: createBuiltInRoutes({ model, services, readUpstreamTls }),
    versionSelector: unavailableSelector,
    onlyVersion: undefined,
    forwardsOptions: forwardsOptions(model),
    connectionOptionsFor: () => defaultConnection,
    isKeyHeader: createKeyHeaderCheck(model),
    stripsListenPath: listen.strip,
    preservesTrailingSlash: upstream.preserveTrailingSlash,
    preservesHost: upstream.preserveHostHeader,
    analytics: new ApiAnalytics({ id, orgId, name, listenPath, model }),
    versionRuntimes: [],
    sniIdentity: undefined,
    tcpService: undefined,
    dataGraph: undefined,
    id,
    databaseId,
    orgId,
    name,
    createdAt,
    secretsError,
    model,
    host,
    port: listenPortOf(model, services.settings),
    listenPath,
    isRouted: isRoutable(model) && facts.error === undefined && facts.isInSegment,
  };
}

const isRoutable = (model: Model) =>
  model.identity.active &&
  !model.identity.internal &&
  !isTcpApi(model) &&
  model.listen.path !== '' &&
  !/\s/.test(model.listen.path);

/** One function for all APIs that read no gateway credential header: call sites stay monomorphic. */
const hasNoKeyHeader = () => false;

function createKeyHeaderCheck(model: Model): (name: string) => boolean {
  const headers = listCredentialSources(model).map(({ header }) => header.toLowerCase());
  return headers.some(isGatewayCredential) ? name => headers.includes(name) : hasNoKeyHeader;
}

/** Unreachable: an unavailable API is refused before a version is selected. */
const unavailableSelector: VersionSelector = {
  select() {
    throw new Error('an unavailable API has no versions');
  },
};

const forwardsOptions = ({ cors }: Model): boolean => cors.enabled && cors.optionsPassthrough;

function buildVersionRuntimes(model: Model, services: StepServices): VersionRuntime[] {
  const loadBalancers = createLoadBalancers(model, services);
  return model.versions.map(version => ({
    kind: 'own',
    version,
    chain: buildChain({ model, version, services }),
    optionsAccess: forwardsOptions(model) ? createOptionsAccess({ model, version, services }) : undefined,
    loadBalancer: loadBalancers.get(version.key)!,
    fixedAddress: loadBalancers.get(version.key)!.single,
  }));
}

/** Segmentation: a gateway without segments loads every API; one with segments only APIs tagged with one of them. */
const matchesSegments = ({ gatewayTags }: Model, segments: readonly string[]) =>
  segments.length === 0 || (gatewayTags.enabled && gatewayTags.tags.some(tag => segments.includes(tag)));
