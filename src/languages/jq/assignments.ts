import { binaryOperators } from './arithmetic.ts';
import type { Env, Interpreter } from './interpreter.ts';
import type { JqNode } from './nodes.ts';
import { deletePaths, getPath, type Owned, updatePath } from './paths.ts';
import { isTruthy } from './values.ts';

type Assignment = Extract<JqNode, { kind: 'assign' }>;

/** Assignment operators: the value, updated at the paths of the left side. */
export function assign(
  interpreter: Interpreter,
  { operator, left, right }: Assignment,
  env: Env,
  value: unknown,
  emit: (value: unknown) => void,
): void {
  const { budget } = interpreter;
  if (operator === '|=') return emit(updateEach(interpreter, left, right, env, value));
  const change = plainAssignments[operator] ?? createArithmetic(interpreter, operator.slice(0, -1));
  interpreter.run(right, env, value, undefined, given => {
    const owned: Owned = new Set();
    const paths = interpreter.collectPaths(left, env, value);
    emit(
      paths.reduce((rest: unknown, path) => updatePath(rest, path, old => change(old, given), budget, owned), value),
    );
  });
}

type Change = (old: unknown, given: unknown) => unknown;

const plainAssignments: Readonly<Record<string, Change>> = {
  '=': (_old, given) => given,
  '//=': (old, given) => (isTruthy(old) ? old : given),
};

const createArithmetic = ({ budget }: Interpreter, operator: string): Change => {
  const compute = binaryOperators[operator]!;
  return (old, given) => compute(old, given, budget);
};

/** `|=`: each path gets the first result for its old value, and is deleted where there is none. */
function updateEach(interpreter: Interpreter, left: JqNode, right: JqNode, env: Env, value: unknown): unknown {
  const { budget } = interpreter;
  const owned: Owned = new Set();
  const deleted: unknown[][] = [];
  const rest = interpreter.collectPaths(left, env, value).reduce((state: unknown, path) => {
    const none = {};
    const result = firstResult(interpreter, right, env, getPath(state, path, budget), none);
    if (result !== none) return updatePath(state, path, () => result, budget, owned);
    deleted.push(path);
    return state;
  }, value);
  return deleted.length === 0 ? rest : deletePaths(rest, deleted, budget);
}

export function firstResult(
  interpreter: Interpreter,
  node: JqNode,
  env: Env,
  value: unknown,
  otherwise: unknown,
): unknown {
  const stop = {};
  let result = otherwise;
  try {
    interpreter.run(node, env, value, undefined, it => {
      result = it;
      throw stop;
    });
  } catch (thrown) {
    if (thrown !== stop) throw thrown;
  }
  return result;
}
