import { arrayOrEmpty, isObject, type JsonObject } from '#base/json-tree.ts';
import type { Context, Keyword } from './compile.ts';
import { discriminated } from './discriminator.ts';
import { shown } from './error-text.ts';
import { Unreadable } from './invalid-schema.ts';
import { type Check, type Run, Seen } from './run.ts';

/** Keywords that ask other schemas about the same value. */

const reference: Keyword = (given, _schema, context) => {
  if (typeof given !== 'string') throw new Unreadable('a reference is not a text');
  return context.referred(given);
};

const checksOf = (given: unknown, context: Context) => arrayOrEmpty(given).map(schema => context.same(schema));

const allOf: Keyword = (given, _schema, context) => {
  const checks = checksOf(given, context);
  return (value, run, seen) => {
    let holds = true;
    for (const check of checks) if (!check(value, run, seen)) holds = false;
    return holds;
  };
};

/** How many hold. What those that hold looked at counts as looked at. */
function holding(checks: readonly Check[], value: unknown, run: Run, seen: Seen | undefined, enough: number): number {
  let found = 0;
  for (const check of checks) {
    const own = seen && new Seen();
    if (!run.quietly(check, value, own)) continue;
    if (own) seen.add(own);
    if (++found >= enough && !seen) break;
  }
  return found;
}

const anyOf: Keyword = (given, schema, context) => {
  const checks = checksOf(given, context);
  return (
    discriminated(given, schema, context) ??
    ((value, run, seen) =>
      holding(checks, value, run, seen, 1) > 0 || run.fault(`must fit one of the ${checks.length} schemas of anyOf`))
  );
};

const oneOf: Keyword = (given, schema, context) => {
  const checks = checksOf(given, context);
  return (
    discriminated(given, schema, context) ??
    ((value, run, seen) => {
      const found = holding(checks, value, run, seen, 2);
      return (
        found === 1 ||
        run.fault(`must fit exactly one of the ${checks.length} schemas of oneOf, fits ${found || 'none'}`)
      );
    })
  );
};

const not: Keyword = (given, _schema, context) => {
  const check = context.same(given);
  return (value, run) => !run.quietly(check, value) || run.fault('must not fit the schema of not');
};

const when: Keyword = (given, schema, context) => {
  const branch = (name: string) => (Object.hasOwn(schema, name) ? context.same(schema[name]) : undefined);
  const check = context.same(given);
  const [yes, no] = [branch('then'), branch('else')];
  return (value, run, seen) => {
    const own = seen && new Seen();
    const holds = run.quietly(check, value, own);
    if (holds && own) seen.add(own);
    return (holds ? yes : no)?.(value, run, seen) ?? true;
  };
};

const unevaluatedProperties: Keyword = (given, _schema, context) => {
  const check = given === false ? undefined : context.inner(given);
  return (value, run, seen) => {
    if (!isObject(value) || !seen || seen.allNames) return true;
    let holds = true;
    for (const name of Object.keys(value)) {
      if (seen.names.has(name)) continue;
      if (check ? !run.below(name, check, value[name]) : !run.fault(`${shown(name)} is not allowed`)) holds = false;
    }
    seen.allNames = true;
    return holds;
  };
};

const unevaluatedItems: Keyword = (given, _schema, context) => {
  const check = context.inner(given);
  return (value, run, seen) => {
    if (!Array.isArray(value) || !seen || seen.allItems) return true;
    let holds = true;
    for (const [at, item] of value.entries()) if (!seen.items.has(at) && !run.below(at, check, item)) holds = false;
    seen.allItems = true;
    return holds;
  };
};

/** Within one document without schemas of other documents in it, a dynamic reference is a reference. */
const dynamic: Keyword = (given, schema: JsonObject, context) => reference(given, schema, context);

export const combinedKeywords: Readonly<Record<string, Keyword>> = {
  $ref: reference,
  $dynamicRef: dynamic,
  $recursiveRef: dynamic,
  allOf,
  anyOf,
  oneOf,
  not,
  if: when,
  unevaluatedProperties,
  unevaluatedItems,
};
