import { binaryOperators } from './arithmetic.ts';
import { assign } from './assignments.ts';
import type { JqBudget } from './budget.ts';
import { builtins } from './builtins-table.ts';
import { bindPatterns } from './destructuring.ts';
import { JqError, JqRuntimeError, raise } from './error.ts';
import { findFormat } from './formats.ts';
import {
  type Closure,
  catchRuntimeErrors,
  type Emit,
  type Env,
  extendPath,
  type Interpreter,
  type PathNode,
  rootPath,
  toPathKeys,
  withoutPath,
} from './interpreter.ts';
import type { JqNode } from './nodes.ts';
import { getIndex } from './paths.ts';
import { loadPrelude } from './prelude.ts';
import { specialForms } from './special-forms.ts';
import { createJqObject, describeValue, isJqNumber, isJqObject, isTruthy, type JqObject } from './values.ts';

/** Evaluates one kind of node for one input. */
type Evaluate<K extends JqNode['kind'] = JqNode['kind']> = (
  interpreter: Interpreter,
  node: Extract<JqNode, { kind: K }>,
  env: Env,
  value: unknown,
  path: PathNode | undefined,
  emit: Emit,
) => void;

export function createInterpreter(budget: JqBudget, nowMs: number): Interpreter {
  const interpreter: Interpreter = {
    budget,
    nowMs,
    run(node, env, value, path, emit) {
      budget.spend(1);
      budget.enterNode();
      try {
        (evaluators[node.kind] as Evaluate<typeof node.kind>)(interpreter, node as never, env, value, path, emit);
      } finally {
        budget.leaveNode();
      }
    },
    collect(node, env, value) {
      const found: unknown[] = [];
      interpreter.run(node, env, value, undefined, it => void found.push(it));
      return found;
    },
    collectPaths(node, env, value) {
      const found: unknown[][] = [];
      interpreter.run(node, env, value, rootPath, (it, path) => {
        const keys = toPathKeys(path, it);
        budget.chargeCopy(keys.length);
        found.push(keys);
      });
      return found;
    },
  };
  return interpreter;
}

/** Cartesian product of the results of the nodes; the last node varies slowest. */
function forEachCombination(
  interpreter: Interpreter,
  nodes: readonly JqNode[],
  env: Env,
  value: unknown,
  use: (values: unknown[]) => void,
) {
  const values: unknown[] = new Array(nodes.length).fill(null);
  const fill = (at: number): void => {
    if (at < 0) return use([...values]);
    interpreter.run(nodes[at]!, env, value, undefined, it => {
      values[at] = it;
      fill(at - 1);
    });
  };
  fill(nodes.length - 1);
}

const evaluators: { readonly [K in JqNode['kind']]: Evaluate<K> } = {
  identity: (_machine, _node, _env, value, path, emit) => emit(value, path),
  recurse: (interpreter, _node, env, value, path, emit) =>
    interpreter.run({ kind: 'call', name: 'recurse/0', args: [] }, env, value, path, emit),
  literal: (_machine, { value }, _env, _value, path, emit) => emit(value, withoutPath(path)),
  variable: (_machine, { name }, env, _value, path, emit) => emit(findBinding(env, name)!.value, withoutPath(path)),
  format({ budget }, { name }, _env, value, path, emit) {
    emit(findFormat(name)(value, budget), withoutPath(path));
  },
  text(interpreter, { format, parts }, env, value, path, emit) {
    const { budget } = interpreter;
    const write = findFormat(format);
    const inner = parts.filter(part => typeof part !== 'string');
    forEachCombination(interpreter, inner, env, value, values => {
      let next = 0;
      let text = '';
      for (const part of parts) {
        const piece = typeof part === 'string' ? part : write(values[next++], budget);
        budget.reserveText(text.length + piece.length);
        text += piece;
      }
      emit(text, withoutPath(path));
    });
  },
  index(interpreter, { of, by, isOptional = false }, env, value, path, emit) {
    const at = (key: unknown) => emitStep(interpreter, key, isOptional, emit);
    if (by.kind === 'literal') return interpreter.run(of, env, value, path, at(by.value));
    interpreter.run(by, env, value, undefined, key => interpreter.run(of, env, value, path, at(key)));
  },
  slice(interpreter, { of, from, to, isOptional = false }, env, value, path, emit) {
    const none: JqNode = { kind: 'literal', value: null };
    forEachCombination(interpreter, [to ?? none, from ?? none], env, value, ([end, start]) => {
      const key = { start, end };
      interpreter.run(of, env, value, path, emitStep(interpreter, key, isOptional, emit));
    });
  },
  each(interpreter, { of, isOptional }, env, value, path, emit) {
    interpreter.run(of, env, value, path, (inner, path) => {
      if (isOptional && !Array.isArray(inner) && !isJqObject(inner)) return;
      if (!Array.isArray(inner) && !isJqObject(inner)) return raise(`Cannot iterate over ${describeValue(inner)}`);
      const keys = Array.isArray(inner) ? inner.keys() : Object.keys(inner);
      for (const key of keys) {
        interpreter.budget.spend(1);
        emit((inner as JqObject)[key] ?? null, extendPath(path, key, inner));
      }
    });
  },
  array(interpreter, { of }, env, value, path, emit) {
    emit(of ? interpreter.collect(of, env, value) : [], withoutPath(path));
  },
  object(interpreter, { members }, env, value, path, emit) {
    const nodes = members.flat().reverse();
    forEachCombination(interpreter, nodes, env, value, values => {
      const made = createJqObject();
      interpreter.budget.chargeCopy(values.length);
      for (let at = values.length - 1; at > 0; at -= 2) {
        const name = values[at];
        if (typeof name !== 'string') return raise(`Cannot use ${describeValue(name)} as object key`);
        made[name] = values[at - 1];
      }
      emit(made, withoutPath(path));
    });
  },
  negative(interpreter, { of }, env, value, path, emit) {
    interpreter.run(of, env, value, undefined, it =>
      emit(isJqNumber(it) ? -Number(it) : raise(`${describeValue(it)} cannot be negated`), withoutPath(path)),
    );
  },
  pipe(interpreter, { left, right }, env, value, path, emit) {
    interpreter.run(left, env, value, path, (inner, path) => interpreter.run(right, env, inner, path, emit));
  },
  comma(interpreter, { left, right }, env, value, path, emit) {
    interpreter.run(left, env, value, path, emit);
    interpreter.run(right, env, value, path, emit);
  },
  and: (interpreter, node, env, value, path, emit) =>
    evaluateLogical(interpreter, node, env, value, false, it => emit(it, withoutPath(path))),
  or: (interpreter, node, env, value, path, emit) =>
    evaluateLogical(interpreter, node, env, value, true, it => emit(it, withoutPath(path))),
  alternative(interpreter, { left, right }, env, value, path, emit) {
    let any = false;
    const first: Emit = (it, path) => {
      if (!isTruthy(it)) return;
      any = true;
      emit(it, path);
    };
    interpreter.run(left, env, value, path, first);
    if (!any) interpreter.run(right, env, value, path, emit);
  },
  binary(interpreter, { operator, left, right }, env, value, path, emit) {
    const compute = binaryOperators[operator]!;
    interpreter.run(right, env, value, undefined, b =>
      interpreter.run(left, env, value, undefined, a => emit(compute(a, b, interpreter.budget), withoutPath(path))),
    );
  },
  assign: (interpreter, node, env, value, path, emit) =>
    assign(interpreter, node, env, value, it => emit(it, withoutPath(path))),
  if(interpreter, { test, yes, no }, env, value, path, emit) {
    interpreter.run(test, env, value, undefined, it =>
      interpreter.run(isTruthy(it) ? yes : no, env, value, path, emit),
    );
  },
  try(interpreter, { body, caught }, env, value, path, emit) {
    catchRuntimeErrors(
      inner => interpreter.run(body, env, value, path, inner),
      emit,
      error => caught && interpreter.run(caught, env, error.value, withoutPath(path), emit),
    );
  },
  reduce(interpreter, { source, patterns, start, update }, env, value, path, emit) {
    interpreter.run(start, env, value, path, (first, path) => {
      let state: readonly [unknown, PathNode | undefined] = [first, path];
      bindPatterns(interpreter, source, patterns, env, value, inner => {
        let last: readonly [unknown, PathNode | undefined] = [null, withoutPath(path)];
        interpreter.run(update, inner, ...state, (...it) => {
          last = it;
        });
        state = last;
      });
      emit(...state);
    });
  },
  foreach(interpreter, { source, patterns, start, update, extract }, env, value, path, emit) {
    interpreter.run(start, env, value, path, (first, path) => {
      let state: readonly [unknown, PathNode | undefined] = [first, path];
      bindPatterns(interpreter, source, patterns, env, value, inner => {
        const old = state;
        state = [null, withoutPath(path)];
        interpreter.run(update, inner, ...old, (...it) => {
          state = it;
          interpreter.run(extract, inner, it[0], it[1], emit);
        });
      });
    });
  },
  bind(interpreter, { source, patterns, body }, env, value, path, emit) {
    bindPatterns(interpreter, source, patterns, env, value, inner => interpreter.run(body, inner, value, path, emit));
  },
  define(interpreter, { made: { name, params, body }, body: rest }, env, value, path, emit) {
    interpreter.run(rest, { name, next: env, closure: { params, body, env: 'itself' } }, value, path, emit);
  },
  label(interpreter, { name, body }, env, value, path, emit) {
    const exit = {};
    try {
      interpreter.run(body, { name: `*${name}`, next: env, value: exit }, value, path, emit);
    } catch (thrown) {
      if (thrown !== exit) throw thrown;
    }
  },
  break(_machine, { name }, env) {
    throw findBinding(env, `*${name}`)!.value;
  },
  call(interpreter, { name, args }, env, value, path, emit) {
    const entry = findBinding(env, name);
    const code = entry?.closure ?? loadPrelude().get(name);
    if (code) return callClosure(interpreter, code, entry, args, env, value, path, emit);
    const control = specialForms[name];
    if (control) return control(interpreter, args, env, value, path, emit);
    const plain = builtins[name]!;
    if (args.length === 0) return emit(plain(interpreter, value), withoutPath(path));
    forEachCombination(interpreter, args, env, value, values =>
      emit(plain(interpreter, value, ...values), withoutPath(path)),
    );
  },
};

/** One path step. An optional step has no result where the value cannot be indexed. */
function emitStep(interpreter: Interpreter, key: unknown, isOptional: boolean, emit: Emit): Emit {
  return (inner, path) => {
    const next = extendPath(path, key, inner);
    let found: unknown;
    try {
      found = getIndex(inner, key, interpreter.budget);
    } catch (thrown) {
      if (isOptional && thrown instanceof JqRuntimeError) return;
      throw thrown;
    }
    emit(found, next);
  };
}

function findBinding(env: Env, name: string): Env {
  let entry = env;
  while (entry && entry.name !== name) entry = entry.next;
  return entry;
}

function evaluateLogical(
  interpreter: Interpreter,
  { left, right }: { left: JqNode; right: JqNode },
  env: Env,
  value: unknown,
  decides: boolean,
  emit: (value: boolean) => void,
): void {
  interpreter.run(left, env, value, undefined, a => {
    if (isTruthy(a) === decides) return emit(decides);
    interpreter.run(right, env, value, undefined, b => emit(isTruthy(b)));
  });
}

/** Calls a function defined in jq. Arguments are closures, or values where the parameter is `$name`. */
function callClosure(
  interpreter: Interpreter,
  { params, body, env: closureEnv }: Closure,
  entry: Env,
  args: readonly JqNode[],
  env: Env,
  value: unknown,
  path: PathNode | undefined,
  emit: Emit,
): void {
  const { budget } = interpreter;
  const bindParameter = (at: number, inner: Env): void => {
    const param = params[at];
    if (param === undefined) {
      budget.enterCall();
      try {
        return interpreter.run(body, inner, value, path, emit);
      } finally {
        budget.leaveCall();
      }
    }
    const code: Closure = { params: [], body: args[at]!, env };
    if (!param.startsWith('$')) return bindParameter(at + 1, { name: `${param}/0`, next: inner, closure: code });
    interpreter.run(args[at]!, env, value, undefined, it => {
      const variable = { name: param, next: inner, value: it };
      const body: JqNode = { kind: 'literal', value: it };
      bindParameter(at + 1, { name: `${param.slice(1)}/0`, next: variable, closure: { ...code, body } });
    });
  };
  bindParameter(0, closureEnv === 'itself' ? entry : closureEnv);
}

/** Converts what a run throws to `JqError`. */
export function toJqError(thrown: unknown): unknown {
  if (thrown instanceof JqRuntimeError) {
    const { value } = thrown;
    return new JqError(typeof value === 'string' ? value : `the filter raised ${describeValue(value)}`);
  }
  // V8's own limits of stack, string and array length.
  if (thrown instanceof RangeError) return new JqError('deeper or longer than can be worked on', 0, true);
  return thrown;
}
