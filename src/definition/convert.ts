import type { JsonObject } from '#base/json-tree.ts';
import { getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { ClassicDefinition } from './classic.ts';
import type { Passage } from './convert-block.ts';
import { arrive, bagName, convertBlock, depart } from './convert-block.ts';
import { facets, versionFacets } from './definition.ts';
import { endpointsToClassic, endpointsToOas } from './endpoints/converting.ts';
import type { Facet, Fields } from './facet.ts';
import type { SchemeKind } from './facets/schemes.ts';
import { schemeAnchors } from './facets/schemes.ts';
import { settledClassic, settledOas, unversionedKey } from './model.ts';
import type { GatewayExtension, OasDefinition } from './oas.ts';
import type { Anchors } from './read-fields.ts';
import { readFacet } from './read-fields.ts';
import { componentOf, leaveToComponent, schemesPath } from './security-schemes.ts';

const allFacets = [...Object.values(facets), ...Object.values(versionFacets)] as unknown as Facet<Fields>[];

/** The OpenAPI document of a classic definition. Of several versions inside it, the named or default one is shown. */
export function oasOfClassic(classic: ClassicDefinition, wanted?: string): OasDefinition {
  const home = objectOrEmpty(classic[bagName.oas]);
  const { 'x-gw-api-gateway': homeExtension, ...document } = isZeroValue(home)
    ? newDocument(classic)
    : structuredClone(home);
  const key = wanted ?? chosenVersion(classic) ?? '';
  const source = { ...settledClassic(classic), [bagName.oas]: objectOrEmpty(homeExtension) };
  const names = schemeNames(source);
  const passage = depart('classic', 'oas', source, {
    classic: { '@version': ['version_data', 'versions', key] },
    oas: Object.fromEntries(
      schemeAnchors.map(kind => [`@${kind}`, names.has(kind) ? [...schemesPath, names.get(kind)!] : null]),
    ),
  });
  // The copies that reading needed are not part of what was written.
  if (classic.auth_configs === undefined) delete passage.rest.auth_configs;
  else passage.rest.auth_configs = structuredClone(classic.auth_configs);
  delete passage.rest.is_oas;
  for (const facet of allFacets) if (isCarried(facet, passage)) convertBlock(facet, passage);
  convertVersion(passage, key, document);
  declareSchemes(names, document, passage.target);
  return { ...document, 'x-gw-api-gateway': arrive(passage) as unknown as GatewayExtension } as OasDefinition;
}

/** The classic definition of a document. */
export function classicOfOas(document: OasDefinition): ClassicDefinition {
  const { extension, anchors: schemes } = settledOas(document);
  const home = objectOrEmpty(extension[bagName.classic]) as ClassicDefinition;
  const key = chosenVersion(home) ?? '';
  // A definition that comes home with its versions has said whether calls name theirs.
  const hasVersions = !isZeroValue(home.version_data?.versions);
  const passage = depart('oas', 'classic', extension, {
    classic: { '@version': ['version_data', 'versions', key] },
    oas: schemes,
  });
  const { target, rest } = passage;
  for (const facet of allFacets) if (isCarried(facet, passage)) convertBlock(facet, passage);
  labelSchemes(schemes, passage);
  const version = objectOrEmpty(getAt(target, ['version_data', 'versions', key]));
  endpointsToClassic(document.paths, extension, rest, version);
  if (!hasVersions) setAt(target, ['version_data', 'not_versioned'], true);
  setAt(target, ['version_data', 'versions', key], { name: key, ...version, use_extended_paths: true });
  const { 'x-gw-api-gateway': _, ...openApi } = structuredClone(document) as JsonObject;
  return { ...target, is_oas: true, [bagName.oas]: { ...openApi, 'x-gw-api-gateway': rest } } as ClassicDefinition;
}

const newDocument = ({ name }: ClassicDefinition): JsonObject => ({
  openapi: '3.0.3',
  info: { title: name || 'API', version: '1.0.0' },
  paths: {},
});

const isCarried = (facet: Facet<Fields>, { from, source, anchors }: Passage) =>
  facet.onlyWhenOn !== true || readFacet(facet, from, source, anchors[from]).enabled === true;

/** The version that stands for the API where only one can. */
export function chosenVersion({ version_data }: ClassicDefinition): string | undefined {
  const versions = objectOrEmpty(version_data?.versions);
  const keys = Object.keys(versions).filter(key => isObject(versions[key]));
  const named = version_data?.default_version;
  if (version_data?.not_versioned !== true && named !== undefined && keys.includes(named)) return named;
  return unversionedKey(keys) ?? keys[0];
}

/** How the classic form calls the settings of a scheme. */
const configOf = (kind: SchemeKind) => (kind === 'token' ? 'authToken' : kind);

/** What each way in that is on is called among the security schemes. */
function schemeNames(classic: ClassicDefinition): Map<SchemeKind, string> {
  const names = new Map<SchemeKind, string>();
  for (const kind of schemeAnchors) {
    const { classic: base } = facets[kind];
    if (base === null || readFacet(facets[kind] as Facet, 'classic', classic, {}).enabled !== true) continue;
    const label = getAt(classic, ['auth_configs', configOf(kind), 'name']);
    const name = typeof label === 'string' && label !== '' ? label : configOf(kind);
    names.set(kind, [...names.values()].includes(name) ? configOf(kind) : name);
  }
  return names;
}

/** The classic form remembers the name of a scheme with its settings. */
function labelSchemes(schemes: Anchors, { source, target }: Passage): void {
  for (const kind of schemeAnchors) {
    const path = schemes[`@${kind}`];
    if (kind === 'oauth2' || !path || objectOrEmpty(getAt(source, path)).enabled !== true) continue;
    setAt(target, ['auth_configs', configOf(kind), 'name'], path.at(-1));
  }
}

function convertVersion({ source, rest, target }: Passage, key: string, document: JsonObject): void {
  const version = getAt(source, ['version_data', 'versions', key]);
  if (!isObject(version)) return;
  const operations = objectOrEmpty(getAt(target, ['middleware', 'operations']));
  const left = endpointsToOas(version, document, operations);
  if (!isZeroValue(operations)) setAt(target, ['middleware', 'operations'], operations);
  const remaining = objectOrEmpty(getAt(rest, ['version_data', 'versions', key]));
  delete remaining.extended_paths;
  delete remaining.use_extended_paths;
  delete remaining.paths;
  for (const name of ['extended_paths', 'paths', 'x-gw-unused-extended-paths'])
    if (name in left) remaining[name] = left[name];
  // The key of the version is remembered even where all it said has been carried over.
  setAt(rest, ['version_data', 'versions', key], remaining);
}

function declareSchemes(names: ReadonlyMap<SchemeKind, string>, document: JsonObject, extension: JsonObject): void {
  for (const [kind, name] of names) {
    const entry = objectOrEmpty(getAt(extension, [...schemesPath, name]));
    const path = ['components', 'securitySchemes', name];
    if (getAt(document, path) === undefined) setAt(document, path, componentOf(kind, entry));
    // Without providers it would pass for the gateway's own OAuth.
    if (kind === 'externalOAuth') entry.providers ??= [];
    leaveToComponent(entry, objectOrEmpty(getAt(document, path)));
  }
  const known = Array.isArray(document.security) && document.security.length > 0;
  if (names.size > 0 && !known) document.security = [Object.fromEntries([...names.values()].map(name => [name, []]))];
}
