import { type Clock, systemClock } from '#base/clock.ts';
import { Budget, defaultBounds, type JqBounds } from './budget.ts';
import { JqFault } from './error.ts';
import { faultOf, machineOf } from './evaluator.ts';
import { jsonText } from './json-text.ts';
import type { Node } from './nodes.ts';
import { parsed } from './parser.ts';
import { offered } from './prelude.ts';

/** A filter that is ready to run. */
export interface Jq {
  /** Its results for a value, at most so many as the bounds allow. Throws nothing but `JqFault`. */
  run(value: unknown, bounds?: Partial<JqBounds>, clock?: Clock): unknown[];
}

/** Reads a filter in the language of jq 1.6. Throws `JqFault` with the place of what is wrong. */
export function compileJq(source: string): Jq {
  const filter = attempt(() => parsed(source, offered));
  return {
    run(value, bounds = {}, clock = systemClock) {
      const budget = new Budget({ ...defaultBounds, ...bounds });
      return attempt(() => resultsOf(filter, value, budget, clock));
    },
  };
}

/** JSON for what a filter gave. */
export function jqText(value: unknown, bounds: Partial<JqBounds> = {}): string {
  return attempt(() => jsonText(value, new Budget({ ...defaultBounds, ...bounds })));
}

function resultsOf(filter: Node, value: unknown, budget: Budget, clock: Clock): unknown[] {
  const enough = {};
  const results: unknown[] = [];
  if (budget.bounds.outputs <= 0) return results;
  try {
    machineOf(budget, clock.now()).run(filter, undefined, value ?? null, undefined, it => {
      results.push(it);
      if (results.length >= budget.bounds.outputs) throw enough;
    });
  } catch (thrown) {
    if (thrown !== enough) throw thrown;
  }
  return results;
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

export type { JqBounds };
export { JqFault };
