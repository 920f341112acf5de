import type { JqBudget } from './budget.ts';
import { JqRuntimeError, raise } from './error.ts';
import type { JqNode } from './nodes.ts';
import { excerptOf } from './values.ts';

/** How a value was reached, the last part first; `root` where the way begins. */
export interface PathNode {
  readonly key: unknown;
  readonly parent: PathNode | undefined;
}

export const rootPath: PathNode = { key: null, parent: undefined };
/** A value that stands nowhere in what came in. */
export const noPath: PathNode = { key: null, parent: undefined };

/** Takes one result. Where nobody asked for places there is no trail. */
export type Emit = (value: unknown, path: PathNode | undefined) => void;

/** A name and what it stands for. */
export interface Binding {
  readonly name: string;
  readonly next: Env;
  /** Of a variable; of a label, what is thrown to leave it. */
  readonly value?: unknown;
  /** Of a function. */
  readonly closure?: Closure;
}

export interface Closure {
  readonly params: readonly string[];
  readonly body: JqNode;
  /** Where its body is at home; undefined for what sees itself. */
  readonly env: Env | 'itself';
}

export type Env = Binding | undefined;

export interface Interpreter {
  readonly budget: JqBudget;
  readonly nowMs: number;
  /** Gives every result of a filter, one by one. */
  run(node: JqNode, env: Env, value: unknown, path: PathNode | undefined, emit: Emit): void;
  /** Every result at once. */
  collect(node: JqNode, env: Env, value: unknown): unknown[];
  /** Where the results of a filter stand. */
  collectPaths(node: JqNode, env: Env, value: unknown): unknown[][];
}

/** A function of the language that decides itself when its arguments are run. */
export type SpecialForm = (
  interpreter: Interpreter,
  args: readonly JqNode[],
  env: Env,
  value: unknown,
  path: PathNode | undefined,
  emit: Emit,
) => void;

export const withoutPath = (path: PathNode | undefined) => path && noPath;

export function extendPath(path: PathNode | undefined, key: unknown, value: unknown): PathNode | undefined {
  if (path === undefined) return undefined;
  if (path === noPath) return raise(`Invalid path expression with result ${excerptOf(value)}`);
  return { key, parent: path };
}

export function toPathKeys(path: PathNode | undefined, value: unknown): unknown[] {
  if (path === undefined || path === noPath) return raise(`Invalid path expression with result ${excerptOf(value)}`);
  const keys: unknown[] = [];
  for (let at: PathNode = path; at !== rootPath; at = at.parent!) keys.push(at.key);
  return keys.reverse();
}

/** Hands on what a filter gives. What goes wrong in it is caught; what goes wrong behind it is not its own. */
export function catchRuntimeErrors(
  run: (emit: Emit) => void,
  emit: Emit,
  onError: (error: JqRuntimeError) => void,
): void {
  let isDownstream = false;
  let error: JqRuntimeError;
  try {
    return run((value, path) => {
      try {
        emit(value, path);
      } catch (thrown) {
        isDownstream = true;
        throw thrown;
      }
    });
  } catch (thrown) {
    if (isDownstream || !(thrown instanceof JqRuntimeError)) throw thrown;
    error = thrown;
  }
  onError(error);
}
