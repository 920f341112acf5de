import { unescapePointerToken } from '#base/json-pointer.ts';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { Dialect } from './dialects.ts';
import { InvalidSchema } from './invalid-schema.ts';

/** A schema and the base URI of its references. */
export interface Located {
  readonly schema: unknown;
  readonly base: string;
}

export interface References {
  /** Resolves a reference inside the document; remote documents are never fetched. */
  find(reference: string, base: string): Located;
  baseOf(schema: JsonObject, base: string): string;
}

export const documentBase = 'schema://document/';
const maxDocumentValues = 500_000;
const maxDocumentDepth = 200;
/** Keywords whose values are data, even where they look like schemas. */
const dataMembers = new Set(['enum', 'const', 'default', 'example', 'examples']);

export function createReferences(root: unknown, dialect: Dialect): References {
  const { id } = dialect;
  const baseOf = (schema: JsonObject, base: string) => {
    const name = id === undefined ? undefined : schema[id];
    const hidden = !dialect.allowsRefSiblings && typeof schema.$ref === 'string';
    return typeof name === 'string' && !name.startsWith('#') && !hidden ? resolveReference(name, base).address : base;
  };
  const named = id === undefined ? new Map<string, Located>() : indexNames(root, dialect, baseOf);
  named.set(documentBase, { schema: root, base: documentBase });
  return {
    baseOf,
    find(reference, base) {
      const { address, fragment } = resolveReference(reference, base);
      const whole = named.get(address);
      if (!whole) throw new InvalidSchema(`${JSON.stringify(reference)} is not in the document`);
      if (fragment === '') return whole;
      const found = fragment.startsWith('/')
        ? resolvePointer(whole, fragment, baseOf)
        : named.get(`${address}#${fragment}`);
      if (!found) throw new InvalidSchema(`${JSON.stringify(reference)} is not in the document`);
      return found;
    },
  };
}

function resolveReference(reference: string, base: string): { address: string; fragment: string } {
  const mark = reference.indexOf('#');
  const path = mark < 0 ? reference : reference.slice(0, mark);
  const fragment = mark < 0 ? '' : reference.slice(mark + 1);
  try {
    return { address: path === '' ? base : new URL(path, base).href, fragment: decodeURIComponent(fragment) };
  } catch {
    throw new InvalidSchema(`${JSON.stringify(reference)} is not a reference`);
  }
}

/** Indexes identified schemas and anchors by URI. Iterative: documents may be deep. */
function indexNames(root: unknown, { id }: Dialect, baseOf: References['baseOf']): Map<string, Located> {
  const named = new Map<string, Located>();
  const waiting: [value: unknown, base: string, depth: number][] = [[root, documentBase, 0]];
  const dynamic = new Set<string>();
  let evaluated = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, outer, depth] = next;
    if (++evaluated > maxDocumentValues) throw new InvalidSchema(`it holds more than ${maxDocumentValues} values`);
    if (depth > maxDocumentDepth) throw new InvalidSchema(`it is nested deeper than ${maxDocumentDepth} levels`);
    if (Array.isArray(value)) for (const item of value) waiting.push([item, outer, depth + 1]);
    if (!isObject(value)) continue;
    const base = baseOf(value, outer);
    if (base !== outer) named.set(base, { schema: value, base });
    for (const anchor of listAnchors(value, id!)) named.set(`${base}#${anchor}`, { schema: value, base });
    rejectDuplicateAnchor(dynamic, value);
    for (const [name, member] of Object.entries(value))
      if (!dataMembers.has(name) && typeof member === 'object') waiting.push([member, base, depth + 1]);
  }
  return named;
}

/** Rejects duplicate dynamic anchors: their target would depend on the dynamic scope, which is not tracked. */
function rejectDuplicateAnchor(met: Set<string>, { $dynamicAnchor, $recursiveAnchor }: JsonObject): void {
  const name = typeof $dynamicAnchor === 'string' ? $dynamicAnchor : $recursiveAnchor === true ? '' : undefined;
  if (name === undefined) return;
  if (met.has(name)) throw new InvalidSchema('dynamic references have more than one meaning');
  met.add(name);
}

function listAnchors(schema: JsonObject, id: string): string[] {
  const name = schema[id];
  const older = typeof name === 'string' && name.startsWith('#') ? name.slice(1) : undefined;
  return [older, schema.$anchor, schema.$dynamicAnchor].filter(it => typeof it === 'string' && it !== '') as string[];
}

/** Resolves a JSON pointer (RFC 6901), following changes of the base URI. */
function resolvePointer(whole: Located, pointer: string, baseOf: References['baseOf']): Located | undefined {
  let { schema, base } = whole;
  for (const name of pointer.slice(1).split('/').map(unescapePointerToken)) {
    if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, name)) return undefined;
    schema = (schema as JsonObject)[name];
    if (isObject(schema)) base = baseOf(schema, base);
  }
  return { schema, base };
}
