import { type Clock, systemClock } from '#base/clock.ts';
import { defaultJqBounds, type JqBounds, JqBudget } from './budget.ts';
import { JqError } from './error.ts';
import { createInterpreter, toJqError } from './evaluator.ts';
import { stringifyJson } from './json-text.ts';
import type { JqNode } from './nodes.ts';
import { parseFilter } from './parser.ts';
import { builtinScope } from './prelude.ts';

/** A compiled filter. */
export interface Jq {
  /** Results for a value, at most `maxOutputs`. Throws only `JqError`. */
  run(value: unknown, bounds?: Partial<JqBounds>, clock?: Clock): unknown[];
}

/** Compiles a filter of jq 1.6. Throws `JqError` with the position of a syntax error. */
export function compileJq(source: string): Jq {
  const filter = rethrowAsJqError(() => parseFilter(source, builtinScope));
  return {
    run(value, bounds = {}, clock = systemClock) {
      const budget = new JqBudget({ ...defaultJqBounds, ...bounds });
      return rethrowAsJqError(() => collectResults(filter, value, budget, clock));
    },
  };
}

/** JSON of a result, within the bounds. */
export function stringifyJqResult(value: unknown, bounds: Partial<JqBounds> = {}): string {
  return rethrowAsJqError(() => stringifyJson(value, new JqBudget({ ...defaultJqBounds, ...bounds })));
}

function collectResults(filter: JqNode, value: unknown, budget: JqBudget, clock: Clock): unknown[] {
  const stop = {};
  const results: unknown[] = [];
  if (budget.bounds.maxOutputs <= 0) return results;
  try {
    createInterpreter(budget, clock.now()).run(filter, undefined, value ?? null, undefined, it => {
      results.push(it);
      if (results.length >= budget.bounds.maxOutputs) throw stop;
    });
  } catch (thrown) {
    if (thrown !== stop) throw thrown;
  }
  return results;
}

function rethrowAsJqError<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw toJqError(thrown);
  }
}

export type { JqBounds };
export { JqError };
