import type { JsonObject } from '#base/json-tree.ts';
import { getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { ConversionContext } from './convert-block.ts';
import { carryOverKey, convertBlock, finishConversion, startConversion } from './convert-block.ts';
import { facets, versionFacets } from './definition.ts';
import { convertEndpointsToClassic, convertEndpointsToOas } from './endpoints/convert-endpoints.ts';
import type { Facet, Fields } from './facet.ts';
import type { SchemeKind } from './facets/schemes.ts';
import { schemeKinds } from './facets/schemes.ts';
import { findUnversionedKey, normalizeClassic, normalizeOas } from './model.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import { buildComponent, omitComponentSettings, schemesPath } from './security-schemes.ts';
import type { ClassicDefinition, GatewayExtension, OasDefinition } from './wire-types.ts';

const allFacets = [...Object.values(facets), ...Object.values(versionFacets)] as unknown as Facet<Fields>[];

/** Converts a classic definition to an OpenAPI document. Of several versions, the named or default one is converted. */
export function convertToOas(classic: ClassicDefinition, versionKey?: string): OasDefinition {
  const carriedOver = objectOrEmpty(classic[carryOverKey.oas]);
  const { 'x-gw-api-gateway': carriedExtension, ...document } = isZeroValue(carriedOver)
    ? newDocument(classic)
    : structuredClone(carriedOver);
  const key = versionKey ?? selectVersion(classic) ?? '';
  const source = { ...normalizeClassic(classic), [carryOverKey.oas]: objectOrEmpty(carriedExtension) };
  const names = nameSchemes(source);
  const context = startConversion('classic', 'oas', source, {
    classic: { '@version': ['version_data', 'versions', key] },
    oas: Object.fromEntries(
      schemeKinds.map(kind => [`@${kind}`, names.has(kind) ? [...schemesPath, names.get(kind)!] : null]),
    ),
  });
  // Drops copies that normalization made and the author did not write.
  if (classic.auth_configs === undefined) delete context.rest.auth_configs;
  else context.rest.auth_configs = structuredClone(classic.auth_configs);
  delete context.rest.is_oas;
  for (const facet of allFacets) if (isConvertible(facet, context)) convertBlock(facet, context);
  convertVersion(context, key, document);
  declareSchemes(names, document, context.target);
  return { ...document, 'x-gw-api-gateway': finishConversion(context) as unknown as GatewayExtension } as OasDefinition;
}

/** Converts an OpenAPI document to a classic definition. */
export function convertToClassic(document: OasDefinition): ClassicDefinition {
  const { extension, anchors: schemes } = normalizeOas(document);
  const carriedOver = objectOrEmpty(extension[carryOverKey.classic]) as ClassicDefinition;
  const key = selectVersion(carriedOver) ?? '';
  // A definition converted back with its versions sets whether requests name theirs.
  const hasVersions = !isZeroValue(carriedOver.version_data?.versions);
  const context = startConversion('oas', 'classic', extension, {
    classic: { '@version': ['version_data', 'versions', key] },
    oas: schemes,
  });
  const { target, rest } = context;
  for (const facet of allFacets) if (isConvertible(facet, context)) convertBlock(facet, context);
  labelSchemes(schemes, context);
  const version = objectOrEmpty(getAt(target, ['version_data', 'versions', key]));
  convertEndpointsToClassic(document.paths, extension, rest, version);
  if (!hasVersions) setAt(target, ['version_data', 'not_versioned'], true);
  setAt(target, ['version_data', 'versions', key], { name: key, ...version, use_extended_paths: true });
  const { 'x-gw-api-gateway': _, ...openApi } = structuredClone(document) as JsonObject;
  return { ...target, is_oas: true, [carryOverKey.oas]: { ...openApi, 'x-gw-api-gateway': rest } } as ClassicDefinition;
}

const newDocument = ({ name }: ClassicDefinition): JsonObject => ({
  openapi: '3.0.3',
  info: { title: name || 'API', version: '1.0.0' },
  paths: {},
});

const isConvertible = (facet: Facet<Fields>, { from, source, anchors }: ConversionContext) =>
  facet.convertsOnlyWhenEnabled !== true || readFacet(facet, from, source, anchors[from]).enabled === true;

/** Version that represents the API where only one can. */
export function selectVersion({ version_data }: ClassicDefinition): string | undefined {
  const versions = objectOrEmpty(version_data?.versions);
  const keys = Object.keys(versions).filter(key => isObject(versions[key]));
  const named = version_data?.default_version;
  if (version_data?.not_versioned !== true && named !== undefined && keys.includes(named)) return named;
  return findUnversionedKey(keys) ?? keys[0];
}

/** Name of a scheme in `auth_configs`. */
const authConfigName = (kind: SchemeKind) => (kind === 'token' ? 'authToken' : kind);

/** Names of the enabled auth methods among the security schemes. */
function nameSchemes(classic: ClassicDefinition): Map<SchemeKind, string> {
  const names = new Map<SchemeKind, string>();
  for (const kind of schemeKinds) {
    const { classic: base } = facets[kind];
    if (base === null || readFacet(facets[kind] as Facet, 'classic', classic, {}).enabled !== true) continue;
    const label = getAt(classic, ['auth_configs', authConfigName(kind), 'name']);
    const name = typeof label === 'string' && label !== '' ? label : authConfigName(kind);
    names.set(kind, [...names.values()].includes(name) ? authConfigName(kind) : name);
  }
  return names;
}

/** The classic format stores the name of a scheme with its settings. */
function labelSchemes(schemes: Anchors, { source, target }: ConversionContext): void {
  for (const kind of schemeKinds) {
    const path = schemes[`@${kind}`];
    if (kind === 'oauth2' || !path || objectOrEmpty(getAt(source, path)).enabled !== true) continue;
    setAt(target, ['auth_configs', authConfigName(kind), 'name'], path.at(-1));
  }
}

function convertVersion({ source, rest, target }: ConversionContext, key: string, document: JsonObject): void {
  const version = getAt(source, ['version_data', 'versions', key]);
  if (!isObject(version)) return;
  const operations = objectOrEmpty(getAt(target, ['middleware', 'operations']));
  const unconverted = convertEndpointsToOas(version, document, operations);
  if (!isZeroValue(operations)) setAt(target, ['middleware', 'operations'], operations);
  const remaining = objectOrEmpty(getAt(rest, ['version_data', 'versions', key]));
  delete remaining.extended_paths;
  delete remaining.use_extended_paths;
  delete remaining.paths;
  for (const name of ['extended_paths', 'paths', 'x-gw-unused-extended-paths'])
    if (name in unconverted) remaining[name] = unconverted[name];
  // Keeps the version key even where all its members were converted.
  setAt(rest, ['version_data', 'versions', key], remaining);
}

function declareSchemes(names: ReadonlyMap<SchemeKind, string>, document: JsonObject, extension: JsonObject): void {
  for (const [kind, name] of names) {
    const entry = objectOrEmpty(getAt(extension, [...schemesPath, name]));
    const path = ['components', 'securitySchemes', name];
    if (getAt(document, path) === undefined) setAt(document, path, buildComponent(kind, entry));
    // Without providers it would be read as the gateway's own OAuth.
    if (kind === 'externalOAuth') entry.providers ??= [];
    omitComponentSettings(entry, objectOrEmpty(getAt(document, path)));
  }
  const hasSecurity = Array.isArray(document.security) && document.security.length > 0;
  if (names.size > 0 && !hasSecurity)
    document.security = [Object.fromEntries([...names.values()].map(name => [name, []]))];
}
