import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, objectOrEmpty } from '#base/json-tree.ts';
import type { AuthMode } from './auth-modes.ts';
import { authModes } from './auth-modes.ts';
import { facets } from './definition.ts';
import type { Facet } from './facet.ts';
import type { OasDefinition } from './oas.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import { kindOf, schemesPath } from './security-schemes.ts';

/** One of several ways in, any of which will do; inside it every scheme must let the caller in. */
export interface Alternative {
  readonly names: readonly string[];
  /** What its schemes say, in the order in which they are gone through. */
  readonly ways: readonly { readonly mode: AuthMode; readonly says: Readonly<JsonObject> }[];
  /** It asks for a listed client certificate too. */
  readonly certificate: boolean;
  /** The first scheme that nobody set up; empty where all are. */
  readonly missing: string;
}

/** Schemes that OpenAPI cannot name, by what they are called among requirements. */
const proprietary: Readonly<Record<string, AuthMode>> = {
  hmac: 'hmac',
  oidc: 'oidc',
  custom: 'custom',
  coprocess: 'custom',
};
const byCertificate = 'mtls';

/** Names of requirements that stand for no component of the document. */
export const ownSchemeNames: readonly string[] = [...Object.keys(proprietary), byCertificate];

/** The names of each requirement: those of the document, then those of the gateway's own part. */
export function requirementsOf({ security }: Pick<OasDefinition, 'security'>, extension: JsonObject): string[][] {
  const own = arrayOrEmpty(objectOrEmpty(objectOrEmpty(extension.server).authentication).security);
  return [
    ...arrayOrEmpty(security).filter(isObject).map(Object.keys),
    ...own.filter(Array.isArray).map(names => names.filter((name: unknown) => typeof name === 'string')),
  ];
}

/** Empty unless the definition asks for requirements to be alternatives, and has several of them. */
export function alternativesOf(document: OasDefinition, extension: JsonObject): Alternative[] {
  const { enabled, securityProcessingMode } = objectOrEmpty(objectOrEmpty(extension.server).authentication);
  if (enabled !== true || securityProcessingMode !== 'compliant') return [];
  const requirements = requirementsOf(document, extension);
  return requirements.length > 1 ? requirements.map(names => alternativeOf(names, document, extension)) : [];
}

function alternativeOf(names: readonly string[], document: OasDefinition, extension: JsonObject): Alternative {
  const found = names.map(name => ({ name, way: wayOf(name, document, extension) }));
  const ways = found.flatMap(({ way }) => (typeof way === 'object' ? [way] : []));
  const missing = found.find(({ way }) => way === undefined)?.name;
  return {
    names,
    ways: ways.sort((a, b) => authModes.indexOf(a.mode) - authModes.indexOf(b.mode)),
    certificate: found.some(({ way }) => way === byCertificate),
    // Checks of scopes know nobody: beside them somebody has to say who calls.
    missing: missing ?? (ways.length === 0 ? (names[0] ?? '') : ''),
  };
}

type Way = Alternative['ways'][number] | 'check' | typeof byCertificate;

function wayOf(name: string, document: OasDefinition, extension: JsonObject): Way | undefined {
  const path = [...schemesPath, name];
  const component = objectOrEmpty(document.components?.securitySchemes)[name];
  if (isObject(component)) {
    const entry = objectOrEmpty(getAt(extension, path));
    const kind = kindOf(component, entry);
    if (kind === undefined || entry.enabled !== true) return undefined;
    return kind === 'oauth2' ? 'check' : says(kind, extension, { [`@${kind}`]: path });
  }
  if (name === byCertificate)
    return readFacet(facets.clientCertificates as Facet, 'oas', extension, {}).enabled === true
      ? byCertificate
      : undefined;
  const mode = Object.hasOwn(proprietary, name) ? proprietary[name]! : undefined;
  const said = mode && says(mode, extension, {});
  return said?.says.enabled === true ? said : undefined;
}

const says = (mode: AuthMode, extension: JsonObject, anchors: Anchors) => ({
  mode,
  says: readFacet(facets[mode] as Facet, 'oas', extension, anchors),
});

/** The definition as each way in of its own meets it: once where all are gone through, else once for every alternative. */
export const variantsOf = <T extends { readonly alternatives: readonly Alternative[] }>(model: T): T[] => [
  model,
  ...model.alternatives.flatMap(({ ways }) => ways.map(({ mode, says }) => ({ ...model, [mode]: says }))),
];

/** Schemes that are on and that no requirement names: nobody would ever be asked for them. */
export function unnamedSchemes(document: OasDefinition, extension: JsonObject): string[] {
  const authentication = objectOrEmpty(objectOrEmpty(extension.server).authentication);
  const named = new Set(requirementsOf(document, extension).flat());
  const components = objectOrEmpty(document.components?.securitySchemes);
  const schemes = Object.entries(objectOrEmpty(authentication.securitySchemes)).filter(([name, entry]) => {
    const kind = kindOf(objectOrEmpty(components[name]), objectOrEmpty(entry));
    return kind !== undefined && kind !== 'oauth2' && objectOrEmpty(entry).enabled === true && !named.has(name);
  });
  const own = Object.entries(proprietary).filter(
    ([name, mode]) => name === mode && objectOrEmpty(authentication[mode]).enabled === true,
  );
  const isNamed = (mode: AuthMode) => [...named].some(name => proprietary[name] === mode);
  return [...schemes.map(([name]) => name), ...own.filter(([, mode]) => !isNamed(mode)).map(([name]) => name)];
}
