import { getAt, type JsonObject, setAt } from '#base/json-tree.ts';
import { extensionName } from '#definition/document-members.ts';
import type { OasDefinition } from '#definition/wire-types.ts';

/** Staged copies: ids, names and listen paths with a prefix, so that a copy is served beside its original. */
export const stagingIdPrefix = 'staging-';
const stagingNamePrefix = '[staged] ';
const stagingPathPrefix = '/gw-staging';

const addPrefix = (prefix: string) => (text: string) => `${prefix}${text}`;
const dropPrefix = (prefix: string) => (text: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text);
const withSlash = (path: string) => (path.startsWith('/') ? path : `/${path}`);

export const toStagedDocument = (document: OasDefinition): OasDefinition =>
  mapNames(document, {
    id: addPrefix(stagingIdPrefix),
    name: addPrefix(stagingNamePrefix),
    path: path => stagingPathPrefix + withSlash(path),
  });

export const fromStagedDocument = (document: OasDefinition): OasDefinition =>
  mapNames(document, {
    id: dropPrefix(stagingIdPrefix),
    name: dropPrefix(stagingNamePrefix),
    path: dropPrefix(stagingPathPrefix),
  });

interface NameMaps {
  id(text: string): string;
  name(text: string): string;
  path(text: string): string;
}

function mapNames(document: OasDefinition, maps: NameMaps): OasDefinition {
  const next = structuredClone(document) as unknown as JsonObject;
  const mapText = (path: readonly string[], map: (text: string) => string) => {
    const value = getAt(next, [extensionName, ...path]);
    if (typeof value === 'string' && value !== '') setAt(next, [extensionName, ...path], map(value));
  };
  mapText(['info', 'id'], maps.id);
  mapText(['info', 'name'], maps.name);
  mapText(['server', 'listenPath', 'value'], maps.path);
  const versions = getAt(next, [extensionName, 'info', 'versioning', 'versions']);
  if (Array.isArray(versions))
    for (const version of versions as { id?: unknown }[])
      if (typeof version.id === 'string') version.id = maps.id(version.id);
  return next as unknown as OasDefinition;
}
