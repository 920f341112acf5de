import type { Budget } from './budget.ts';
import { raise } from './error.ts';
import { copied } from './paths.ts';
import { compare, isEqual, isMembers, isNumber, kindOf, type Members, shown } from './values.ts';

type Binary = (left: unknown, right: unknown, budget: Budget) => unknown;

const both = (left: unknown, right: unknown, are: (value: unknown) => boolean) => are(left) && are(right);
const isText = (value: unknown): value is string => typeof value === 'string';
const cannot = (left: unknown, right: unknown, what: string) =>
  raise(`${shown(left)} and ${shown(right)} cannot be ${what}`);

function sum(left: unknown, right: unknown, budget: Budget): unknown {
  if (kindOf(left) === 'null') return right;
  if (kindOf(right) === 'null') return left;
  if (both(left, right, isNumber)) return Number(left) + Number(right);
  if (isText(left) && isText(right)) {
    budget.make(left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    budget.copy(left.length + right.length);
    return left.concat(right);
  }
  if (isMembers(left) && isMembers(right)) {
    const copy = copied(left, budget);
    for (const name of Object.keys(right)) copy[name] = right[name];
    budget.copy(Object.keys(right).length);
    return copy;
  }
  return cannot(left, right, 'added');
}

function difference(left: unknown, right: unknown, budget: Budget): unknown {
  if (both(left, right, isNumber)) return Number(left) - Number(right);
  if (Array.isArray(left) && Array.isArray(right))
    return left.filter(it => !right.some(other => isEqual(it, other, budget)));
  return cannot(left, right, 'subtracted');
}

function product(left: unknown, right: unknown, budget: Budget): unknown {
  if (both(left, right, isNumber)) return Number(left) * Number(right);
  if (isText(left) && isNumber(right)) return repeated(left, Number(right), budget);
  if (isText(right) && isNumber(left)) return repeated(right, Number(left), budget);
  if (isMembers(left) && isMembers(right)) return merged(left, right, budget, 0);
  return cannot(left, right, 'multiplied');
}

function repeated(text: string, times: number, budget: Budget): unknown {
  if (!(times > 0)) return null;
  const count = Math.max(1, Math.floor(times));
  budget.make(text.length * count);
  return text === '' ? '' : text.repeat(count);
}

function merged(left: Members, right: Members, budget: Budget, depth: number): Members {
  budget.visit(depth);
  const copy = copied(left, budget);
  for (const [name, value] of Object.entries(right)) {
    const old = copy[name];
    copy[name] = isMembers(old) && isMembers(value) ? merged(old, value, budget, depth + 1) : value;
  }
  return copy;
}

function quotient(left: unknown, right: unknown, budget: Budget): unknown {
  if (both(left, right, isNumber)) {
    if (Number(right) === 0)
      return raise(`${shown(left)} and ${shown(right)} cannot be divided because the divisor is zero`);
    return Number(left) / Number(right);
  }
  if (isText(left) && isText(right)) return parts(left, right, budget);
  return cannot(left, right, 'divided');
}

/** A text in pieces. */
export function parts(text: string, by: string, budget: Budget): string[] {
  budget.read(text.length * 2);
  if (text === '') return [];
  const found = by === '' ? [...text] : text.split(by);
  budget.copy(found.length);
  return found;
}

function rest(left: unknown, right: unknown): unknown {
  if (!both(left, right, isNumber)) return cannot(left, right, 'divided (remainder)');
  const [a, b] = [Math.trunc(Number(left)), Math.abs(Math.trunc(Number(right)))];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  if (b === 0)
    return raise(`${shown(left)} and ${shown(right)} cannot be divided (remainder) because the divisor is zero`);
  // Nothing is ever less than nothing.
  return Number.isFinite(a) ? a % b || 0 : 0;
}

/** What stands between two values. */
export const binaries: Readonly<Record<string, Binary>> = {
  '+': sum,
  '-': difference,
  '*': product,
  '/': quotient,
  '%': rest,
  '==': (left, right, budget) => isEqual(left, right, budget),
  '!=': (left, right, budget) => !isEqual(left, right, budget),
  '<': (left, right, budget) => compare(left, right, budget) < 0,
  '<=': (left, right, budget) => compare(left, right, budget) <= 0,
  '>': (left, right, budget) => compare(left, right, budget) > 0,
  '>=': (left, right, budget) => compare(left, right, budget) >= 0,
};
