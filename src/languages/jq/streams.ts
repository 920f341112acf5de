import type { JqBudget } from './budget.ts';
import { raise } from './error.ts';
import { updatePath } from './paths.ts';
import { describeValue, isJqObject, type JqObject } from './values.ts';

/**
 * Streaming form of a value: `[path, leaf]` for each leaf, and `[path of the last member]` at the end of a container.
 */
export function emitStreamEvents(
  value: unknown,
  path: readonly unknown[],
  budget: JqBudget,
  emit: (event: unknown[]) => void,
): void {
  budget.visit(path.length);
  budget.chargeCopy(path.length + 2);
  const keys = Array.isArray(value) ? [...value.keys()] : isJqObject(value) ? Object.keys(value) : [];
  if (keys.length === 0) return emit([[...path], value ?? null]);
  for (const key of keys) emitStreamEvents((value as JqObject)[key], [...path, key], budget, emit);
  emit([[...path, keys.at(-1)]]);
}

/** Assembles streaming events; emits each completed value. */
export function createStreamReader(budget: JqBudget, emit: (value: unknown) => void): (event: unknown) => void {
  let state: unknown = null;
  return event => {
    const [path, leaf] = Array.isArray(event) ? event : raise(`${describeValue(event)} is not a streaming event`);
    if (!Array.isArray(path)) return raise(`${describeValue(path)} is not the path of a streaming event`);
    const isLeaf = (event as unknown[]).length === 2;
    if (isLeaf) state = updatePath(state, path, () => leaf, budget);
    if (path.length > (isLeaf ? 0 : 1)) return;
    const whole = state;
    state = null;
    emit(whole);
  };
}
