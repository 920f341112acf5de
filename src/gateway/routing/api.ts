import { normalizeListenPath } from '#definition/listen-path.ts';
import type { Model } from '#definition/model.ts';
import { findPathTemplateError, normalizeHost } from '#definition/path-template.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import { isGatewayCredential } from '../http/request-head.ts';
import type { ApiInfo } from '../pipeline/api-info.ts';
import type { BuiltInRoute } from '../pipeline/built-in-route.ts';
import { listenPortOf, validateListenPort } from '../pipeline/listen-port.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { createConnectionOptions, createDefaultConnection } from '../proxy/connection-options.ts';
import { createLoadBalancers } from '../proxy/load-balancer.ts';
import type { ProxiedApi } from '../proxy/send.ts';
import { ApiAnalytics } from '../recording/api-analytics.ts';
import { buildChain } from '../steps/build-chain.ts';
import { createOptionsAccess } from '../steps/options-access.ts';
import type { StepServices } from '../steps/step-services.ts';
import { createContextNameCheck } from '../variables/context-names.ts';
import { resolveReferences } from '../variables/secret-references.ts';
import { createBuiltInRoutes } from './built-in-routes.ts';
import { createSniIdentity, type SniIdentity } from './sni.ts';
import { compileTcpService, isTcpApi, type TcpService } from './tcp-proxy.ts';
import { createVersionSelector, type VersionRuntime, type VersionSelector } from './versions.ts';

/** An API as traffic meets it: everything that can be decided beforehand has been. */
export interface Api extends ApiInfo, ProxiedApi {
  /** When it was made; of two routes that overlap the older one answers. */
  readonly createdAt: string;
  /** Empty, or why the secrets inside its definition cannot be opened. */
  readonly unopened: string;
  readonly host: string;
  /** A port of its own; 0 for the gateway's. */
  readonly port: number;
  /** What it shows callers over TLS for its own domain. */
  readonly sniIdentity: SniIdentity | undefined;
  readonly isRouted: boolean;
  /** OPTIONS calls go to the upstream past every step. */
  readonly forwardsOptions: boolean;
  /** Whether callers send their key in this header, by its lower-case name. */
  readonly isKeyHeader: (name: string) => boolean;
  /** What it answers itself, by the path below the listen path. */
  readonly builtInRoutes: ReadonlyMap<string, BuiltInRoute>;
  readonly versionSelector: VersionSelector;
  /** The only version there is to choose; undefined where calls have a say in it. */
  readonly onlyVersion: VersionRuntime | undefined;
  /** All versions inside the definition. */
  readonly versionRuntimes: readonly VersionRuntime[];
  /** Set for a service of bare connections, which has nothing of the above but links. */
  readonly tcpService: TcpService | undefined;
  readonly analytics: ApiAnalytics;
}

/** What a definition does not say of its API. */
export type StoredApiFacts = Pick<Api, 'createdAt' | 'unopened'>;
const noStoredFacts: StoredApiFacts = { createdAt: '', unopened: '' };

export function compileApi(
  definitionModel: Model,
  threadServices: StepServices,
  { createdAt, unopened } = noStoredFacts,
): Api {
  const { orgId: ownerOrgId } = definitionModel.identity;
  const policy = threadServices.addressPolicies.withNetworks(threadServices.grants.of(ownerOrgId).networks);
  const secrets = threadServices.secrets.forOrganisation(ownerOrgId);
  const { model, missing: missingReferences } = resolveReferences(definitionModel, secrets);
  const apiServices = { secrets, isContextName: createContextNameCheck(model) };
  const services: StepServices = {
    ...threadServices,
    ...(policy.key === '' ? {} : threadServices.networkFor(policy)),
    ...apiServices,
  };
  const { identity, listen, customDomain } = model;
  const { id, databaseId, orgId, name } = identity;
  const defaultConnection = createDefaultConnection(policy);
  const isInSegment = matchesSegments(model, services.settings['gateway.segments']);
  const host = customDomain.enabled ? normalizeHost(customDomain.name) : '';
  const listenPath = normalizeListenPath(listen.path);
  // What calls cannot be compared with has no place in the routes, where it would keep out all others.
  const addressError = findPathTemplateError(listenPath, '/') ?? findPathTemplateError(host, '');
  // Every member is there from the beginning: objects of one shape are read faster than those that grow.
  const base: Api = {
    unavailableReason: '',
    builtInRoutes: createBuiltInRoutes({ model, services }),
    versionSelector: unavailableSelector,
    onlyVersion: undefined,
    forwardsOptions: forwardsOptions(model),
    connectionOptionsFor: () => defaultConnection,
    isKeyHeader: createKeyHeaderCheck(model),
    stripsListenPath: listen.strip,
    preservesTrailingSlash: model.upstream.preserveTrailingSlash,
    preservesHost: model.upstream.preserveHostHeader,
    analytics: new ApiAnalytics({ id, orgId, name, listenPath, model }),
    versionRuntimes: [],
    sniIdentity: undefined,
    tcpService: undefined,
    id,
    databaseId,
    orgId,
    name,
    createdAt,
    unopened,
    model,
    host,
    port: listenPortOf(model, services.settings),
    listenPath,
    isRouted:
      identity.active &&
      !identity.internal &&
      !isTcpApi(model) &&
      listen.path !== '' &&
      !/\s/.test(listen.path) &&
      addressError === undefined &&
      isInSegment,
  };
  try {
    if (unopened !== '') throw new ApiCompileError(unopened);
    if (missingReferences !== '') throw new ApiCompileError(missingReferences);
    if (addressError !== undefined) throw new ApiCompileError(`its address cannot be read: ${addressError}`);
    const passage = compileTcpService(model, services);
    validateListenPort(model, services.settings);
    const served = passage ? [] : buildVersionRuntimes(model, services);
    const versions = createVersionSelector(model, served, services.settings['gateway.version_header']);
    return {
      ...base,
      versionSelector: versions,
      onlyVersion: versions.only,
      versionRuntimes: served,
      connectionOptionsFor: createConnectionOptions(model, services.certificates, policy),
      sniIdentity: createSniIdentity(model, services.certificates),
      tcpService: isInSegment ? passage : undefined,
    };
  } catch (error) {
    if (!(error instanceof ApiCompileError)) throw error;
    return { ...base, unavailableReason: secrets.redact(error.message) };
  }
}

/** Shared by the many that read keys from no header of ours. */
const hasNoKeyHeader = () => false;

function createKeyHeaderCheck(model: Model): (name: string) => boolean {
  const headers = listCredentialSources(model).map(({ header }) => header.toLowerCase());
  return headers.some(isGatewayCredential) ? name => headers.includes(name) : hasNoKeyHeader;
}

/** Nobody asks an API that is not served for its versions. */
const unavailableSelector: VersionSelector = {
  select() {
    throw new Error('an API that is not served has no versions');
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

/** A gateway without segments takes everything; one with segments only what names one of them. */
const matchesSegments = ({ gatewayTags }: Model, segments: readonly string[]) =>
  segments.length === 0 || (gatewayTags.enabled && gatewayTags.tags.some(tag => segments.includes(tag)));
