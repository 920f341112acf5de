import type { Context, Keyword } from './compile.ts';
import { canonical } from './equality.ts';
import type { Check } from './run.ts';

/** Keywords about the items of an array. */

const eachFrom =
  (start: number, check: Check): Check =>
  (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    let holds = true;
    for (let at = start; at < value.length; at++) if (!run.below(at, check, value[at])) holds = false;
    if (seen) seen.allItems = true;
    return holds;
  };

function inTurn(schemas: readonly unknown[], context: Context): Check {
  const checks = schemas.map(schema => context.inner(schema));
  return (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    let holds = true;
    for (let at = 0; at < checks.length && at < value.length; at++) {
      if (!run.below(at, checks[at]!, value[at])) holds = false;
      seen?.items.add(at);
    }
    return holds;
  };
}

const items: Keyword = (given, { prefixItems }, context) => {
  if (Array.isArray(given)) return inTurn(given, context);
  return eachFrom(Array.isArray(prefixItems) ? prefixItems.length : 0, context.inner(given));
};

const additionalItems: Keyword = (given, schema, context) =>
  context.dialect.tupleItems && Array.isArray(schema.items)
    ? eachFrom(schema.items.length, context.inner(given))
    : undefined;

const contains: Keyword = (given, { minContains, maxContains }, context) => {
  const check = context.inner(given);
  const least = typeof minContains === 'number' ? minContains : 1;
  const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
  return (value, run, seen) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (let at = 0; at < value.length; at++) {
      if (!run.quietly(check, value[at])) continue;
      found++;
      seen?.items.add(at);
    }
    if (found < least) return run.fault(`must hold at least ${least} items of the kind that is asked for`);
    return found <= most || run.fault(`must hold at most ${most} items of the kind that is asked for`);
  };
};

const uniqueItems: Keyword = given => {
  if (given !== true) return undefined;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    const met = new Set(value.map(item => canonical(item, run)));
    return met.size === value.length || run.fault('must not hold the same item twice');
  };
};

const size =
  (holds: (size: number, limit: number) => boolean, says: string): Keyword =>
  given => {
    if (typeof given !== 'number') return undefined;
    const message = `must have ${says} ${given} items`;
    return (value, run) => !Array.isArray(value) || holds(value.length, given) || run.fault(message);
  };

export const itemKeywords: Readonly<Record<string, Keyword>> = {
  minItems: size((length, limit) => length >= limit, 'at least'),
  maxItems: size((length, limit) => length <= limit, 'at most'),
  uniqueItems,
  prefixItems: (given, _schema, context) => (Array.isArray(given) ? inTurn(given, context) : undefined),
  items,
  additionalItems,
  contains,
};
