import { binaries } from './arithmetic.ts';
import { assigned } from './assignments.ts';
import type { Budget } from './budget.ts';
import { plains } from './builtins-table.ts';
import { bound } from './destructuring.ts';
import { JqFault, Raised, raise } from './error.ts';
import { formatOf } from './formats.ts';
import {
  type Code,
  type Emit,
  type Env,
  further,
  type Machine,
  off,
  pathOf,
  root,
  shielded,
  type Trail,
} from './interpreter.ts';
import type { Node } from './nodes.ts';
import { indexed } from './paths.ts';
import { prelude } from './prelude.ts';
import { controls } from './special-forms.ts';
import { isMembers, isNumber, isTrue, type Members, noMembers, shown } from './values.ts';

/** What each kind of node gives for one value. */
type Walk<K extends Node['is'] = Node['is']> = (
  machine: Machine,
  node: Extract<Node, { is: K }>,
  env: Env,
  value: unknown,
  trail: Trail | undefined,
  emit: Emit,
) => void;

export function machineOf(budget: Budget, nowMs: number): Machine {
  const machine: Machine = {
    budget,
    nowMs,
    run(node, env, value, trail, emit) {
      budget.spend(1);
      budget.nest();
      try {
        (walks[node.is] as Walk<typeof node.is>)(machine, node as never, env, value, trail, emit);
      } finally {
        budget.unnest();
      }
    },
    all(node, env, value) {
      const found: unknown[] = [];
      machine.run(node, env, value, undefined, it => void found.push(it));
      return found;
    },
    paths(node, env, value) {
      const found: unknown[][] = [];
      machine.run(node, env, value, root, (it, trail) => {
        const path = pathOf(trail, it);
        budget.copy(path.length);
        found.push(path);
      });
      return found;
    },
  };
  return machine;
}

/** Every combination of values for these nodes; the last changes slowest. */
function combined(
  machine: Machine,
  nodes: readonly Node[],
  env: Env,
  value: unknown,
  use: (values: unknown[]) => void,
) {
  const values: unknown[] = new Array(nodes.length).fill(null);
  const fill = (at: number): void => {
    if (at < 0) return use([...values]);
    machine.run(nodes[at]!, env, value, undefined, it => {
      values[at] = it;
      fill(at - 1);
    });
  };
  fill(nodes.length - 1);
}

const walks: { readonly [K in Node['is']]: Walk<K> } = {
  identity: (_machine, _node, _env, value, trail, emit) => emit(value, trail),
  recurse: (machine, _node, env, value, trail, emit) =>
    machine.run({ is: 'call', name: 'recurse/0', args: [] }, env, value, trail, emit),
  literal: (_machine, { value }, _env, _value, trail, emit) => emit(value, off(trail)),
  variable: (_machine, { name }, env, _value, trail, emit) => emit(found(env, name)!.value, off(trail)),
  format({ budget }, { name }, _env, value, trail, emit) {
    emit(formatOf(name)(value, budget), off(trail));
  },
  text(machine, { format, parts }, env, value, trail, emit) {
    const { budget } = machine;
    const write = formatOf(format);
    const inner = parts.filter(part => typeof part !== 'string');
    combined(machine, inner, env, value, values => {
      let next = 0;
      let text = '';
      for (const part of parts) {
        const piece = typeof part === 'string' ? part : write(values[next++], budget);
        budget.make(text.length + piece.length);
        text += piece;
      }
      emit(text, off(trail));
    });
  },
  index(machine, { of, by, isOptional = false }, env, value, trail, emit) {
    const at = (key: unknown) => stepTo(machine, key, isOptional, emit);
    if (by.is === 'literal') return machine.run(of, env, value, trail, at(by.value));
    machine.run(by, env, value, undefined, key => machine.run(of, env, value, trail, at(key)));
  },
  slice(machine, { of, from, to, isOptional = false }, env, value, trail, emit) {
    const none: Node = { is: 'literal', value: null };
    combined(machine, [to ?? none, from ?? none], env, value, ([end, start]) => {
      const key = { start, end };
      machine.run(of, env, value, trail, stepTo(machine, key, isOptional, emit));
    });
  },
  each(machine, { of, isOptional }, env, value, trail, emit) {
    machine.run(of, env, value, trail, (inner, way) => {
      if (isOptional && !Array.isArray(inner) && !isMembers(inner)) return;
      if (!Array.isArray(inner) && !isMembers(inner)) return raise(`Cannot iterate over ${shown(inner)}`);
      const keys = Array.isArray(inner) ? inner.keys() : Object.keys(inner);
      for (const key of keys) {
        machine.budget.spend(1);
        emit((inner as Members)[key] ?? null, further(way, key, inner));
      }
    });
  },
  array(machine, { of }, env, value, trail, emit) {
    emit(of ? machine.all(of, env, value) : [], off(trail));
  },
  object(machine, { members }, env, value, trail, emit) {
    const nodes = members.flat().reverse();
    combined(machine, nodes, env, value, values => {
      const made = noMembers();
      machine.budget.copy(values.length);
      for (let at = values.length - 1; at > 0; at -= 2) {
        const name = values[at];
        if (typeof name !== 'string') return raise(`Cannot use ${shown(name)} as object key`);
        made[name] = values[at - 1];
      }
      emit(made, off(trail));
    });
  },
  negative(machine, { of }, env, value, trail, emit) {
    machine.run(of, env, value, undefined, it =>
      emit(isNumber(it) ? -Number(it) : raise(`${shown(it)} cannot be negated`), off(trail)),
    );
  },
  pipe(machine, { left, right }, env, value, trail, emit) {
    machine.run(left, env, value, trail, (inner, way) => machine.run(right, env, inner, way, emit));
  },
  comma(machine, { left, right }, env, value, trail, emit) {
    machine.run(left, env, value, trail, emit);
    machine.run(right, env, value, trail, emit);
  },
  and: (machine, node, env, value, trail, emit) => both(machine, node, env, value, false, it => emit(it, off(trail))),
  or: (machine, node, env, value, trail, emit) => both(machine, node, env, value, true, it => emit(it, off(trail))),
  alternative(machine, { left, right }, env, value, trail, emit) {
    let any = false;
    const first: Emit = (it, way) => {
      if (!isTrue(it)) return;
      any = true;
      emit(it, way);
    };
    machine.run(left, env, value, trail, first);
    if (!any) machine.run(right, env, value, trail, emit);
  },
  binary(machine, { sign, left, right }, env, value, trail, emit) {
    const join = binaries[sign]!;
    machine.run(right, env, value, undefined, b =>
      machine.run(left, env, value, undefined, a => emit(join(a, b, machine.budget), off(trail))),
    );
  },
  assign: (machine, node, env, value, trail, emit) => assigned(machine, node, env, value, it => emit(it, off(trail))),
  if(machine, { test, yes, no }, env, value, trail, emit) {
    machine.run(test, env, value, undefined, it => machine.run(isTrue(it) ? yes : no, env, value, trail, emit));
  },
  try(machine, { body, caught }, env, value, trail, emit) {
    shielded(
      inner => machine.run(body, env, value, trail, inner),
      emit,
      error => caught && machine.run(caught, env, error.value, off(trail), emit),
    );
  },
  reduce(machine, { source, patterns, start, update }, env, value, trail, emit) {
    machine.run(start, env, value, trail, (first, way) => {
      let state: readonly [unknown, Trail | undefined] = [first, way];
      bound(machine, source, patterns, env, value, inner => {
        let last: readonly [unknown, Trail | undefined] = [null, off(trail)];
        machine.run(update, inner, ...state, (...it) => {
          last = it;
        });
        state = last;
      });
      emit(...state);
    });
  },
  foreach(machine, { source, patterns, start, update, extract }, env, value, trail, emit) {
    machine.run(start, env, value, trail, (first, way) => {
      let state: readonly [unknown, Trail | undefined] = [first, way];
      bound(machine, source, patterns, env, value, inner => {
        const old = state;
        state = [null, off(trail)];
        machine.run(update, inner, ...old, (...it) => {
          state = it;
          machine.run(extract, inner, it[0], it[1], emit);
        });
      });
    });
  },
  bind(machine, { source, patterns, body }, env, value, trail, emit) {
    bound(machine, source, patterns, env, value, inner => machine.run(body, inner, value, trail, emit));
  },
  define(machine, { made: { name, params, body }, body: rest }, env, value, trail, emit) {
    machine.run(rest, { name, next: env, code: { params, body, home: 'itself' } }, value, trail, emit);
  },
  label(machine, { name, body }, env, value, trail, emit) {
    const exit = {};
    try {
      machine.run(body, { name: `*${name}`, next: env, value: exit }, value, trail, emit);
    } catch (thrown) {
      if (thrown !== exit) throw thrown;
    }
  },
  break(_machine, { name }, env) {
    throw found(env, `*${name}`)!.value;
  },
  call(machine, { name, args }, env, value, trail, emit) {
    const entry = found(env, name);
    const code = entry?.code ?? prelude().get(name);
    if (code) return called(machine, code, entry, args, env, value, trail, emit);
    const control = controls[name];
    if (control) return control(machine, args, env, value, trail, emit);
    const plain = plains[name]!;
    if (args.length === 0) return emit(plain(machine, value), off(trail));
    combined(machine, args, env, value, values => emit(plain(machine, value, ...values), off(trail)));
  },
};

/** One step of a path. An optional one has no result where the value cannot be indexed so. */
function stepTo(machine: Machine, key: unknown, isOptional: boolean, emit: Emit): Emit {
  return (inner, way) => {
    const next = further(way, key, inner);
    let found: unknown;
    try {
      found = indexed(inner, key, machine.budget);
    } catch (thrown) {
      if (isOptional && thrown instanceof Raised) return;
      throw thrown;
    }
    emit(found, next);
  };
}

function found(env: Env, name: string): Env {
  let entry = env;
  while (entry && entry.name !== name) entry = entry.next;
  return entry;
}

function both(
  machine: Machine,
  { left, right }: { left: Node; right: Node },
  env: Env,
  value: unknown,
  decides: boolean,
  emit: (value: boolean) => void,
): void {
  machine.run(left, env, value, undefined, a => {
    if (isTrue(a) === decides) return emit(decides);
    machine.run(right, env, value, undefined, b => emit(isTrue(b)));
  });
}

/** Runs a function that is written in the language. Arguments are filters, or values where they are declared so. */
function called(
  machine: Machine,
  { params, body, home }: Code,
  entry: Env,
  args: readonly Node[],
  env: Env,
  value: unknown,
  trail: Trail | undefined,
  emit: Emit,
): void {
  const { budget } = machine;
  const given = (at: number, inner: Env): void => {
    const param = params[at];
    if (param === undefined) {
      budget.descend();
      try {
        return machine.run(body, inner, value, trail, emit);
      } finally {
        budget.ascend();
      }
    }
    const code: Code = { params: [], body: args[at]!, home: env };
    if (!param.startsWith('$')) return given(at + 1, { name: `${param}/0`, next: inner, code });
    machine.run(args[at]!, env, value, undefined, it => {
      const variable = { name: param, next: inner, value: it };
      const body: Node = { is: 'literal', value: it };
      given(at + 1, { name: `${param.slice(1)}/0`, next: variable, code: { ...code, body } });
    });
  };
  given(0, home === 'itself' ? entry : home);
}

/** What a run throws, in the one form that callers know. */
export function faultOf(thrown: unknown): unknown {
  if (thrown instanceof Raised) {
    const { value } = thrown;
    return new JqFault(typeof value === 'string' ? value : `the filter raised ${shown(value)}`);
  }
  // The engine's own bounds: of the stack, and of the length of texts and lists.
  if (thrown instanceof RangeError) return new JqFault('deeper or longer than can be worked on', 0, true);
  return thrown;
}
