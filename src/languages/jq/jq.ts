import { type Clock, systemClock } from '#base/clock.ts';
import { defaultJqBounds, type JqBounds, JqBudget } from './budget.ts';
import { JqError } from './error.ts';
import { createInterpreter, toJqError } from './evaluator.ts';
import { stringifyJson } from './json-text.ts';
import type { JqNode } from './nodes.ts';
import { parseFilter } from './parser.ts';
import { builtinScope } from './prelude.ts';

/** A filter that is ready to run. */
export interface Jq {
  /** Its results for a value, at most so many as the bounds allow. Throws nothing but `JqError`. */
  run(value: unknown, bounds?: Partial<JqBounds>, clock?: Clock): unknown[];
}

/** Reads a filter in the language of jq 1.6. Throws `JqError` with the place of what is wrong. */
export function compileJq(source: string): Jq {
  const filter = rethrowAsJqError(() => parseFilter(source, builtinScope));
  return {
    run(value, bounds = {}, clock = systemClock) {
      const budget = new JqBudget({ ...defaultJqBounds, ...bounds });
      return rethrowAsJqError(() => collectResults(filter, value, budget, clock));
    },
  };
}

/** JSON for what a filter gave. */
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
