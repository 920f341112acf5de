import type { BudgetBounds } from '#base/budget.ts';
import { defaultRegoBounds, RegoBudget } from './budget.ts';
import { checkRego } from './check.ts';
import { RegoError } from './error.ts';
import { RegoRun } from './evaluator.ts';
import { parseRego } from './parser.ts';
import { type RegoValue, toJson } from './values.ts';

/** A compiled module. */
export interface RegoModule {
  readonly ruleNames: readonly string[];
  /** Values of rules for an input, as JSON; a rule that has none is left out. */
  evaluate(input: unknown, names: readonly string[], bounds?: BudgetBounds): Readonly<Record<string, unknown>>;
}

/**
 * Compiles a module in a subset of Rego: package, default, complete rules, sets and functions with bodies, comparisons,
 * `not`, `in`, `some`, references into `input`, and the functions of `builtins.ts`. Anything else is a `RegoError` with
 * line and column.
 */
export function compileRego(source: string): RegoModule {
  const table = checkRego(parseRego(source));
  const isValue = (name: string) => table.has(name) && table.get(name)!.kind !== 'function';
  return {
    ruleNames: [...table.keys()].filter(isValue),
    evaluate(input, names, bounds = defaultRegoBounds) {
      const run = new RegoRun(table, input as RegoValue, new RegoBudget(bounds));
      return rethrowRangeErrors(() => {
        const values = names.filter(isValue).map(name => [name, run.evaluateRule(name)] as const);
        return Object.fromEntries(
          values.flatMap(([name, value]) => (value === undefined ? [] : [[name, toJson(value)]])),
        );
      });
    },
  };
}

/** V8's own limits of stack and string length count as exceeded bounds. */
function rethrowRangeErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new RegoError('the rules are nested too deeply, or make too long a text');
    throw error;
  }
}
