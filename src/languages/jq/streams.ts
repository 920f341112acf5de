import type { Budget } from './budget.ts';
import { raise } from './error.ts';
import { changed } from './paths.ts';
import { isMembers, type Members, shown } from './values.ts';

/** Streaming form of a value: `[path, leaf]` for each leaf, and `[path of the last member]` where a list or object ends. */
export function streamEvents(
  value: unknown,
  path: readonly unknown[],
  budget: Budget,
  emit: (event: unknown[]) => void,
): void {
  budget.visit(path.length);
  budget.copy(path.length + 2);
  const keys = Array.isArray(value) ? [...value.keys()] : isMembers(value) ? Object.keys(value) : [];
  if (keys.length === 0) return emit([[...path], value ?? null]);
  for (const key of keys) streamEvents((value as Members)[key], [...path, key], budget, emit);
  emit([[...path, keys.at(-1)]]);
}

/** Takes streaming events and gives each value that they complete. */
export function streamReader(budget: Budget, emit: (value: unknown) => void): (event: unknown) => void {
  let state: unknown = null;
  return event => {
    const [path, leaf] = Array.isArray(event) ? event : raise(`${shown(event)} is not a streaming event`);
    if (!Array.isArray(path)) return raise(`${shown(path)} is not the path of a streaming event`);
    const isLeaf = (event as unknown[]).length === 2;
    if (isLeaf) state = changed(state, path, () => leaf, budget);
    if (path.length > (isLeaf ? 0 : 1)) return;
    const whole = state;
    state = null;
    emit(whole);
  };
}
