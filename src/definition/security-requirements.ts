import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, objectOrEmpty } from '#base/json-tree.ts';
import type { AuthMethod } from './auth-modes.ts';
import { authMethods } from './auth-modes.ts';
import { facets } from './definition.ts';
import type { Facet } from './facet.ts';
import type { OasDefinition } from './oas.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import { schemeKindOf, schemesPath } from './security-schemes.ts';

/** One of several ways in, any of which will do; inside it every scheme must let the caller in. */
export interface SecurityRequirement {
  readonly names: readonly string[];
  /** What its schemes say, in the order in which they are gone through. */
  readonly methods: readonly { readonly mode: AuthMethod; readonly says: Readonly<JsonObject> }[];
  /** It asks for a listed client certificate too. */
  readonly requiresCertificate: boolean;
  /** The first scheme that nobody set up; empty where all are. */
  readonly missingScheme: string;
}

/** Schemes that OpenAPI cannot name, by what they are called among requirements. */
const gatewaySchemes: Readonly<Record<string, AuthMethod>> = {
  hmac: 'hmac',
  oidc: 'oidc',
  custom: 'custom',
  coprocess: 'custom',
};
const mutualTlsName = 'mtls';

/** Names of requirements that stand for no component of the document. */
export const gatewaySchemeNames: readonly string[] = [...Object.keys(gatewaySchemes), mutualTlsName];

/** The names of each requirement: those of the document, then those of the gateway's own part. */
export function listRequirements({ security }: Pick<OasDefinition, 'security'>, extension: JsonObject): string[][] {
  const gatewayRequirements = arrayOrEmpty(objectOrEmpty(objectOrEmpty(extension.server).authentication).security);
  return [
    ...arrayOrEmpty(security).filter(isObject).map(Object.keys),
    ...gatewayRequirements
      .filter(Array.isArray)
      .map(names => names.filter((name: unknown) => typeof name === 'string')),
  ];
}

/** Empty unless the definition asks for requirements to be alternatives, and has several of them. */
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
  const found = names.map(name => ({ name, way: resolveScheme(name, document, extension) }));
  const ways = found.flatMap(({ way }) => (typeof way === 'object' ? [way] : []));
  const missing = found.find(({ way }) => way === undefined)?.name;
  return {
    names,
    methods: ways.sort((a, b) => authMethods.indexOf(a.mode) - authMethods.indexOf(b.mode)),
    requiresCertificate: found.some(({ way }) => way === mutualTlsName),
    // Checks of scopes know nobody: beside them somebody has to say who calls.
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
  return resolved?.says.enabled === true ? resolved : undefined;
}

const readMethod = (mode: AuthMethod, extension: JsonObject, anchors: Anchors) => ({
  mode,
  says: readFacet(facets[mode] as Facet, 'oas', extension, anchors),
});

/** The definition as each way in of its own meets it: once where all are gone through, else once for every alternative. */
export const expandRequirements = <T extends { readonly alternatives: readonly SecurityRequirement[] }>(
  model: T,
): T[] => [
  model,
  ...model.alternatives.flatMap(({ methods: ways }) => ways.map(({ mode, says }) => ({ ...model, [mode]: says }))),
];

/** Schemes that are on and that no requirement names: nobody would ever be asked for them. */
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
