import { isObject, type JsonObject } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';

/** Members of the extension that belong to one API: a new API takes none of a template. */
const identityNames: readonly string[] = ['id', 'dbId', 'orgId'];

/**
 * Merges a document over a template: members of objects are united and those of the document win; a list of the document
 * replaces that of the template.
 */
export function mergeTemplate(template: JsonObject, document: unknown): unknown {
  if (!isObject(document)) return document;
  return mergeObjects(withoutIdentity(template), document);
}

/** Unites two objects, at every depth; where both have a value, that of `above` wins. */
export function mergeObjects(below: JsonObject, above: JsonObject): JsonObject {
  const names = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...names].map(name => [name, mergeMember(below, above, name)]));
}

function mergeMember(below: JsonObject, above: JsonObject, name: string): unknown {
  if (!Object.hasOwn(above, name)) return structuredClone(below[name]);
  const [lower, upper] = [Object.hasOwn(below, name) ? below[name] : undefined, above[name]];
  return isObject(lower) && isObject(upper) ? mergeObjects(lower, upper) : upper;
}

function withoutIdentity(template: JsonObject): JsonObject {
  const extension = template[extensionName];
  if (!isObject(extension) || !isObject(extension.info)) return template;
  const info = Object.fromEntries(Object.entries(extension.info).filter(([name]) => !identityNames.includes(name)));
  return { ...template, [extensionName]: { ...extension, info } };
}
