import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { AuthMethod } from './auth-modes.ts';
import { authMethods } from './auth-modes.ts';
import type { ClassicDefinition } from './classic.ts';
import { facets, versionFacets } from './definition.ts';
import type { Endpoints } from './endpoints/lists.ts';
import { readClassicEndpoints, readOasEndpoints } from './endpoints/lists.ts';
import type { DefinitionFormat, Facet, Fields, ValuesOf } from './facet.ts';
import type { OasDefinition } from './oas.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import type { SecurityRequirement } from './security-requirements.ts';
import { readSecurityRequirements } from './security-requirements.ts';
import { findSchemeAnchors, mergeComponents, schemesPath } from './security-schemes.ts';

/** A definition as the gateway compiles it: our own names, every default filled in, whichever form it came from. */
export type Model = { [K in keyof typeof facets]: FieldsOf<(typeof facets)[K]> } & {
  readonly form: 'classic' | 'oas' | 'streams';
  /** At least one; an API without versions has one whose key is not asked for. */
  readonly versions: readonly VersionModel[];
  /** The ways in that are on, in the order in which they are gone through; none for an open API. */
  readonly modes: readonly AuthMethod[];
  /** The ways in of which one is enough; empty where all that are on must be gone through. */
  readonly alternatives: readonly SecurityRequirement[];
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

export type { AuthMethod };
export { authMethods };

export function classicToModel(definition: ClassicDefinition): Model {
  const root = normalizeClassic(definition);
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
    modes: enabledMethodsOf(model),
    versions: versions.map(([key, version]) => ({
      ...readAll(versionFacets, 'classic', root, { '@version': ['version_data', 'versions', key] }),
      key,
      endpoints: readClassicEndpoints(objectOrEmpty(version)),
    })),
    alternatives: [],
    scopeScheme: '',
    document: null,
    streams: null,
  } as unknown as Model;
}

export function oasToModel(document: OasDefinition): Model {
  const { 'x-gw-api-gateway': _, 'x-gw-streaming': streaming, ...openApi } = document;
  const { extension, anchors } = normalizeOas(document);
  const model = readAll(facets, 'oas', extension, anchors);
  const alternatives = readSecurityRequirements(document, extension);
  return {
    ...model,
    form: isObject(streaming) ? 'streams' : 'oas',
    modes:
      alternatives.length > 0
        ? enabledMethodsOf(model)
        : selectFirstRequirement(enabledMethodsOf(model), document, anchors),
    versions: [
      {
        ...readAll(versionFacets, 'oas', extension, {}),
        key: '',
        endpoints: readOasEndpoints(extension, document.paths),
      },
    ],
    alternatives,
    scopeScheme: anchors['@oauth2']?.at(-1) ?? '',
    document: openApi,
    streams: isObject(streaming) ? objectOrEmpty(streaming.streams) : null,
  } as unknown as Model;
}

function readAll(
  from: Record<string, Facet<Fields>>,
  format: DefinitionFormat,
  root: unknown,
  anchors: Anchors,
): JsonObject {
  return Object.fromEntries(
    Object.entries(from).map(([name, facet]) => [name, readFacet(facet, format, root, anchors)]),
  );
}

/**
 * The definition with two older habits spelt out: token and JWT settings were once kept in `auth`, which still counts
 * where they have none of their own; and an API that asks for a credential but says not how asks for a key.
 */
export function normalizeClassic(definition: ClassicDefinition): ClassicDefinition {
  const normalized = { ...definition };
  const { auth, auth_configs } = definition;
  if (isObject(auth)) {
    const { authToken, jwt, ...others } = objectOrEmpty(auth_configs);
    normalized.auth_configs = { ...others, authToken: authToken ?? auth, jwt: jwt ?? auth };
  }
  const enabledMethods = authMethods.filter(
    mode => readFacet(facets[mode] as Facet, 'classic', normalized, {}).enabled === true,
  );
  if (definition.use_keyless !== true && enabledMethods.length === 0) normalized.use_standard_auth = true;
  return normalized;
}

/**
 * The gateway's part with what the OpenAPI components say about it, and where its schemes are. Here too an API that
 * asks for a credential but says not how asks for a key, in the Authorization header where nothing says otherwise.
 */
export function normalizeOas(document: OasDefinition): { extension: JsonObject; anchors: Anchors } {
  const extension = mergeComponents(document);
  const anchors = findSchemeAnchors(document);
  const isOn = (name: keyof typeof facets) =>
    readFacet(facets[name] as Facet, 'oas', extension, anchors).enabled === true;
  if (!isOn('authentication') || authMethods.some(isOn)) return { extension, anchors };
  const path = anchors['@token'] ?? [...schemesPath, 'authToken'];
  const entry = objectOrEmpty(getAt(extension, path));
  const hasSource = ['header', 'query', 'cookie'].some(place => objectOrEmpty(entry[place]).enabled === true);
  const header = hasSource ? entry.header : { ...objectOrEmpty(entry.header), enabled: true };
  setAt(extension, path, { ...entry, enabled: true, ...(header === undefined ? {} : { header }) });
  return { extension, anchors: { ...anchors, '@token': path } };
}

const enabledMethodsOf = (model: JsonObject): AuthMethod[] =>
  objectOrEmpty(model.authentication).enabled === true
    ? authMethods.filter(mode => objectOrEmpty(model[mode]).enabled === true)
    : [];

/**
 * Of the requirements of a document the first counts where they are no alternatives; ways in that OpenAPI cannot name come
 * on top. A requirement none of whose schemes is on opens nothing: then all that are on must be gone through.
 */
function selectFirstRequirement(methods: AuthMethod[], { security }: OasDefinition, anchors: Anchors): AuthMethod[] {
  const first = arrayOrEmpty(security).find(isObject);
  if (!first) return methods;
  const required = methods.filter(mode => {
    const name = anchors[`@${mode}`]?.at(-1);
    return name === undefined || Object.hasOwn(first, name);
  });
  return required.length > 0 ? required : methods;
}

/**
 * Which version serves an API that has no versions: the only one, or the one with an unassuming name. `undefined`
 * where there is none, or more than one.
 */
export function findUnversionedKey(keys: readonly string[]): string | undefined {
  if (keys.length === 1) return keys[0];
  const plain = keys.filter(key => key === 'Default' || key === 'default' || key === '');
  return plain.length === 1 ? plain[0] : undefined;
}
