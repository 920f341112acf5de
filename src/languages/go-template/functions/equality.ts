import type { TemplateBudget } from '../budget.ts';
import { isMap, isNil } from '../values.ts';

/** Deep equality, charged by the member: values may be cyclic. */
export function deepEqual(left: unknown, right: unknown, budget: TemplateBudget, depth = 0): boolean {
  budget.visit(depth);
  if (isNil(left) || isNil(right)) return isNil(left) && isNil(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((it, at) => deepEqual(it, right[at], budget, depth + 1));
  if (!isMap(left) || !isMap(right)) {
    if (typeof left === 'string' && typeof right === 'string' && left.length === right.length)
      budget.chargeText(left.length);
    return left === right;
  }
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every(name => Object.hasOwn(right, name) && deepEqual(left[name], right[name], budget, depth + 1))
  );
}

export function deepCopy(value: unknown, budget: TemplateBudget, depth = 0): unknown {
  budget.visit(depth);
  if (Array.isArray(value)) return value.map(it => deepCopy(it, budget, depth + 1));
  if (!isMap(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value)) copy[name] = deepCopy(value[name], budget, depth + 1);
  return copy;
}
