import { firstOf } from './assignments.ts';
import { Raised, raise } from './error.ts';
import { type Control, type Emit, type Env, further, lost, type Machine, off, type Trail } from './interpreter.ts';
import type { Node } from './nodes.ts';
import { gotten, removed } from './paths.ts';
import { captured, matches } from './regexes.ts';
import { streamEvents, streamReader } from './streams.ts';
import { isNumber, isTrue, shown } from './values.ts';

/** Runs something that may end itself. */
function stoppable(run: (stop: () => never) => void): void {
  const token = {};
  try {
    run(() => {
      throw token;
    });
  } catch (thrown) {
    if (thrown !== token) throw thrown;
  }
}

type Spot = readonly [value: unknown, trail: Trail | undefined];

/** What follows from a value, and from that, and so on; kept in a list, so that it may go on for long. */
function chained(machine: Machine, start: Spot, follow: (spot: Spot, push: (spot: Spot) => void) => void): void {
  const waiting: Spot[] = [start];
  for (let spot = waiting.pop(); spot; spot = waiting.pop()) {
    const found: Spot[] = [];
    machine.budget.spend(1);
    follow(spot, it => void found.push(it));
    for (let at = found.length - 1; at >= 0; at--) waiting.push(found[at]!);
  }
}

const recursed = (machine: Machine, next: Node, env: Env, start: Spot, emit: Emit) =>
  chained(machine, start, (spot, push) => {
    emit(...spot);
    machine.run(next, env, ...spot, (...it) => push(it));
  });

const children: Node = { is: 'try', body: { is: 'each', of: { is: 'identity' } }, caught: undefined };

/** Numbers from one to another. */
const range: Control = (machine, args, env, value, trail, emit) => {
  const literal = (number: number): Node => ({ is: 'literal', value: number });
  const [from, to, by = literal(1)] = args.length === 1 ? [literal(0), args[0]!] : args;
  const eachNumber = (node: Node, use: (number: number) => void) =>
    machine.run(node, env, value, undefined, it =>
      isNumber(it) ? use(Number(it)) : raise('Range bounds must be numeric'),
    );
  eachNumber(from!, first =>
    eachNumber(to!, last =>
      eachNumber(by, step => {
        const isLeft = (at: number) => (step > 0 ? at < last : step < 0 ? at > last : false);
        for (let at = first; isLeft(at); at += step) {
          machine.budget.spend(1);
          emit(at, off(trail));
        }
      }),
    ),
  );
};

/** Whether one of many is so, asked no further than needed. */
const some =
  (wanted: boolean): Control =>
  (machine, [source, test], env, value, trail, emit) => {
    let result = !wanted;
    stoppable(stop =>
      machine.run(source!, env, value, undefined, it =>
        machine.run(test!, env, it, undefined, answer => {
          if (isTrue(answer) !== wanted) return;
          result = wanted;
          stop();
        }),
      ),
    );
    emit(result, off(trail));
  };

function limited(
  machine: Machine,
  node: Node,
  env: Env,
  value: unknown,
  trail: Trail | undefined,
  most: number,
  emit: Emit,
) {
  let count = 0;
  stoppable(stop =>
    machine.run(node, env, value, trail, (it, way) => {
      emit(it, way);
      if (++count >= most) stop();
    }),
  );
}

/** The text with what a pattern finds replaced; several replacements give several texts. */
const replaced =
  (always: string): Control =>
  (machine, [pattern, replacement, flags], env, value, trail, emit) => {
    const { budget } = machine;
    const given = (letters: unknown) =>
      machine.run(pattern!, env, value, undefined, source => {
        const found = matches(value, source, `${letters ?? ''}${always}`, budget);
        const text = value as string;
        let results = [''];
        let from = 0;
        for (const match of found) {
          const pieces = machine.all(replacement!, env, captured(text, match));
          const gap = text.slice(from, match.start);
          // Replacements of the first match vary fastest.
          results = pieces.flatMap(piece =>
            results.map(done => {
              if (typeof piece !== 'string') return raise(`${shown(piece)} cannot be added to a string`);
              budget.make(done.length + gap.length + piece.length);
              return done + gap + piece;
            }),
          );
          from = match.end;
        }
        for (const done of results) emit(done + text.slice(from), off(trail));
      });
    if (flags) machine.run(flags, env, value, undefined, given);
    else given('');
  };

/** Functions that decide when, how often and on what their arguments are run. */
export const controls: Readonly<Record<string, Control>> = {
  __proto__: null as never,
  'empty/0': () => undefined,
  'error/0'(_machine, _args, _env, value) {
    throw new Raised(value);
  },
  'error/1': (machine, [message], env, value) =>
    machine.run(message!, env, value, undefined, it => {
      throw new Raised(it);
    }),
  'path/1'(machine, [node], env, value, trail, emit) {
    for (const path of machine.paths(node!, env, value)) emit(path, off(trail));
  },
  'del/1'(machine, [node], env, value, trail, emit) {
    emit(removed(value, machine.paths(node!, env, value), machine.budget), off(trail));
  },
  'getpath/1': (machine, [node], env, value, trail, emit) =>
    machine.run(node!, env, value, undefined, path => {
      if (!Array.isArray(path)) return raise('Path must be specified as an array');
      const way = trail && path.reduce<Trail>((up, key) => further(up, key, value) ?? lost, trail);
      emit(gotten(value, path, machine.budget), way);
    }),
  'recurse/0': (machine, _args, env, value, trail, emit) => recursed(machine, children, env, [value, trail], emit),
  'recurse/1': (machine, [next], env, value, trail, emit) => recursed(machine, next!, env, [value, trail], emit),
  'repeat/1': (machine, [next], env, value, trail, emit) => recursed(machine, next!, env, [value, trail], emit),
  'while/2': (machine, [test, next], env, value, trail, emit) =>
    chained(machine, [value, trail], (spot, push) =>
      machine.run(test!, env, spot[0], undefined, it => {
        if (!isTrue(it)) return;
        emit(...spot);
        machine.run(next!, env, ...spot, (...following) => push(following));
      }),
    ),
  'until/2': (machine, [test, next], env, value, trail, emit) =>
    chained(machine, [value, trail], (spot, push) =>
      machine.run(test!, env, spot[0], undefined, it => {
        if (isTrue(it)) emit(...spot);
        else machine.run(next!, env, ...spot, (...following) => push(following));
      }),
    ),
  'range/1': range,
  'range/2': range,
  'range/3': range,
  'first/1': (machine, [node], env, value, trail, emit) => limited(machine, node!, env, value, trail, 1, emit),
  'limit/2': (machine, [count, node], env, value, trail, emit) =>
    machine.run(count!, env, value, undefined, it => {
      if (!isNumber(it)) return raise(`Invalid arguments to limit: ${shown(it)}`);
      if (Number(it) < 0) machine.run(node!, env, value, trail, emit);
      else if (Number(it) > 0) limited(machine, node!, env, value, trail, Number(it), emit);
    }),
  'isempty/1'(machine, [node], env, value, trail, emit) {
    const none = {};
    emit(firstOf(machine, node!, env, value, none) === none, off(trail));
  },
  'tostream/0': ({ budget }, _args, _env, value, trail, emit) =>
    streamEvents(value, [], budget, event => emit(event, off(trail))),
  'fromstream/1': (machine, [events], env, value, trail, emit) => {
    const push = streamReader(machine.budget, it => emit(it, off(trail)));
    machine.run(events!, env, value, undefined, push);
  },
  'any/2': some(true),
  'all/2': some(false),
  'sub/2': replaced(''),
  'sub/3': replaced(''),
  'gsub/2': replaced('g'),
  'gsub/3': replaced('g'),
};
