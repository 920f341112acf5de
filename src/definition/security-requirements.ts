import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, objectOrEmpty } from '#base/json-tree.ts';
import type { AuthMethod } from './auth-methods.ts';
import { authMethods } from './auth-methods.ts';
import { facets } from './definition.ts';
import type { Facet } from './facet.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import { schemeKindOf, schemesPath } from './security-schemes.ts';
import type { OasDefinition } from './wire-types.ts';

/** Security requirement (OpenAPI): alternatives are OR-ed, the schemes inside one are AND-ed. */
export interface SecurityRequirement {
  readonly names: readonly string[];
  /** Methods of its schemes, in the order they run. */
  readonly methods: readonly { readonly mode: AuthMethod; readonly config: Readonly<JsonObject> }[];
  /** It requires an allow-listed client certificate too. */
  readonly requiresCertificate: boolean;
  /** First scheme that is not configured; empty where all are. */
  readonly missingScheme: string;
}

/** Schemes that OpenAPI cannot express, by their name in requirements. */
const gatewaySchemes: Readonly<Record<string, AuthMethod>> = {
  hmac: 'hmac',
  oidc: 'oidc',
  custom: 'custom',
  coprocess: 'custom',
};
const mutualTlsName = 'mtls';

/** Names in requirements that are not components of the document. */
export const gatewaySchemeNames: readonly string[] = [...Object.keys(gatewaySchemes), mutualTlsName];

/** Names of each requirement: those of the document, then those of the gateway extension. */
export function listRequirements({ security }: Pick<OasDefinition, 'security'>, extension: JsonObject): string[][] {
  const gatewayRequirements = arrayOrEmpty(objectOrEmpty(objectOrEmpty(extension.server).authentication).security);
  return [
    ...arrayOrEmpty(security).filter(isObject).map(Object.keys),
    ...gatewayRequirements
      .filter(Array.isArray)
      .map(names => names.filter((name: unknown) => typeof name === 'string')),
  ];
}

/** Empty unless the definition is in compliant mode and has several requirements. */
export function readSecurityRequirements(document: OasDefinition, extension: JsonObject): SecurityRequirement[] {
  const { enabled, securityProcessingMode } = objectOrEmpty(objectOrEmpty(extension.server).authentication);
  if (enabled !== true || securityProcessingMode !== 'compliant') return [];
  const requirements = listRequirements(document, extension);
  return requirements.length > 1 ? requirements.map(names => readRequirement(names, document, extension)) : [];
}

function readRequirement(
  names: readonly string[],
  document: OasDefinition,
  extension: JsonObject,
): SecurityRequirement {
  const schemes = names.map(name => ({ name, way: resolveScheme(name, document, extension) }));
  const ways = schemes.flatMap(({ way }) => (typeof way === 'object' ? [way] : []));
  const missing = schemes.find(({ way }) => way === undefined)?.name;
  return {
    names,
    methods: ways.sort((a, b) => authMethods.indexOf(a.mode) - authMethods.indexOf(b.mode)),
    requiresCertificate: schemes.some(({ way }) => way === mutualTlsName),
    // A scope check identifies no caller: a requirement needs another scheme that does.
    missingScheme: missing ?? (ways.length === 0 ? (names[0] ?? '') : ''),
  };
}

type ResolvedScheme = SecurityRequirement['methods'][number] | 'check' | typeof mutualTlsName;

function resolveScheme(name: string, document: OasDefinition, extension: JsonObject): ResolvedScheme | undefined {
  const path = [...schemesPath, name];
  const component = objectOrEmpty(document.components?.securitySchemes)[name];
  if (isObject(component)) {
    const entry = objectOrEmpty(getAt(extension, path));
    const kind = schemeKindOf(component, entry);
    if (kind === undefined || entry.enabled !== true) return undefined;
    return kind === 'oauth2' ? 'check' : readMethod(kind, extension, { [`@${kind}`]: path });
  }
  if (name === mutualTlsName)
    return readFacet(facets.clientCertificates as Facet, 'oas', extension, {}).enabled === true
      ? mutualTlsName
      : undefined;
  const mode = Object.hasOwn(gatewaySchemes, name) ? gatewaySchemes[name]! : undefined;
  const resolved = mode && readMethod(mode, extension, {});
  return resolved?.config.enabled === true ? resolved : undefined;
}

const readMethod = (mode: AuthMethod, extension: JsonObject, anchors: Anchors) => ({
  mode,
  config: readFacet(facets[mode] as Facet, 'oas', extension, anchors),
});

/** Model variants: the model itself, and one with the settings of each method of each alternative. */
export const expandRequirements = <T extends { readonly securityRequirements: readonly SecurityRequirement[] }>(
  model: T,
): T[] => [
  model,
  ...model.securityRequirements.flatMap(({ methods }) =>
    methods.map(({ mode, config }) => ({ ...model, [mode]: config })),
  ),
];

/** Enabled schemes that no requirement names, and that would never be checked. */
export function findUnreferencedSchemes(document: OasDefinition, extension: JsonObject): string[] {
  const authentication = objectOrEmpty(objectOrEmpty(extension.server).authentication);
  const named = new Set(listRequirements(document, extension).flat());
  const components = objectOrEmpty(document.components?.securitySchemes);
  const schemes = Object.entries(objectOrEmpty(authentication.securitySchemes)).filter(([name, entry]) => {
    const kind = schemeKindOf(objectOrEmpty(components[name]), objectOrEmpty(entry));
    return kind !== undefined && kind !== 'oauth2' && objectOrEmpty(entry).enabled === true && !named.has(name);
  });
  const gatewayOnes = Object.entries(gatewaySchemes).filter(
    ([name, mode]) => name === mode && objectOrEmpty(authentication[mode]).enabled === true,
  );
  const isNamed = (mode: AuthMethod) => [...named].some(name => gatewaySchemes[name] === mode);
  return [...schemes.map(([name]) => name), ...gatewayOnes.filter(([, mode]) => !isNamed(mode)).map(([name]) => name)];
}
