import type { Budget } from './budget.ts';
import { Raised, raise } from './error.ts';
import type { Node } from './nodes.ts';
import { shortText } from './values.ts';

/** How a value was reached, the last part first; `root` where the way begins. */
export interface Trail {
  readonly key: unknown;
  readonly up: Trail | undefined;
}

export const root: Trail = { key: null, up: undefined };
/** A value that stands nowhere in what came in. */
export const lost: Trail = { key: null, up: undefined };

/** Takes one result. Where nobody asked for places there is no trail. */
export type Emit = (value: unknown, trail: Trail | undefined) => void;

/** A name and what it stands for. */
export interface Entry {
  readonly name: string;
  readonly next: Env;
  /** Of a variable; of a label, what is thrown to leave it. */
  readonly value?: unknown;
  /** Of a function. */
  readonly code?: Code;
}

export interface Code {
  readonly params: readonly string[];
  readonly body: Node;
  /** Where its body is at home; undefined for what sees itself. */
  readonly home: Env | 'itself';
}

export type Env = Entry | undefined;

export interface Machine {
  readonly budget: Budget;
  readonly nowMs: number;
  /** Gives every result of a filter, one by one. */
  run(node: Node, env: Env, value: unknown, trail: Trail | undefined, emit: Emit): void;
  /** Every result at once. */
  all(node: Node, env: Env, value: unknown): unknown[];
  /** Where the results of a filter stand. */
  paths(node: Node, env: Env, value: unknown): unknown[][];
}

/** A function of the language that decides itself when its arguments are run. */
export type Control = (
  machine: Machine,
  args: readonly Node[],
  env: Env,
  value: unknown,
  trail: Trail | undefined,
  emit: Emit,
) => void;

export const off = (trail: Trail | undefined) => trail && lost;

export function further(trail: Trail | undefined, key: unknown, value: unknown): Trail | undefined {
  if (trail === undefined) return undefined;
  if (trail === lost) return raise(`Invalid path expression with result ${shortText(value)}`);
  return { key, up: trail };
}

export function pathOf(trail: Trail | undefined, value: unknown): unknown[] {
  if (trail === undefined || trail === lost) return raise(`Invalid path expression with result ${shortText(value)}`);
  const keys: unknown[] = [];
  for (let at: Trail = trail; at !== root; at = at.up!) keys.push(at.key);
  return keys.reverse();
}

/** Hands on what a filter gives. What goes wrong in it is caught; what goes wrong behind it is not its own. */
export function shielded(run: (emit: Emit) => void, emit: Emit, caught: (error: Raised) => void): void {
  let isBehind = false;
  let error: Raised;
  try {
    return run((value, trail) => {
      try {
        emit(value, trail);
      } catch (thrown) {
        isBehind = true;
        throw thrown;
      }
    });
  } catch (thrown) {
    if (isBehind || !(thrown instanceof Raised)) throw thrown;
    error = thrown;
  }
  caught(error);
}
