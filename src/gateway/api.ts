import { listenPathSpelling } from '#definition/listen-path.ts';
import type { Model } from '#definition/model.ts';
import { buildChain, type Chain } from './chain.ts';
import { type Route, routesOf } from './routes.ts';
import { Unservable } from './step.ts';
import type { GatewayTools } from './tools.ts';
import { type Links, linksOf, ordinaryLink } from './upstream/link.ts';
import { type Target, targetsOf } from './upstream/target.ts';
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
  readonly listenPath: string;
  readonly routed: boolean;
  /** What it answers itself, by the path below the listen path. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly versions: VersionChoice;
  readonly chains: ReadonlyMap<string, Chain>;
  readonly targets: ReadonlyMap<string, Target>;
  /** How its upstreams are connected to. */
  readonly links: Links;
}

export function compileApi(model: Model, tools: GatewayTools): Api {
  const { identity, listen, customDomain } = model;
  const base = {
    id: identity.id,
    databaseId: identity.databaseId,
    orgId: identity.orgId,
    name: identity.name,
    model,
    host: customDomain.enabled ? customDomain.name.toLowerCase().replace(/\.$/, '') : '',
    listenPath: listenPathSpelling(listen.path),
    routed:
      identity.active &&
      !identity.internal &&
      listen.path !== '' &&
      !/\s/.test(listen.path) &&
      isOfSegment(model, tools.settings['gateway.segments']),
    routes: routesOf({ model, tools }),
    versions: versionChoice(model, tools.settings['gateway.version_header']),
  };
  try {
    const chains = new Map(model.versions.map(version => [version.key, buildChain({ model, version, tools })]));
    return { ...base, unserved: '', chains, targets: targetsOf(model), links: linksOf(model, tools.certificates) };
  } catch (error) {
    if (!(error instanceof Unservable)) throw error;
    return { ...base, unserved: error.message, chains: new Map(), targets: new Map(), links: () => ordinaryLink };
  }
}

/** A gateway without segments takes everything; one with segments only what names one of them. */
const isOfSegment = ({ gatewayTags }: Model, segments: readonly string[]) =>
  segments.length === 0 || (gatewayTags.enabled && gatewayTags.tags.some(tag => segments.includes(tag)));
