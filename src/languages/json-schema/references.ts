import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { Dialect } from './dialects.ts';
import { Unreadable } from './invalid-schema.ts';

/** A schema and the address that references in it are relative to. */
export interface Located {
  readonly schema: unknown;
  readonly base: string;
}

export interface References {
  /** Finds what a reference means inside the document. Nothing is ever fetched. */
  find(reference: string, base: string): Located;
  baseOf(schema: JsonObject, base: string): string;
}

export const documentBase = 'schema://document/';
const mostValues = 500_000;
const mostDepth = 200;
/** What these hold is data, whatever it looks like. */
const dataMembers = new Set(['enum', 'const', 'default', 'example', 'examples']);

export function referencesOf(root: unknown, dialect: Dialect): References {
  const { id } = dialect;
  const baseOf = (schema: JsonObject, base: string) => {
    const name = id === undefined ? undefined : schema[id];
    const hidden = !dialect.refHasCompany && typeof schema.$ref === 'string';
    return typeof name === 'string' && !name.startsWith('#') && !hidden ? absolute(name, base).address : base;
  };
  const named = id === undefined ? new Map<string, Located>() : namesIn(root, dialect, baseOf);
  named.set(documentBase, { schema: root, base: documentBase });
  return {
    baseOf,
    find(reference, base) {
      const { address, fragment } = absolute(reference, base);
      const whole = named.get(address);
      if (!whole) throw new Unreadable(`${JSON.stringify(reference)} is not in the document`);
      if (fragment === '') return whole;
      const found = fragment.startsWith('/') ? pointed(whole, fragment, baseOf) : named.get(`${address}#${fragment}`);
      if (!found) throw new Unreadable(`${JSON.stringify(reference)} is not in the document`);
      return found;
    },
  };
}

function absolute(reference: string, base: string): { address: string; fragment: string } {
  const mark = reference.indexOf('#');
  const path = mark < 0 ? reference : reference.slice(0, mark);
  const fragment = mark < 0 ? '' : reference.slice(mark + 1);
  try {
    return { address: path === '' ? base : new URL(path, base).href, fragment: decodeURIComponent(fragment) };
  } catch {
    throw new Unreadable(`${JSON.stringify(reference)} is not a reference`);
  }
}

/** Schemas and anchors that have names, by their addresses. Walks without recursion: documents may be deep. */
function namesIn(root: unknown, { id }: Dialect, baseOf: References['baseOf']): Map<string, Located> {
  const named = new Map<string, Located>();
  const waiting: [value: unknown, base: string, depth: number][] = [[root, documentBase, 0]];
  const dynamic = new Set<string>();
  let seen = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, outer, depth] = next;
    if (++seen > mostValues) throw new Unreadable(`it holds more than ${mostValues} values`);
    if (depth > mostDepth) throw new Unreadable(`it is nested deeper than ${mostDepth} levels`);
    if (Array.isArray(value)) for (const item of value) waiting.push([item, outer, depth + 1]);
    if (!isObject(value)) continue;
    const base = baseOf(value, outer);
    if (base !== outer) named.set(base, { schema: value, base });
    for (const anchor of anchorsOf(value, id!)) named.set(`${base}#${anchor}`, { schema: value, base });
    refuseSecond(dynamic, value);
    for (const [name, member] of Object.entries(value))
      if (!dataMembers.has(name) && typeof member === 'object') waiting.push([member, base, depth + 1]);
  }
  return named;
}

/** With two of one name, which of them is meant depends on the way there. Nobody asks for that in one document. */
function refuseSecond(met: Set<string>, { $dynamicAnchor, $recursiveAnchor }: JsonObject): void {
  const name = typeof $dynamicAnchor === 'string' ? $dynamicAnchor : $recursiveAnchor === true ? '' : undefined;
  if (name === undefined) return;
  if (met.has(name)) throw new Unreadable('dynamic references have more than one meaning');
  met.add(name);
}

function anchorsOf(schema: JsonObject, id: string): string[] {
  const name = schema[id];
  const older = typeof name === 'string' && name.startsWith('#') ? name.slice(1) : undefined;
  return [older, schema.$anchor, schema.$dynamicAnchor].filter(it => typeof it === 'string' && it !== '') as string[];
}

/** Follows a JSON pointer, through schemas that change the base on the way. */
function pointed(whole: Located, pointer: string, baseOf: References['baseOf']): Located | undefined {
  let { schema, base } = whole;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, name)) return undefined;
    schema = (schema as JsonObject)[name];
    if (isObject(schema)) base = baseOf(schema, base);
  }
  return { schema, base };
}
