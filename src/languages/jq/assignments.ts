import { binaries } from './arithmetic.ts';
import type { Env, Machine } from './interpreter.ts';
import type { Node } from './nodes.ts';
import { changed, gotten, type Owned, removed } from './paths.ts';
import { isTrue } from './values.ts';

type Assignment = Extract<Node, { is: 'assign' }>;

/** `=` and its kind: the value with other things at the places of the left side. */
export function assigned(
  machine: Machine,
  { sign, left, right }: Assignment,
  env: Env,
  value: unknown,
  emit: (value: unknown) => void,
): void {
  const { budget } = machine;
  if (sign === '|=') return emit(updated(machine, left, right, env, value));
  const change = changes[sign] ?? arithmetic(machine, sign.slice(0, -1));
  machine.run(right, env, value, undefined, given => {
    const owned: Owned = new Set();
    const paths = machine.paths(left, env, value);
    emit(paths.reduce((rest: unknown, path) => changed(rest, path, old => change(old, given), budget, owned), value));
  });
}

type Change = (old: unknown, given: unknown) => unknown;

const changes: Readonly<Record<string, Change>> = {
  '=': (_old, given) => given,
  '//=': (old, given) => (isTrue(old) ? old : given),
};

const arithmetic = ({ budget }: Machine, sign: string): Change => {
  const join = binaries[sign]!;
  return (old, given) => join(old, given, budget);
};

/** Each place gets the first result for what stood there; where there is none, it is taken away. */
function updated(machine: Machine, left: Node, right: Node, env: Env, value: unknown): unknown {
  const { budget } = machine;
  const owned: Owned = new Set();
  const gone: unknown[][] = [];
  const rest = machine.paths(left, env, value).reduce((state: unknown, path) => {
    const none = {};
    const result = firstOf(machine, right, env, gotten(state, path, budget), none);
    if (result !== none) return changed(state, path, () => result, budget, owned);
    gone.push(path);
    return state;
  }, value);
  return gone.length === 0 ? rest : removed(rest, gone, budget);
}

export function firstOf(machine: Machine, node: Node, env: Env, value: unknown, otherwise: unknown): unknown {
  const stop = {};
  let result = otherwise;
  try {
    machine.run(node, env, value, undefined, it => {
      result = it;
      throw stop;
    });
  } catch (thrown) {
    if (thrown !== stop) throw thrown;
  }
  return result;
}
