import { normalizeListenPath } from '#definition/listen-path.ts';
import type { Model } from '#definition/model.ts';
import { findPathTemplateError, normalizeHost } from '#definition/path-template.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import { isGatewayCredential } from '../http/request-head.ts';
import { buildChain } from '../pipeline/chain.ts';
import { listenPortOf, validateListenPort } from '../pipeline/listen-port.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import {
  type ConnectionOptionsFor,
  createConnectionOptions,
  createDefaultConnection,
} from '../proxy/connection-options.ts';
import { createLoadBalancers } from '../proxy/load-balancer.ts';
import { RecordedApi } from '../recording/api-analytics.ts';
import { createOptionsAccess } from '../steps/options-access.ts';
import { createContextNameCheck } from '../variables/context-names.ts';
import { resolveReferences } from '../variables/references.ts';
import { type Route, routesOf } from './built-in-routes.ts';
import { type ApiIdentity, serverIdentityOf } from './sni.ts';
import { isRaw, type Passage, passageOf } from './tcp-proxy.ts';
import { type Served, type VersionChoice, versionChoice } from './versions.ts';

/** An API as traffic meets it: everything that can be decided beforehand has been. */
export interface Api {
  readonly id: string;
  readonly databaseId: string;
  readonly orgId: string;
  readonly name: string;
  /** When it was made; of two routes that overlap the older one answers. */
  readonly createdAt: string;
  readonly model: Model;
  /** Empty, or why the secrets inside its definition cannot be opened. */
  readonly unopened: string;
  /** Empty, or why its calls get 503. */
  readonly unserved: string;
  readonly host: string;
  /** A port of its own; 0 for the gateway's. */
  readonly port: number;
  /** What it shows callers over TLS for its own domain. */
  readonly serverIdentity: ApiIdentity | undefined;
  readonly listenPath: string;
  readonly routed: boolean;
  /** OPTIONS calls go to the upstream past every step. */
  readonly passesOptions: boolean;
  /** Whether callers send their key in this header, by its lower-case name. */
  readonly readsKeyFrom: (name: string) => boolean;
  /** What it answers itself, by the path below the listen path. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly versions: VersionChoice;
  /** The only version there is to choose; undefined where calls have a say in it. */
  readonly only: Served | undefined;
  /** All versions inside the definition. */
  readonly served: readonly Served[];
  /** How its upstreams are connected to. */
  readonly links: ConnectionOptionsFor;
  /** How upstreams are asked: below the listen path, with its final slash, under the caller's host. */
  readonly strips: boolean;
  readonly keepsSlash: boolean;
  readonly keepsHost: boolean;
  /** Set for a service of bare connections, which has nothing of the above but links. */
  readonly passage: Passage | undefined;
  readonly recorded: RecordedApi;
}

/** What a definition does not say of its API. */
export type StoredFacts = Pick<Api, 'createdAt' | 'unopened'>;
const unstored: StoredFacts = { createdAt: '', unopened: '' };

export function compileApi(given: Model, thread: StepServices, { createdAt, unopened } = unstored): Api {
  const { orgId: owner } = given.identity;
  const policy = thread.addressPolicies.withNetworks(thread.grants.of(owner).networks);
  const secrets = thread.secrets.forOrganisation(owner);
  const { model, missing } = resolveReferences(given, secrets);
  const own = { secrets, isContextName: createContextNameCheck(model) };
  const services: StepServices = { ...thread, ...(policy.key === '' ? {} : thread.networkFor(policy)), ...own };
  const { identity, listen, customDomain } = model;
  const { id, databaseId, orgId, name } = identity;
  const plainLink = createDefaultConnection(policy);
  const isHere = isOfSegment(model, services.settings['gateway.segments']);
  const host = customDomain.enabled ? normalizeHost(customDomain.name) : '';
  const listenPath = normalizeListenPath(listen.path);
  // What calls cannot be compared with has no place in the routes, where it would keep out all others.
  const unreadable = findPathTemplateError(listenPath, '/') ?? findPathTemplateError(host, '');
  // Every member is there from the beginning: objects of one shape are read faster than those that grow.
  const base: Api = {
    unserved: '',
    routes: routesOf({ model, services }),
    versions: noVersions,
    only: undefined,
    passesOptions: passesOptions(model),
    links: () => plainLink,
    readsKeyFrom: readsKeyFromOf(model),
    strips: listen.strip,
    keepsSlash: model.upstream.preserveTrailingSlash,
    keepsHost: model.upstream.preserveHostHeader,
    recorded: new RecordedApi({ id, orgId, name, listenPath, model }),
    served: [],
    serverIdentity: undefined,
    passage: undefined,
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
    routed:
      identity.active &&
      !identity.internal &&
      !isRaw(model) &&
      listen.path !== '' &&
      !/\s/.test(listen.path) &&
      unreadable === undefined &&
      isHere,
  };
  try {
    if (unopened !== '') throw new ApiCompileError(unopened);
    if (missing !== '') throw new ApiCompileError(missing);
    if (unreadable !== undefined) throw new ApiCompileError(`its address cannot be read: ${unreadable}`);
    const passage = passageOf(model, services);
    validateListenPort(model, services.settings);
    const served = passage ? [] : servedOf(model, services);
    const versions = versionChoice(model, served, services.settings['gateway.version_header']);
    return {
      ...base,
      versions,
      only: versions.only,
      served,
      links: createConnectionOptions(model, services.certificates, policy),
      serverIdentity: serverIdentityOf(model, services.certificates),
      passage: isHere ? passage : undefined,
    };
  } catch (error) {
    if (!(error instanceof ApiCompileError)) throw error;
    return { ...base, unserved: secrets.redact(error.message) };
  }
}

/** Shared by the many that read keys from no header of ours. */
const readsNone = () => false;

function readsKeyFromOf(model: Model): (name: string) => boolean {
  const headers = listCredentialSources(model).map(({ header }) => header.toLowerCase());
  return headers.some(isGatewayCredential) ? name => headers.includes(name) : readsNone;
}

/** Nobody asks an API that is not served for its versions. */
const noVersions: VersionChoice = {
  choose() {
    throw new Error('an API that is not served has no versions');
  },
};

const passesOptions = ({ cors }: Model): boolean => cors.enabled && cors.optionsPassthrough;

function servedOf(model: Model, services: StepServices): Served[] {
  const targets = createLoadBalancers(model, services);
  return model.versions.map(version => ({
    kind: 'own',
    version,
    chain: buildChain({ model, version, services }),
    optionsAccess: passesOptions(model) ? createOptionsAccess({ model, version, services }) : undefined,
    target: targets.get(version.key)!,
    fixed: targets.get(version.key)!.single,
  }));
}

/** A gateway without segments takes everything; one with segments only what names one of them. */
const isOfSegment = ({ gatewayTags }: Model, segments: readonly string[]) =>
  segments.length === 0 || (gatewayTags.enabled && gatewayTags.tags.some(tag => segments.includes(tag)));
