import { isObject, type JsonObject } from '#base/json-tree.ts';
import { arrayKeywords } from './array-keywords.ts';
import type { Keyword } from './compile.ts';
import { truncateName } from './error-text.ts';
import type { SchemaCheck } from './run.ts';

/** Keywords for objects. Clients choose the names: only own members count. */

const properties: Keyword = (given, _schema, context) => {
  if (!isObject(given)) return undefined;
  const checks = Object.entries(given).map(([name, schema]) => [name, context.compileInner(schema)] as const);
  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const [name, check] of checks) {
      if (!Object.hasOwn(value, name)) continue;
      if (!run.checkBelow(name, check, value[name])) holds = false;
      evaluated?.names.add(name);
    }
    return holds;
  };
};

const patternProperties: Keyword = (given, _schema, context) => {
  if (!isObject(given)) return undefined;
  const rules = Object.entries(given).map(
    ([pattern, schema]) => [context.compilePattern(pattern), context.compileInner(schema)] as const,
  );
  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const name of Object.keys(value))
      for (const [matches, check] of rules) {
        if (!matches(name, run)) continue;
        if (!run.checkBelow(name, check, value[name])) holds = false;
        evaluated?.names.add(name);
      }
    return holds;
  };
};

const additionalProperties: Keyword = (given, schema, context) => {
  if (given === true) return markAllEvaluated;
  const named = new Set(Object.keys(isObject(schema.properties) ? schema.properties : {}));
  const patterns = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {}).map(
    context.compilePattern,
  );
  const check = given === false ? undefined : context.compileInner(given);
  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const name of Object.keys(value)) {
      run.spend(1);
      if (named.has(name) || patterns.some(matches => matches(name, run))) continue;
      if (check ? !run.checkBelow(name, check, value[name]) : !run.report(`${truncateName(name)} is not allowed`))
        holds = false;
      evaluated?.names.add(name);
    }
    return holds;
  };
};

const markAllEvaluated: SchemaCheck = (_value, _run, evaluated) => {
  if (evaluated) evaluated.allNames = true;
  return true;
};

const propertyNames: Keyword = (given, _schema, context) => {
  const check = context.compileInner(given);
  return (value, run) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const name of Object.keys(value))
      if (!run.checkSilently(check, name)) holds = run.report(`${truncateName(name)} is not a name that is allowed`);
    return holds;
  };
};

/** `readOnly` properties are sent by the server: a request need not have them. */
const isReadOnly = (schema: JsonObject, name: string) =>
  isObject(schema.properties) && isObject(schema.properties[name]) && schema.properties[name].readOnly === true;

const compileRequired: Keyword = (given, schema) => {
  if (!Array.isArray(given)) return undefined;
  const names = given.filter(name => typeof name === 'string' && !isReadOnly(schema, name)) as string[];
  return requireMembers(names);
};

const requireMembers =
  (names: readonly string[]): SchemaCheck =>
  (value, run) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const name of names) if (!Object.hasOwn(value, name)) holds = run.report(`${truncateName(name)} is required`);
    return holds;
  };

/** `dependencies` and its successors: the presence of one member requires others, or applies a schema. */
const dependencies: Keyword = (given, _schema, context) => {
  if (!isObject(given)) return undefined;
  const rules = Object.entries(given).map(
    ([name, requirement]) =>
      [
        name,
        Array.isArray(requirement) ? requireMembers(requirement as string[]) : context.compileSame(requirement),
      ] as const,
  );
  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    let holds = true;
    for (const [name, check] of rules) if (Object.hasOwn(value, name) && !check(value, run, evaluated)) holds = false;
    return holds;
  };
};

const size =
  (holds: (size: number, limit: number) => boolean, text: string): Keyword =>
  given => {
    if (typeof given !== 'number') return undefined;
    const message = `must have ${text} ${given} members`;
    return (value, run) => !isObject(value) || holds(Object.keys(value).length, given) || run.report(message);
  };

export const objectKeywords: Readonly<Record<string, Keyword>> = {
  required: compileRequired,
  minProperties: size((length, limit) => length >= limit, 'at least'),
  maxProperties: size((length, limit) => length <= limit, 'at most'),
  properties,
  patternProperties,
  additionalProperties,
  propertyNames,
  dependencies,
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  ...arrayKeywords,
};
