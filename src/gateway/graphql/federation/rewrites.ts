import type { FetchNodePathSegment, FetchRewrite } from '@graphql-hive/router-query-planner';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { MatchType } from './type-conditions.ts';

interface Rewrite {
  readonly path: readonly FetchNodePathSegment[];
  apply(object: JsonObject, key: string): void;
}

/** Applies the rewrites of a plan: names of types and keys that a subgraph has otherwise. */
export function applyRewrites(value: unknown, rewrites: readonly FetchRewrite[] | undefined, match: MatchType): void {
  if (rewrites) for (const rewrite of rewrites) rewriteAt(value, toRewrite(rewrite), 0, match);
}

function toRewrite(rewrite: FetchRewrite): Rewrite {
  if ('KeyRenamer' in rewrite) {
    const { path, renameKeyTo } = rewrite.KeyRenamer;
    return {
      path,
      apply(object, key) {
        if (!Object.hasOwn(object, key)) return;
        object[renameKeyTo] = object[key];
        delete object[key];
      },
    };
  }
  const { path, setValueTo } = 'ValueSetter' in rewrite ? rewrite.ValueSetter : rewrite;
  return {
    path,
    apply(object, key) {
      object[key] = setValueTo;
    },
  };
}

function rewriteAt(value: unknown, rewrite: Rewrite, depth: number, match: MatchType): void {
  if (Array.isArray(value)) {
    for (const item of value) rewriteAt(item, rewrite, depth, match);
    return;
  }
  const segment = rewrite.path[depth];
  if (!segment || !isObject(value)) return;
  if ('TypenameEquals' in segment) {
    const { __typename: typeName } = value;
    const isMatch = typeof typeName === 'string' && segment.TypenameEquals.some(type => match(typeName, type));
    if (isMatch) rewriteAt(value, rewrite, depth + 1, match);
  } else if (depth === rewrite.path.length - 1) rewrite.apply(value, segment.Key);
  else if (Object.hasOwn(value, segment.Key)) rewriteAt(value[segment.Key], rewrite, depth + 1, match);
}
