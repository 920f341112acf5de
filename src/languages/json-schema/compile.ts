import { isObject, type JsonObject } from '#base/json-tree.ts';
import { combinedKeywords } from './applicators.ts';
import type { Dialect } from './dialects.ts';
import { Unreadable } from './invalid-schema.ts';
import { memberKeywords } from './object-keywords.ts';
import { type Matches, matcherOf } from './patterns.ts';
import { documentBase, type Located, type References, referencesOf } from './references.ts';
import { type Check, Seen } from './run.ts';
import { valueKeywords } from './value-keywords.ts';

/** What a keyword may use while it is compiled. */
export interface Context {
  readonly dialect: Dialect;
  /** For a schema about the same value. It is compiled at once, so that one that goes round in circles is found. */
  same(schema: unknown): Check;
  referred(reference: string): Check;
  /** For a schema about something inside the value. It is compiled afterwards: circles are welcome here. */
  inner(schema: unknown): Check;
  matches(pattern: string): Matches;
}

/** Undefined where the keyword does not say anything. */
export type Keyword = (given: unknown, schema: JsonObject, context: Context) => Check | undefined;

const mostSchemas = 20_000;
const longestChain = 100;

/** In this order; what was not looked at is known when everything else has looked. */
const keywords: readonly [string, Keyword][] = Object.entries({
  ...valueKeywords,
  ...memberKeywords,
  ...combinedKeywords,
});

const anything: Check = (_value, _run, _seen) => true;
const nothing: Check = (_value, run) => run.fault('is not allowed');

export interface Compiler {
  /** The check of a schema somewhere in the document. */
  at(schema: unknown): Check;
  readonly references: References;
}

/** Compiles schemas of one document; what is compiled once is shared, also by itself. */
export function compilerOf(root: unknown, dialect: Dialect): Compiler {
  const references = referencesOf(root, dialect);
  const known = new Map<object, Check>();
  const chain: object[] = [];
  const waiting: (() => void)[] = [];

  function checkOf({ schema, base }: Located): Check {
    if (schema === true) return anything;
    if (schema === false) return nothing;
    if (!isObject(schema)) throw new Unreadable('a schema is neither an object nor true nor false');
    const done = known.get(schema);
    if (done) return done;
    if (chain.includes(schema)) throw new Unreadable('a schema refers to itself without end');
    if (chain.length >= longestChain) throw new Unreadable('schemas refer to each other too often');
    if (known.size >= mostSchemas) throw new Unreadable(`it has more than ${mostSchemas} schemas`);
    chain.push(schema);
    const check = schemaCheck(schema, contextAt(references.baseOf(schema, base)));
    chain.pop();
    known.set(schema, check);
    return check;
  }

  const contextAt = (base: string): Context => ({
    dialect,
    same: schema => checkOf({ schema, base }),
    referred: reference => checkOf(references.find(reference, base)),
    matches: matcherOf,
    inner(schema) {
      if (schema === true) return anything;
      const late: { check: Check } = { check: anything };
      waiting.push(() => {
        late.check = checkOf({ schema, base });
      });
      return (value, run, seen) => late.check(value, run, seen);
    },
  });

  return {
    references,
    at(schema) {
      const check = checkOf({ schema, base: documentBase });
      for (let next = waiting.pop(); next; next = waiting.pop()) next();
      return check;
    },
  };
}

function schemaCheck(schema: JsonObject, context: Context): Check {
  const alone = typeof schema.$ref === 'string' && !context.dialect.refHasCompany;
  const present = alone ? keywords.filter(([name]) => name === '$ref') : keywords;
  const checks: Check[] = [];
  for (const [name, keyword] of present) {
    const check = Object.hasOwn(schema, name) ? keyword(schema[name], schema, context) : undefined;
    if (check) checks.push(check);
  }
  const passesNull = context.dialect.nullable && schema.nullable === true;
  const marks = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema;
  return (value, run, seen) => {
    if (passesNull && value === null) return true;
    run.enter();
    const own = marks ? new Seen() : seen;
    let holds = true;
    for (let at = 0; at < checks.length; at++) if (!checks[at]!(value, run, own)) holds = false;
    run.depth--;
    if (marks && seen && holds) seen.add(own!);
    return holds;
  };
}
