import type { Keyword, KeywordContext } from './compile.ts';
import { canonicalize } from './equality.ts';
import type { SchemaCheck } from './run.ts';

/** Keywords for arrays. */

const checkFrom =
  (start: number, check: SchemaCheck): SchemaCheck =>
  (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let holds = true;
    for (let at = start; at < value.length; at++) if (!run.checkBelow(at, check, value[at])) holds = false;
    if (evaluated) evaluated.allItems = true;
    return holds;
  };

function checkPrefix(schemas: readonly unknown[], context: KeywordContext): SchemaCheck {
  const checks = schemas.map(schema => context.compileInner(schema));
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let holds = true;
    for (let at = 0; at < checks.length && at < value.length; at++) {
      if (!run.checkBelow(at, checks[at]!, value[at])) holds = false;
      evaluated?.items.add(at);
    }
    return holds;
  };
}

const items: Keyword = (given, { prefixItems }, context) => {
  if (Array.isArray(given)) return checkPrefix(given, context);
  return checkFrom(Array.isArray(prefixItems) ? prefixItems.length : 0, context.compileInner(given));
};

const additionalItems: Keyword = (given, schema, context) =>
  context.dialect.tupleItems && Array.isArray(schema.items)
    ? checkFrom(schema.items.length, context.compileInner(given))
    : undefined;

const containsKeyword: Keyword = (given, { minContains, maxContains }, context) => {
  const check = context.compileInner(given);
  const min = typeof minContains === 'number' ? minContains : 1;
  const max = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (let at = 0; at < value.length; at++) {
      if (!run.checkSilently(check, value[at])) continue;
      found++;
      evaluated?.items.add(at);
    }
    if (found < min) return run.report(`must hold at least ${min} items that match the schema of contains`);
    return found <= max || run.report(`must hold at most ${max} items that match the schema of contains`);
  };
};

const uniqueItems: Keyword = given => {
  if (given !== true) return undefined;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    const met = new Set(value.map(item => canonicalize(item, run)));
    return met.size === value.length || run.report('must not hold the same item twice');
  };
};

const size =
  (holds: (size: number, limit: number) => boolean, text: string): Keyword =>
  given => {
    if (typeof given !== 'number') return undefined;
    const message = `must have ${text} ${given} items`;
    return (value, run) => !Array.isArray(value) || holds(value.length, given) || run.report(message);
  };

export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  minItems: size((length, limit) => length >= limit, 'at least'),
  maxItems: size((length, limit) => length <= limit, 'at most'),
  uniqueItems,
  prefixItems: (given, _schema, context) => (Array.isArray(given) ? checkPrefix(given, context) : undefined),
  items,
  additionalItems,
  contains: containsKeyword,
};
