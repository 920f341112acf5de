import { raise } from './error.ts';
import { catchRuntimeErrors, type Env, type Interpreter } from './interpreter.ts';
import type { DestructuringPattern, JqNode } from './nodes.ts';
import { getIndex } from './paths.ts';
import { listVariables } from './scope.ts';
import { describeValue } from './values.ts';

/** Destructuring: binds the variables of the patterns for each result of the source. */
export function bindPatterns(
  interpreter: Interpreter,
  source: JqNode,
  patterns: readonly DestructuringPattern[],
  env: Env,
  value: unknown,
  next: (env: Env) => void,
): void {
  const [only] = patterns;
  const names = patterns.length > 1 ? patterns.flatMap(listVariables) : [];
  interpreter.run(source, env, value, undefined, it => {
    if (patterns.length === 1) return destructure(interpreter, only!, it, env, next);
    // `?//`: the first pattern that succeeds binds; variables of the others are null.
    const unset = names.reduce((next: Env, name) => ({ name, next, value: null }), env);
    const from = (at: number): void => {
      const attempt = () => destructure(interpreter, patterns[at]!, it, unset, next);
      if (at === patterns.length - 1) return attempt();
      catchRuntimeErrors(
        attempt,
        () => undefined,
        () => from(at + 1),
      );
    };
    from(0);
  });
}

function destructure(
  interpreter: Interpreter,
  pattern: DestructuringPattern,
  value: unknown,
  env: Env,
  next: (env: Env) => void,
): void {
  const { budget } = interpreter;
  budget.spend(1);
  if (pattern.kind === 'name') return next({ name: pattern.name, next: env, value });
  if (pattern.kind === 'items') {
    const item = (at: number, inner: Env): void => {
      if (at === pattern.items.length) return next(inner);
      destructure(interpreter, pattern.items[at]!, getIndex(value, at, budget), inner, next => item(at + 1, next));
    };
    return item(0, env);
  }
  const part = (at: number, inner: Env): void => {
    if (at === pattern.members.length) return next(inner);
    const { key, variable, value: wanted } = pattern.members[at]!;
    interpreter.run(key, inner, value, undefined, name => {
      if (typeof name !== 'string') return raise(`Cannot index ${describeValue(value)} with ${describeValue(name)}`);
      const found = getIndex(value, name, budget);
      const named = variable === undefined ? inner : { name: variable, next: inner, value: found };
      if (!wanted) return part(at + 1, named);
      destructure(interpreter, wanted, found, named, next => part(at + 1, next));
    });
  };
  part(0, env);
}
