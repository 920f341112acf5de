import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { AuthMode } from './auth-modes.ts';
import { authModes } from './auth-modes.ts';
import type { ClassicDefinition } from './classic.ts';
import { facets, versionFacets } from './definition.ts';
import type { Endpoints } from './endpoints/lists.ts';
import { classicEndpoints, oasEndpoints } from './endpoints/lists.ts';
import type { Facet, Fields, Side, ValuesOf } from './facet.ts';
import type { OasDefinition } from './oas.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import type { Alternative } from './security-requirements.ts';
import { alternativesOf } from './security-requirements.ts';
import { schemeAnchorsOf, schemesPath, withComponents } from './security-schemes.ts';

/** A definition as the gateway compiles it: our own names, every default filled in, whichever form it came from. */
export type Model = { [K in keyof typeof facets]: FieldsOf<(typeof facets)[K]> } & {
  readonly form: 'classic' | 'oas' | 'streams';
  /** At least one; an API without versions has one whose key is not asked for. */
  readonly versions: readonly VersionModel[];
  /** The ways in that are on, in the order in which they are gone through; none for an open API. */
  readonly modes: readonly AuthMode[];
  /** The ways in of which one is enough; empty where all that are on must be gone through. */
  readonly alternatives: readonly Alternative[];
  /** What the OpenAPI document calls the scheme that checks scopes and exchanges tokens; empty where there is none. */
  readonly scopeScheme: string;
  /** The OpenAPI part, for checks against it and for replies from its examples. */
  readonly document: Readonly<JsonObject> | null;
  readonly streams: Readonly<Record<string, JsonObject>> | null;
};

export type VersionModel = { [K in keyof typeof versionFacets]: FieldsOf<(typeof versionFacets)[K]> } & {
  readonly key: string;
  readonly endpoints: Endpoints;
};

type FieldsOf<F> = F extends Facet<infer T extends Fields> ? ValuesOf<T> : never;

export type { AuthMode };
export { authModes };

export function modelOfClassic(definition: ClassicDefinition): Model {
  const root = settledClassic(definition);
  const versions = Object.entries(objectOrEmpty(definition.version_data?.versions)).filter(([, version]) =>
    isObject(version),
  );
  if (versions.length === 0) versions.push(['', {}]);
  const model = readAll(facets, 'classic', root, {});
  // Without a single version there is nothing to choose between.
  if (isZeroValue(definition.version_data?.versions))
    model.versionData = { ...objectOrEmpty(model.versionData), notVersioned: true };
  return {
    ...model,
    form: 'classic',
    modes: modesOf(model),
    versions: versions.map(([key, version]) => ({
      ...readAll(versionFacets, 'classic', root, { '@version': ['version_data', 'versions', key] }),
      key,
      endpoints: classicEndpoints(objectOrEmpty(version)),
    })),
    alternatives: [],
    scopeScheme: '',
    document: null,
    streams: null,
  } as unknown as Model;
}

export function modelOfOas(document: OasDefinition): Model {
  const { 'x-gw-api-gateway': _, 'x-gw-streaming': streaming, ...openApi } = document;
  const { extension, anchors } = settledOas(document);
  const model = readAll(facets, 'oas', extension, anchors);
  const alternatives = alternativesOf(document, extension);
  return {
    ...model,
    form: isObject(streaming) ? 'streams' : 'oas',
    modes: alternatives.length > 0 ? modesOf(model) : askedFirst(modesOf(model), document, anchors),
    versions: [
      { ...readAll(versionFacets, 'oas', extension, {}), key: '', endpoints: oasEndpoints(extension, document.paths) },
    ],
    alternatives,
    scopeScheme: anchors['@oauth2']?.at(-1) ?? '',
    document: openApi,
    streams: isObject(streaming) ? objectOrEmpty(streaming.streams) : null,
  } as unknown as Model;
}

function readAll(from: Record<string, Facet<Fields>>, side: Side, root: unknown, anchors: Anchors): JsonObject {
  return Object.fromEntries(Object.entries(from).map(([name, facet]) => [name, readFacet(facet, side, root, anchors)]));
}

/**
 * The definition with two older habits spelt out: token and JWT settings were once kept in `auth`, which still counts
 * where they have none of their own; and an API that asks for a credential but says not how asks for a key.
 */
export function settledClassic(definition: ClassicDefinition): ClassicDefinition {
  const settled = { ...definition };
  const { auth, auth_configs } = definition;
  if (isObject(auth)) {
    const { authToken, jwt, ...others } = objectOrEmpty(auth_configs);
    settled.auth_configs = { ...others, authToken: authToken ?? auth, jwt: jwt ?? auth };
  }
  const modes = authModes.filter(mode => readFacet(facets[mode] as Facet, 'classic', settled, {}).enabled === true);
  if (definition.use_keyless !== true && modes.length === 0) settled.use_standard_auth = true;
  return settled;
}

/**
 * The gateway's part with what the OpenAPI components say about it, and where its schemes are. Here too an API that
 * asks for a credential but says not how asks for a key, in the Authorization header where nothing says otherwise.
 */
export function settledOas(document: OasDefinition): { extension: JsonObject; anchors: Anchors } {
  const extension = withComponents(document);
  const anchors = schemeAnchorsOf(document);
  const isOn = (name: keyof typeof facets) =>
    readFacet(facets[name] as Facet, 'oas', extension, anchors).enabled === true;
  if (!isOn('authentication') || authModes.some(isOn)) return { extension, anchors };
  const path = anchors['@token'] ?? [...schemesPath, 'authToken'];
  const entry = objectOrEmpty(getAt(extension, path));
  const somewhere = ['header', 'query', 'cookie'].some(place => objectOrEmpty(entry[place]).enabled === true);
  const header = somewhere ? entry.header : { ...objectOrEmpty(entry.header), enabled: true };
  setAt(extension, path, { ...entry, enabled: true, ...(header === undefined ? {} : { header }) });
  return { extension, anchors: { ...anchors, '@token': path } };
}

const modesOf = (model: JsonObject): AuthMode[] =>
  objectOrEmpty(model.authentication).enabled === true
    ? authModes.filter(mode => objectOrEmpty(model[mode]).enabled === true)
    : [];

/**
 * Of the requirements of a document the first counts where they are no alternatives; ways in that OpenAPI cannot name come
 * on top. A requirement none of whose schemes is on opens nothing: then all that are on must be gone through.
 */
function askedFirst(modes: AuthMode[], { security }: OasDefinition, anchors: Anchors): AuthMode[] {
  const first = arrayOrEmpty(security).find(isObject);
  if (!first) return modes;
  const asked = modes.filter(mode => {
    const name = anchors[`@${mode}`]?.at(-1);
    return name === undefined || Object.hasOwn(first, name);
  });
  return asked.length > 0 ? asked : modes;
}

/**
 * Which version serves an API that has no versions: the only one, or the one with an unassuming name. `undefined`
 * where there is none, or more than one.
 */
export function unversionedKey(keys: readonly string[]): string | undefined {
  if (keys.length === 1) return keys[0];
  const plain = keys.filter(key => key === 'Default' || key === 'default' || key === '');
  return plain.length === 1 ? plain[0] : undefined;
}
