import type { InputRewrite, RequiresSelection } from '@graphql-hive/router-query-planner';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import { readOwn } from '../engine/source-scope.ts';
import type { TreePlace } from './response-tree.ts';
import { applyRewrites } from './rewrites.ts';
import type { MatchType } from './type-conditions.ts';

/** Representations of entities for `_entities`, each once, with the places that have the entity. */
export interface Representations {
  readonly values: readonly JsonObject[];
  readonly places: readonly (readonly TreePlace[])[];
}

/** Collects representations: equal ones are one, and an object without a required field has none. */
export function collectRepresentations(
  places: readonly TreePlace[],
  requires: readonly RequiresSelection[],
  rewrites: readonly InputRewrite[] | undefined,
  match: MatchType,
): Representations {
  const positions = new Map<string, number>();
  const values: JsonObject[] = [];
  const sharing: TreePlace[][] = [];
  for (const place of places) {
    const built = selectRequired(place.value as JsonObject, requires, match);
    if (!built || typeof built.__typename !== 'string') continue;
    applyRewrites(built, rewrites, match);
    const key = JSON.stringify(built);
    const known = positions.get(key);
    if (known === undefined) {
      positions.set(key, values.length);
      values.push(built);
      sharing.push([place]);
    } else sharing[known]!.push(place);
  }
  return { values, places: sharing };
}

/** Undefined where a field is missing: its subgraph had an error. */
function selectRequired(
  object: JsonObject,
  selections: readonly RequiresSelection[],
  match: MatchType,
): JsonObject | undefined {
  const selected: JsonObject = {};
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') {
      const typeName = readOwn(object, '__typename');
      if (typeof typeName !== 'string' || !match(typeName, selection.typeCondition)) continue;
      const below = selectRequired(object, selection.selections, match);
      if (!below) return undefined;
      Object.assign(selected, below);
    } else if (selection.kind === 'Field') {
      const value = selectValue(readOwn(object, selection.name), selection.selections, match);
      if (value === undefined) return undefined;
      // The tree may have a field under another name, of which the alias is that of the subgraph.
      selected[selection.alias ?? selection.name] = value;
    } else throw new Error(`plan with a fragment spread in requires: ${selection.value}`);
  }
  return selected;
}

function selectValue(value: unknown, selections: readonly RequiresSelection[] | undefined, match: MatchType): unknown {
  if (!selections || selections.length === 0 || value === null || value === undefined) return value;
  if (Array.isArray(value)) {
    const items = value.map(item => selectValue(item, selections, match));
    return items.includes(undefined) ? undefined : items;
  }
  return isObject(value) ? selectRequired(value, selections, match) : undefined;
}
