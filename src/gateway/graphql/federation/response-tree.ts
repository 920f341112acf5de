import type { FlattenNodePathSegment } from '@graphql-hive/router-query-planner';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import { readOwn } from '../engine/source-scope.ts';
import type { MatchType } from './type-conditions.ts';

/** An object of the response with its place in it. */
export interface TreePlace {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: TreePlace | undefined;
}

/** Objects at the path of a plan; where a value is null or of another type there is none. */
export function findPlaces(root: JsonObject, path: readonly FlattenNodePathSegment[], match: MatchType): TreePlace[] {
  let places: TreePlace[] = [{ value: root, key: '', parent: undefined }];
  for (const segment of path) places = places.flatMap(place => stepInto(place, segment, match));
  return places.filter(({ value }) => isObject(value));
}

function stepInto(place: TreePlace, segment: FlattenNodePathSegment, match: MatchType): TreePlace[] {
  const { value } = place;
  if (segment === '@') return listItems(place);
  if ('Field' in segment) {
    const member = readOwn(value, segment.Field) ?? null;
    return member === null ? [] : [{ value: member, key: segment.Field, parent: place }];
  }
  const typeName = readOwn(value, '__typename');
  return typeof typeName === 'string' && segment.TypeCondition.some(type => match(typeName, type)) ? [place] : [];
}

/** Items of a list, and of lists in it: a path has one step for all levels. */
const listItems = (place: TreePlace): TreePlace[] =>
  Array.isArray(place.value) ? place.value.flatMap((value, key) => listItems({ value, key, parent: place })) : [place];

/** Response path of a place. */
export function listPlacePath(place: TreePlace): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: TreePlace = place; at.parent; at = at.parent) path.push(at.key);
  return path.reverse();
}

/** Path of a plan without list items: the place of an error of the whole request. */
export function listStaticPath(path: readonly FlattenNodePathSegment[]): string[] {
  const end = path.indexOf('@');
  return path.slice(0, end < 0 ? path.length : end).flatMap(it => (it !== '@' && 'Field' in it ? [it.Field] : []));
}

/** A member of this name would replace the prototype. */
const prototypeKey = '__proto__';

/**
 * Merges a response into the tree. Lists of the same field have the same items in every subgraph; an object stays where
 * another subgraph has null.
 */
export function mergeInto(target: JsonObject, source: JsonObject): void {
  for (const [key, value] of Object.entries(source)) {
    if (key === prototypeKey) continue;
    target[key] = Object.hasOwn(target, key) ? mergeValues(target[key], value) : value;
  }
}

function mergeValues(before: unknown, value: unknown): unknown {
  if (isObject(before) && isObject(value)) {
    mergeInto(before, value);
    return before;
  }
  if (Array.isArray(before) && Array.isArray(value) && before.length === value.length) {
    for (const [at, item] of value.entries()) before[at] = mergeValues(before[at], item);
    return before;
  }
  return value ?? before;
}

/** Copy of a JSON value: one entity may be at several places, and later fetches add to each of them. */
export function copyTree(value: unknown, count: (values: number) => void): unknown {
  if (Array.isArray(value)) {
    count(value.length);
    return value.map(item => copyTree(item, count));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  count(entries.length);
  const copy: JsonObject = {};
  for (const [key, member] of entries) if (key !== prototypeKey) copy[key] = copyTree(member, count);
  return copy;
}
