import { arrayOrEmpty, isObject, type JsonObject } from '#base/json-tree.ts';
import type { Keyword, KeywordContext } from './compile.ts';
import { compileDiscriminator } from './discriminator.ts';
import { truncateName } from './error-text.ts';
import { InvalidSchema } from './invalid-schema.ts';
import { Evaluated, type SchemaCheck, type ValidationRun } from './run.ts';

/** Applicators: keywords that apply other schemas to the same value. */

const reference: Keyword = (given, _schema, context) => {
  if (typeof given !== 'string') throw new InvalidSchema('a reference is not a text');
  return context.compileReference(given);
};

const compileEach = (given: unknown, context: KeywordContext) =>
  arrayOrEmpty(given).map(schema => context.compileSame(schema));

const allOf: Keyword = (given, _schema, context) => {
  const checks = compileEach(given, context);
  return (value, run, evaluated) => {
    let holds = true;
    for (const check of checks) if (!check(value, run, evaluated)) holds = false;
    return holds;
  };
};

/** Number of valid schemas, at most `enough`; members they evaluated are added to `evaluated`. */
function countMatches(
  checks: readonly SchemaCheck[],
  value: unknown,
  run: ValidationRun,
  evaluated: Evaluated | undefined,
  enough: number,
): number {
  let found = 0;
  for (const check of checks) {
    const own = evaluated && new Evaluated();
    if (!run.checkSilently(check, value, own)) continue;
    if (own) evaluated.add(own);
    if (++found >= enough && !evaluated) break;
  }
  return found;
}

const anyOf: Keyword = (given, schema, context) => {
  const checks = compileEach(given, context);
  return (
    compileDiscriminator(given, schema, context) ??
    ((value, run, evaluated) =>
      countMatches(checks, value, run, evaluated, 1) > 0 ||
      run.report(`must fit one of the ${checks.length} schemas of anyOf`))
  );
};

const oneOf: Keyword = (given, schema, context) => {
  const checks = compileEach(given, context);
  return (
    compileDiscriminator(given, schema, context) ??
    ((value, run, evaluated) => {
      const found = countMatches(checks, value, run, evaluated, 2);
      return (
        found === 1 ||
        run.report(`must fit exactly one of the ${checks.length} schemas of oneOf, fits ${found || 'none'}`)
      );
    })
  );
};

const not: Keyword = (given, _schema, context) => {
  const check = context.compileSame(given);
  return (value, run) => !run.checkSilently(check, value) || run.report('must not fit the schema of not');
};

const ifThenElse: Keyword = (given, schema, context) => {
  const branch = (name: string) => (Object.hasOwn(schema, name) ? context.compileSame(schema[name]) : undefined);
  const check = context.compileSame(given);
  const [yes, no] = [branch('then'), branch('else')];
  return (value, run, evaluated) => {
    const own = evaluated && new Evaluated();
    const holds = run.checkSilently(check, value, own);
    if (holds && own) evaluated.add(own);
    return (holds ? yes : no)?.(value, run, evaluated) ?? true;
  };
};

const compileUnevaluatedProperties: Keyword = (given, _schema, context) => {
  const check = given === false ? undefined : context.compileInner(given);
  return (value, run, evaluated) => {
    if (!isObject(value) || !evaluated || evaluated.allNames) return true;
    let holds = true;
    for (const name of Object.keys(value)) {
      if (evaluated.names.has(name)) continue;
      if (check ? !run.checkBelow(name, check, value[name]) : !run.report(`${truncateName(name)} is not allowed`))
        holds = false;
    }
    evaluated.allNames = true;
    return holds;
  };
};

const compileUnevaluatedItems: Keyword = (given, _schema, context) => {
  const check = context.compileInner(given);
  return (value, run, evaluated) => {
    if (!Array.isArray(value) || !evaluated || evaluated.allItems) return true;
    let holds = true;
    for (const [at, item] of value.entries())
      if (!evaluated.items.has(at) && !run.checkBelow(at, check, item)) holds = false;
    evaluated.allItems = true;
    return holds;
  };
};

/** `$dynamicRef`: an ordinary reference, since a document embeds no other documents. */
const dynamic: Keyword = (given, schema: JsonObject, context) => reference(given, schema, context);

export const applicatorKeywords: Readonly<Record<string, Keyword>> = {
  $ref: reference,
  $dynamicRef: dynamic,
  $recursiveRef: dynamic,
  allOf,
  anyOf,
  oneOf,
  not,
  if: ifThenElse,
  unevaluatedProperties: compileUnevaluatedProperties,
  unevaluatedItems: compileUnevaluatedItems,
};
