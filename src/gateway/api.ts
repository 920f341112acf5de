import { listenPathSpelling } from '#definition/listen-path.ts';
import type { Model } from '#definition/model.ts';
import { hostSpelling, openFault } from '#definition/open-segment.ts';
import { buildChain, type Chain } from './chain.ts';
import { checkOwnPort, ownPort } from './own-ports.ts';
import { isRaw, type Passage, passageOf } from './passage.ts';
import { type Route, routesOf } from './routes.ts';
import { type ApiIdentity, serverIdentityOf } from './server-names.ts';
import { Unservable } from './step.ts';
import type { GatewayTools } from './tools.ts';
import { type Links, linksOf, ordinaryLink } from './upstream/link.ts';
import { type Target, targetsOf } from './upstream/target.ts';
import { withReferences } from './variables/references.ts';
import { type VersionChoice, versionChoice } from './versions.ts';

/** An API as traffic meets it: everything that can be decided beforehand has been. */
export interface Api {
  readonly id: string;
  readonly databaseId: string;
  readonly orgId: string;
  readonly name: string;
  readonly model: Model;
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
  /** What it answers itself, by the path below the listen path. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly versions: VersionChoice;
  readonly chains: ReadonlyMap<string, Chain>;
  readonly targets: ReadonlyMap<string, Target>;
  /** How its upstreams are connected to. */
  readonly links: Links;
  /** Set for a service of bare connections, which has nothing of the above but links. */
  readonly passage: Passage | undefined;
}

export function compileApi(given: Model, tools: GatewayTools): Api {
  const { model, missing } = withReferences(given, tools);
  const { identity, listen, customDomain } = model;
  const isHere = isOfSegment(model, tools.settings['gateway.segments']);
  const host = customDomain.enabled ? hostSpelling(customDomain.name) : '';
  const listenPath = listenPathSpelling(listen.path);
  // What calls cannot be compared with has no place in the routes, where it would keep out all others.
  const unreadable = openFault(listenPath, '/') ?? openFault(host, '');
  const base = {
    id: identity.id,
    databaseId: identity.databaseId,
    orgId: identity.orgId,
    name: identity.name,
    model,
    host,
    port: ownPort(model, tools.settings),
    listenPath,
    routed:
      identity.active &&
      !identity.internal &&
      !isRaw(model) &&
      listen.path !== '' &&
      !/\s/.test(listen.path) &&
      unreadable === undefined &&
      isHere,
    passesOptions: model.cors.enabled && model.cors.optionsPassthrough,
    routes: routesOf({ model, tools }),
  };
  try {
    if (missing !== '') throw new Unservable(missing);
    if (unreadable !== undefined) throw new Unservable(`its address cannot be read: ${unreadable}`);
    const passage = passageOf(model, tools);
    checkOwnPort(model, tools.settings);
    return {
      ...base,
      unserved: '',
      versions: versionChoice(model, tools.settings['gateway.version_header']),
      chains: passage ? new Map() : chainsOf(model, tools),
      targets: passage ? new Map() : targetsOf(model, tools),
      links: linksOf(model, tools.certificates),
      serverIdentity: serverIdentityOf(model, tools.certificates),
      passage: isHere ? passage : undefined,
    };
  } catch (error) {
    if (!(error instanceof Unservable)) throw error;
    const nothing = { versions: noVersions, chains: new Map(), targets: new Map(), links: () => ordinaryLink };
    return { ...base, unserved: error.message, ...nothing, serverIdentity: undefined, passage: undefined };
  }
}

/** Nobody asks an API that is not served for its versions. */
const noVersions: VersionChoice = {
  choose() {
    throw new Error('an API that is not served has no versions');
  },
};

const chainsOf = (model: Model, tools: GatewayTools) =>
  new Map(model.versions.map(version => [version.key, buildChain({ model, version, tools })]));

/** A gateway without segments takes everything; one with segments only what names one of them. */
const isOfSegment = ({ gatewayTags }: Model, segments: readonly string[]) =>
  segments.length === 0 || (gatewayTags.enabled && gatewayTags.tags.some(tag => segments.includes(tag)));
