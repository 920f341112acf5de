import { isObject, type JsonObject } from '#base/json-tree.ts';
import { applicatorKeywords } from './applicators.ts';
import type { Dialect } from './dialects.ts';
import { InvalidSchema } from './invalid-schema.ts';
import { objectKeywords } from './object-keywords.ts';
import { compileMatcher, type PatternMatcher } from './patterns.ts';
import { createReferences, documentBase, type Located, type References } from './references.ts';
import { Evaluated, type SchemaCheck } from './run.ts';
import { valueKeywords } from './value-keywords.ts';

/** Services for the compilation of a keyword. */
export interface KeywordContext {
  readonly dialect: Dialect;
  /** Compiles a schema for the same value, at once: endless self-reference is detected. */
  compileSame(schema: unknown): SchemaCheck;
  compileReference(reference: string): SchemaCheck;
  /** Compiles a schema for a member or item, deferred: recursion is allowed there. */
  compileInner(schema: unknown): SchemaCheck;
  compilePattern(pattern: string): PatternMatcher;
}

/** Compiles a keyword; undefined where it asserts nothing. */
export type Keyword = (given: unknown, schema: JsonObject, context: KeywordContext) => SchemaCheck | undefined;

const maxSchemas = 20_000;
const maxChainLength = 100;

/** Keywords in evaluation order: `unevaluated…` comes after all others. */
const keywords: readonly [string, Keyword][] = Object.entries({
  ...valueKeywords,
  ...objectKeywords,
  ...applicatorKeywords,
});

const anything: SchemaCheck = (_value, _run, _seen) => true;
const nothing: SchemaCheck = (_value, run) => run.report('is not allowed');

export interface SchemaCompiler {
  /** Compiles a schema of the document. */
  compile(schema: unknown): SchemaCheck;
  readonly references: References;
}

/** Compiler of one document; each schema is compiled once, recursive ones included. */
export function createSchemaCompiler(root: unknown, dialect: Dialect): SchemaCompiler {
  const references = createReferences(root, dialect);
  const known = new Map<object, SchemaCheck>();
  const chain: object[] = [];
  const waiting: (() => void)[] = [];

  function compileLocated({ schema, base }: Located): SchemaCheck {
    if (schema === true) return anything;
    if (schema === false) return nothing;
    if (!isObject(schema)) throw new InvalidSchema('a schema is neither an object nor true nor false');
    const done = known.get(schema);
    if (done) return done;
    if (chain.includes(schema)) throw new InvalidSchema('a schema refers to itself without end');
    if (chain.length >= maxChainLength) throw new InvalidSchema('schemas refer to each other too often');
    if (known.size >= maxSchemas) throw new InvalidSchema(`it has more than ${maxSchemas} schemas`);
    chain.push(schema);
    const check = compileKeywords(schema, createContext(references.baseOf(schema, base)));
    chain.pop();
    known.set(schema, check);
    return check;
  }

  const createContext = (base: string): KeywordContext => ({
    dialect,
    compileSame: schema => compileLocated({ schema, base }),
    compileReference: reference => compileLocated(references.find(reference, base)),
    compilePattern: compileMatcher,
    compileInner(schema) {
      if (schema === true) return anything;
      const late: { check: SchemaCheck } = { check: anything };
      waiting.push(() => {
        late.check = compileLocated({ schema, base });
      });
      return (value, run, evaluated) => late.check(value, run, evaluated);
    },
  });

  return {
    references,
    compile(schema) {
      const check = compileLocated({ schema, base: documentBase });
      for (let next = waiting.pop(); next; next = waiting.pop()) next();
      return check;
    },
  };
}

function compileKeywords(schema: JsonObject, context: KeywordContext): SchemaCheck {
  const alone = typeof schema.$ref === 'string' && !context.dialect.allowsRefSiblings;
  const present = alone ? keywords.filter(([name]) => name === '$ref') : keywords;
  const checks: SchemaCheck[] = [];
  for (const [name, keyword] of present) {
    const check = Object.hasOwn(schema, name) ? keyword(schema[name], schema, context) : undefined;
    if (check) checks.push(check);
  }
  const passesNull = context.dialect.nullable && schema.nullable === true;
  const marks = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema;
  return (value, run, evaluated) => {
    if (passesNull && value === null) return true;
    run.enterSchema();
    const own = marks ? new Evaluated() : evaluated;
    let holds = true;
    for (let at = 0; at < checks.length; at++) if (!checks[at]!(value, run, own)) holds = false;
    run.leaveCall();
    if (marks && evaluated && holds) evaluated.add(own!);
    return holds;
  };
}
