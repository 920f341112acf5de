import { firstResult } from './assignments.ts';
import { JqRuntimeError, raise } from './error.ts';
import {
  type Emit,
  type Env,
  extendPath,
  type Interpreter,
  noPath,
  type PathNode,
  type SpecialForm,
  withoutPath,
} from './interpreter.ts';
import type { JqNode } from './nodes.ts';
import { deletePaths, getPath } from './paths.ts';
import { findMatches, toNamedCaptures } from './regexes.ts';
import { createStreamReader, emitStreamEvents } from './streams.ts';
import { describeValue, isJqNumber, isTruthy } from './values.ts';

/** Runs a function that can stop itself. */
function runStoppable(run: (stop: () => never) => void): void {
  const token = {};
  try {
    run(() => {
      throw token;
    });
  } catch (thrown) {
    if (thrown !== token) throw thrown;
  }
}

type PathValue = readonly [value: unknown, path: PathNode | undefined];

/** Depth-first expansion with an explicit stack, so that long chains do not exhaust the call stack. */
function expandDepthFirst(
  interpreter: Interpreter,
  start: PathValue,
  follow: (spot: PathValue, push: (spot: PathValue) => void) => void,
): void {
  const waiting: PathValue[] = [start];
  for (let spot = waiting.pop(); spot; spot = waiting.pop()) {
    const found: PathValue[] = [];
    interpreter.budget.spend(1);
    follow(spot, it => void found.push(it));
    for (let at = found.length - 1; at >= 0; at--) waiting.push(found[at]!);
  }
}

const recurseFrom = (interpreter: Interpreter, next: JqNode, env: Env, start: PathValue, emit: Emit) =>
  expandDepthFirst(interpreter, start, (spot, push) => {
    emit(...spot);
    interpreter.run(next, env, ...spot, (...it) => push(it));
  });

const children: JqNode = { kind: 'try', body: { kind: 'each', of: { kind: 'identity' } }, caught: undefined };

/** `range`, for every combination of its bounds. */
const range: SpecialForm = (interpreter, args, env, value, path, emit) => {
  const literal = (number: number): JqNode => ({ kind: 'literal', value: number });
  const [from, to, by = literal(1)] = args.length === 1 ? [literal(0), args[0]!] : args;
  const eachNumber = (node: JqNode, use: (number: number) => void) =>
    interpreter.run(node, env, value, undefined, it =>
      isJqNumber(it) ? use(Number(it)) : raise('Range bounds must be numeric'),
    );
  eachNumber(from!, first =>
    eachNumber(to!, last =>
      eachNumber(by, step => {
        const isLeft = (at: number) => (step > 0 ? at < last : step < 0 ? at > last : false);
        for (let at = first; isLeft(at); at += step) {
          interpreter.budget.spend(1);
          emit(at, withoutPath(path));
        }
      }),
    ),
  );
};

/** `any` and `all`, short-circuiting. */
const createQuantifier =
  (wanted: boolean): SpecialForm =>
  (interpreter, [source, test], env, value, path, emit) => {
    let result = !wanted;
    runStoppable(stop =>
      interpreter.run(source!, env, value, undefined, it =>
        interpreter.run(test!, env, it, undefined, answer => {
          if (isTruthy(answer) !== wanted) return;
          result = wanted;
          stop();
        }),
      ),
    );
    emit(result, withoutPath(path));
  };

function emitAtMost(
  interpreter: Interpreter,
  node: JqNode,
  env: Env,
  value: unknown,
  path: PathNode | undefined,
  maxResults: number,
  emit: Emit,
) {
  let count = 0;
  runStoppable(stop =>
    interpreter.run(node, env, value, path, (it, path) => {
      emit(it, path);
      if (++count >= maxResults) stop();
    }),
  );
}

/** `sub` and `gsub`; several replacements give several results. */
const createSubstitution =
  (addedFlags: string): SpecialForm =>
  (interpreter, [pattern, replacement, flags], env, value, path, emit) => {
    const { budget } = interpreter;
    const substitute = (letters: unknown) =>
      interpreter.run(pattern!, env, value, undefined, source => {
        const found = findMatches(value, source, `${letters ?? ''}${addedFlags}`, budget);
        const text = value as string;
        let results = [''];
        let from = 0;
        for (const match of found) {
          const pieces = interpreter.collect(replacement!, env, toNamedCaptures(text, match));
          const gap = text.slice(from, match.start);
          // Replacements of the first match vary fastest.
          results = pieces.flatMap(piece =>
            results.map(done => {
              if (typeof piece !== 'string') return raise(`${describeValue(piece)} cannot be added to a string`);
              budget.reserveText(done.length + gap.length + piece.length);
              return done + gap + piece;
            }),
          );
          from = match.end;
        }
        for (const done of results) emit(done + text.slice(from), withoutPath(path));
      });
    if (flags) interpreter.run(flags, env, value, undefined, substitute);
    else substitute('');
  };

/** Functions that evaluate their arguments lazily, repeatedly or on other inputs. */
export const specialForms: Readonly<Record<string, SpecialForm>> = {
  __proto__: null as never,
  'empty/0': () => undefined,
  'error/0'(_machine, _args, _env, value) {
    throw new JqRuntimeError(value);
  },
  'error/1': (interpreter, [message], env, value) =>
    interpreter.run(message!, env, value, undefined, it => {
      throw new JqRuntimeError(it);
    }),
  'path/1'(interpreter, [node], env, value, path, emit) {
    for (const keys of interpreter.collectPaths(node!, env, value)) emit(keys, withoutPath(path));
  },
  'del/1'(interpreter, [node], env, value, path, emit) {
    emit(deletePaths(value, interpreter.collectPaths(node!, env, value), interpreter.budget), withoutPath(path));
  },
  'getpath/1': (interpreter, [node], env, value, path, emit) =>
    interpreter.run(node!, env, value, undefined, keys => {
      if (!Array.isArray(keys)) return raise('Path must be specified as an array');
      const target = path && keys.reduce<PathNode>((up, key) => extendPath(up, key, value) ?? noPath, path);
      emit(getPath(value, keys, interpreter.budget), target);
    }),
  'recurse/0': (interpreter, _args, env, value, path, emit) =>
    recurseFrom(interpreter, children, env, [value, path], emit),
  'recurse/1': (interpreter, [next], env, value, path, emit) =>
    recurseFrom(interpreter, next!, env, [value, path], emit),
  'repeat/1': (interpreter, [next], env, value, path, emit) =>
    recurseFrom(interpreter, next!, env, [value, path], emit),
  'while/2': (interpreter, [test, next], env, value, path, emit) =>
    expandDepthFirst(interpreter, [value, path], (spot, push) =>
      interpreter.run(test!, env, spot[0], undefined, it => {
        if (!isTruthy(it)) return;
        emit(...spot);
        interpreter.run(next!, env, ...spot, (...following) => push(following));
      }),
    ),
  'until/2': (interpreter, [test, next], env, value, path, emit) =>
    expandDepthFirst(interpreter, [value, path], (spot, push) =>
      interpreter.run(test!, env, spot[0], undefined, it => {
        if (isTruthy(it)) emit(...spot);
        else interpreter.run(next!, env, ...spot, (...following) => push(following));
      }),
    ),
  'range/1': range,
  'range/2': range,
  'range/3': range,
  'first/1': (interpreter, [node], env, value, path, emit) => emitAtMost(interpreter, node!, env, value, path, 1, emit),
  'limit/2': (interpreter, [count, node], env, value, path, emit) =>
    interpreter.run(count!, env, value, undefined, it => {
      if (!isJqNumber(it)) return raise(`Invalid arguments to limit: ${describeValue(it)}`);
      if (Number(it) < 0) interpreter.run(node!, env, value, path, emit);
      else if (Number(it) > 0) emitAtMost(interpreter, node!, env, value, path, Number(it), emit);
    }),
  'isempty/1'(interpreter, [node], env, value, path, emit) {
    const none = {};
    emit(firstResult(interpreter, node!, env, value, none) === none, withoutPath(path));
  },
  'tostream/0': ({ budget }, _args, _env, value, path, emit) =>
    emitStreamEvents(value, [], budget, event => emit(event, withoutPath(path))),
  'fromstream/1': (interpreter, [events], env, value, path, emit) => {
    const push = createStreamReader(interpreter.budget, it => emit(it, withoutPath(path)));
    interpreter.run(events!, env, value, undefined, push);
  },
  'any/2': createQuantifier(true),
  'all/2': createQuantifier(false),
  'sub/2': createSubstitution(''),
  'sub/3': createSubstitution(''),
  'gsub/2': createSubstitution('g'),
  'gsub/3': createSubstitution('g'),
};
