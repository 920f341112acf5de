import { getAt, isObject, isZeroValue, type JsonObject, objectOrEmpty, setAt, textOrEmpty } from '#base/json-tree.ts';
import { stripCategories } from './categories.ts';
import { convertToOas, selectVersion } from './convert.ts';
import { carryOverKey } from './convert-block.ts';
import { extensionName } from './document-members.ts';
import type { ClassicDefinition, OasDefinition } from './wire-types.ts';

/** A classic definition as OpenAPI documents: one for each version. */
export interface SplitDefinition {
  readonly base: OasDefinition;
  readonly versions: readonly { readonly name: string; readonly document: OasDefinition }[];
  /** Members without a place in the OpenAPI format: kept in the document, without effect. */
  readonly unconverted: readonly string[];
}

/**
 * Converts a classic definition, each of its versions to a document of its own. The default version becomes the base,
 * which keeps route and id; the others are internal and reached through it. `createId` gives them ids.
 */
export function splitVersions(classic: ClassicDefinition, createId: () => string): SplitDefinition {
  const lead = selectVersion(classic);
  const keys = listVersionKeys(classic);
  const isVersioned = classic.version_data?.not_versioned !== true && keys.length > 1;
  const { document: base, unconverted } = convertVersionOf(classic, lead);
  if (!isVersioned) return { base, versions: [], unconverted };
  const versions = keys
    .filter(key => key !== lead)
    .map(key => ({
      name: readVersionName(classic, key),
      document: toInternal(convertVersionOf(classic, key).document, createId()),
    }));
  const versioning = {
    ...objectOrEmpty(getAt(base, [extensionName, 'info', 'versioning'])),
    enabled: true,
    name: readVersionName(classic, lead ?? ''),
    default: classic.version_data?.default_version ? 'self' : '',
    versions: versions.map(({ name, document }) => ({ name, id: document[extensionName].info.id })),
  };
  setAt(base as unknown as JsonObject, [extensionName, 'info', 'versioning'], versioning);
  return { base, versions, unconverted };
}

const readVersions = ({ version_data }: ClassicDefinition): JsonObject => objectOrEmpty(version_data?.versions);
const listVersionKeys = (classic: ClassicDefinition) =>
  Object.entries(readVersions(classic)).flatMap(([key, version]) => (isObject(version) ? [key] : []));
const readVersionName = (classic: ClassicDefinition, key: string) =>
  textOrEmpty(objectOrEmpty(readVersions(classic)[key]).name) || key;

function convertVersionOf(classic: ClassicDefinition, key: string | undefined) {
  const document = structuredClone(convertToOas(classic, key));
  const root = document as unknown as JsonObject;
  const { override_target: target, expires } = objectOrEmpty(readVersions(classic)[key ?? '']);
  if (typeof target === 'string' && target !== '') setAt(root, [extensionName, 'upstream', 'url'], target);
  if (typeof expires === 'string' && expires !== '' && expires !== 'never')
    setAt(root, [extensionName, 'info', 'expiration'], expires);
  // Categories are words of a classic name, and stand beside a document.
  const title = stripCategories(classic.name ?? '') || classic.name;
  if (title)
    for (const path of [
      ['info', 'title'],
      [extensionName, 'info', 'name'],
    ])
      setAt(root, path, title);
  return { document, unconverted: dropVersionData(root) };
}

/** Other versions have documents of their own: what is carried over of them goes. Returns the members that stay. */
function dropVersionData(root: JsonObject): string[] {
  const extension = objectOrEmpty(root[extensionName]);
  const { version_data: _versions, ...rest } = objectOrEmpty(extension[carryOverKey.classic]);
  if (isZeroValue(rest)) delete extension[carryOverKey.classic];
  else extension[carryOverKey.classic] = rest;
  return listUnconverted(root);
}

/** Members of a converted document that have no place in the OpenAPI format: kept in `x-gw-classic`, without effect. */
export function listUnconverted(document: object): string[] {
  const carriedOver = objectOrEmpty(getAt(document as JsonObject, [extensionName, carryOverKey.classic]));
  return Object.keys(carriedOver).filter(name => !isZeroValue(carriedOver[name]));
}

function toInternal(document: OasDefinition, id: string): OasDefinition {
  const { info, server, ...rest } = document[extensionName];
  const { versioning: _base, dbId: _dbId, ...own } = info;
  const { listenPath: _path, customDomain: _domain, ...serverRest } = server;
  const state = { ...own.state, internal: true };
  const extension = { ...rest, info: { ...own, id, state }, server: serverRest };
  return { ...document, [extensionName]: extension } as OasDefinition;
}
