import { raise } from './error.ts';
import { type Env, type Machine, shielded } from './interpreter.ts';
import type { Node, Pattern } from './nodes.ts';
import { indexed } from './paths.ts';
import { namesOf } from './scope.ts';
import { shown } from './values.ts';

/** Takes each value of a filter apart, and goes on with the variables set. */
export function bound(
  machine: Machine,
  source: Node,
  patterns: readonly Pattern[],
  env: Env,
  value: unknown,
  go: (env: Env) => void,
): void {
  const [only] = patterns;
  const names = patterns.length > 1 ? patterns.flatMap(namesOf) : [];
  machine.run(source, env, value, undefined, it => {
    if (patterns.length === 1) return apart(machine, only!, it, env, go);
    // Of several patterns the first that works counts; variables of the others are nothing.
    const unset = names.reduce((next: Env, name) => ({ name, next, value: null }), env);
    const from = (at: number): void => {
      const attempt = () => apart(machine, patterns[at]!, it, unset, go);
      if (at === patterns.length - 1) return attempt();
      shielded(
        attempt,
        () => undefined,
        () => from(at + 1),
      );
    };
    from(0);
  });
}

function apart(machine: Machine, pattern: Pattern, value: unknown, env: Env, go: (env: Env) => void): void {
  const { budget } = machine;
  budget.spend(1);
  if (pattern.is === 'name') return go({ name: pattern.name, next: env, value });
  if (pattern.is === 'items') {
    const item = (at: number, inner: Env): void => {
      if (at === pattern.items.length) return go(inner);
      apart(machine, pattern.items[at]!, indexed(value, at, budget), inner, next => item(at + 1, next));
    };
    return item(0, env);
  }
  const part = (at: number, inner: Env): void => {
    if (at === pattern.members.length) return go(inner);
    const { key, variable, value: wanted } = pattern.members[at]!;
    machine.run(key, inner, value, undefined, name => {
      if (typeof name !== 'string') return raise(`Cannot index ${shown(value)} with ${shown(name)}`);
      const found = indexed(value, name, budget);
      const named = variable === undefined ? inner : { name: variable, next: inner, value: found };
      if (!wanted) return part(at + 1, named);
      apart(machine, wanted, found, named, next => part(at + 1, next));
    });
  };
  part(0, env);
}
