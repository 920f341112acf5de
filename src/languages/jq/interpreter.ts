import type { JqBudget } from './budget.ts';
import { JqRuntimeError, raise } from './error.ts';
import type { JqNode } from './nodes.ts';
import { excerptOf } from './values.ts';

/** Path to a value as a linked list, last key first, ending in `rootPath`. */
export interface PathNode {
  readonly key: unknown;
  readonly parent: PathNode | undefined;
}

export const rootPath: PathNode = { key: null, parent: undefined };
/** Path of a value that is not part of the input. */
export const noPath: PathNode = { key: null, parent: undefined };

/** Receives one result. The path is undefined unless paths are collected. */
export type Emit = (value: unknown, path: PathNode | undefined) => void;

/** Binding of a name. */
export interface Binding {
  readonly name: string;
  readonly next: Env;
  /** Value of a variable; of a label, the token that `break` throws. */
  readonly value?: unknown;
  /** Closure of a function. */
  readonly closure?: Closure;
}

export interface Closure {
  readonly params: readonly string[];
  readonly body: JqNode;
  /** Environment of its body; `itself` for the binding of the function, which makes it recursive. */
  readonly env: Env | 'itself';
}

export type Env = Binding | undefined;

export interface Interpreter {
  readonly budget: JqBudget;
  readonly nowMs: number;
  /** Emits the results of a filter one by one. */
  run(node: JqNode, env: Env, value: unknown, path: PathNode | undefined, emit: Emit): void;
  /** All results of a filter. */
  collect(node: JqNode, env: Env, value: unknown): unknown[];
  /** Paths of the results of a filter. */
  collectPaths(node: JqNode, env: Env, value: unknown): unknown[][];
}

/** A function that evaluates its arguments itself. */
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

/** Catches runtime errors of `run`, but not those raised downstream, inside `emit`. */
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
