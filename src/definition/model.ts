import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { AuthMethod } from './auth-methods.ts';
import { authMethods } from './auth-methods.ts';
import { facets, versionFacets } from './definition.ts';
import type { Endpoints, McpModel } from './endpoints/endpoint-lists.ts';
import { readClassicEndpoints, readMcpModel, readOasEndpoints } from './endpoints/endpoint-lists.ts';
import type { DefinitionFormat, Facet, Fields, ValuesOf } from './facet.ts';
import { isMcpExtension } from './mcp-names.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import type { SecurityRequirement } from './security-requirements.ts';
import { readSecurityRequirements } from './security-requirements.ts';
import { findSchemeAnchors, mergeComponents, schemesPath } from './security-schemes.ts';
import type { ClassicDefinition, OasDefinition } from './wire-types.ts';

/** Model: a definition as the gateway compiles it, with our own names and every default, from either format. */
export type Model = { [K in keyof typeof facets]: FieldsOf<(typeof facets)[K]> } & {
  readonly format: 'classic' | 'oas' | 'streams' | 'mcp';
  /** At least one; an API without versions has one with an unused key. */
  readonly versions: readonly VersionModel[];
  /** Enabled auth methods, in the order they run; none for a keyless API. */
  readonly authMethods: readonly AuthMethod[];
  /** Alternative security requirements, of which one must pass; empty where all enabled methods must pass. */
  readonly securityRequirements: readonly SecurityRequirement[];
  /** Name of the OpenAPI scheme that checks scopes and exchanges tokens; empty where there is none. */
  readonly scopeScheme: string;
  /** OpenAPI part, for request validation and mock responses. */
  readonly document: Readonly<JsonObject> | null;
  readonly streams: Readonly<Record<string, JsonObject>> | null;
  /** Null for an API that is no MCP proxy. */
  readonly mcp: McpModel | null;
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
  // Without versions there is nothing to select.
  if (isZeroValue(definition.version_data?.versions))
    model.versionData = { ...objectOrEmpty(model.versionData), notVersioned: true };
  return {
    ...model,
    format: 'classic',
    authMethods: listEnabledMethods(model),
    versions: versions.map(([key, version]) => ({
      ...readAll(versionFacets, 'classic', root, { '@version': ['version_data', 'versions', key] }),
      key,
      endpoints: readClassicEndpoints(objectOrEmpty(version)),
    })),
    securityRequirements: [],
    scopeScheme: '',
    document: null,
    streams: null,
    mcp: null,
  } satisfies Partial<Record<keyof Model, unknown>> as unknown as Model;
}

export function oasToModel(document: OasDefinition): Model {
  const { 'x-gw-api-gateway': _, 'x-gw-streaming': streaming, ...openApi } = document;
  const { extension, anchors } = normalizeOas(document);
  const model = readAll(facets, 'oas', extension, anchors);
  const securityRequirements = readSecurityRequirements(document, extension);
  return {
    ...model,
    format: isObject(streaming) ? 'streams' : isMcpExtension(extension) ? 'mcp' : 'oas',
    authMethods:
      securityRequirements.length > 0
        ? listEnabledMethods(model)
        : selectFirstRequirement(listEnabledMethods(model), document, anchors),
    versions: [
      {
        ...readAll(versionFacets, 'oas', extension, {}),
        key: '',
        endpoints: readOasEndpoints(extension, document.paths),
      },
    ],
    securityRequirements,
    scopeScheme: anchors['@oauth2']?.at(-1) ?? '',
    document: openApi,
    streams: isObject(streaming) ? objectOrEmpty(streaming.streams) : null,
    mcp: isMcpExtension(extension) ? readMcpModel(extension) : null,
  } satisfies Partial<Record<keyof Model, unknown>> as unknown as Model;
}

function readAll(
  from: Record<string, Facet<Fields>>,
  format: DefinitionFormat,
  root: unknown,
  anchors: Anchors,
): JsonObject {
  const values: JsonObject = {};
  for (const [name, facet] of Object.entries(from)) values[name] = readFacet(facet, format, root, anchors);
  return values;
}

/**
 * Normalizes two older notations: token and JWT settings in `auth`, which count where the methods have none of their
 * own; and an API that requires authentication without a method, which requires a key.
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
 * Gateway extension merged with the OpenAPI components, and the locations of its schemes. An API that requires
 * authentication without a method requires a key, in the Authorization header unless configured otherwise.
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

const listEnabledMethods = (model: JsonObject): AuthMethod[] =>
  objectOrEmpty(model.authentication).enabled === true
    ? authMethods.filter(mode => objectOrEmpty(model[mode]).enabled === true)
    : [];

/**
 * Where requirements are not OR-ed, only the first of a document counts; methods that OpenAPI cannot express are added.
 * A requirement none of whose schemes is enabled opens nothing: then all enabled methods must pass.
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
 * Version that serves an API without versioning: the only one, or the one with a default name. `undefined` where there
 * is none, or more than one.
 */
export function findUnversionedKey(keys: readonly string[]): string | undefined {
  if (keys.length === 1) return keys[0];
  const plain = keys.filter(key => key === 'Default' || key === 'default' || key === '');
  return plain.length === 1 ? plain[0] : undefined;
}

/** Versions inside one definition; where each is an API of its own, keys and times of service belong to that one. */
export const hasOwnVersions = ({
  format,
  versioning,
  versionData,
}: Pick<Model, 'format' | 'versioning' | 'versionData'>): boolean =>
  format === 'classic' && !versioning.enabled && !versionData.notVersioned;
