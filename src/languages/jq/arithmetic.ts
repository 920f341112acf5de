import { maxNativeNeedleLength, splitText } from '../text-search.ts';
import type { JqBudget } from './budget.ts';
import { raise } from './error.ts';
import { copyObject } from './paths.ts';
import { compareValues, describeValue, isEqual, isJqNumber, isJqObject, type JqObject, jqTypeOf } from './values.ts';

type Binary = (left: unknown, right: unknown, budget: JqBudget) => unknown;

const both = (left: unknown, right: unknown, are: (value: unknown) => boolean) => are(left) && are(right);
const isText = (value: unknown): value is string => typeof value === 'string';
const raiseOperandError = (left: unknown, right: unknown, what: string) =>
  raise(`${describeValue(left)} and ${describeValue(right)} cannot be ${what}`);

function add(left: unknown, right: unknown, budget: JqBudget): unknown {
  if (jqTypeOf(left) === 'null') return right;
  if (jqTypeOf(right) === 'null') return left;
  if (both(left, right, isJqNumber)) return Number(left) + Number(right);
  if (isText(left) && isText(right)) {
    budget.reserveText(left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    budget.chargeCopy(left.length + right.length);
    return left.concat(right);
  }
  if (isJqObject(left) && isJqObject(right)) {
    const copy = copyObject(left, budget);
    for (const name of Object.keys(right)) copy[name] = right[name];
    budget.chargeCopy(Object.keys(right).length);
    return copy;
  }
  return raiseOperandError(left, right, 'added');
}

function subtract(left: unknown, right: unknown, budget: JqBudget): unknown {
  if (both(left, right, isJqNumber)) return Number(left) - Number(right);
  if (Array.isArray(left) && Array.isArray(right))
    return left.filter(it => !right.some(other => isEqual(it, other, budget)));
  return raiseOperandError(left, right, 'subtracted');
}

function multiply(left: unknown, right: unknown, budget: JqBudget): unknown {
  if (both(left, right, isJqNumber)) return Number(left) * Number(right);
  if (isText(left) && isJqNumber(right)) return repeatString(left, Number(right), budget);
  if (isText(right) && isJqNumber(left)) return repeatString(right, Number(left), budget);
  if (isJqObject(left) && isJqObject(right)) return mergeDeep(left, right, budget, 0);
  return raiseOperandError(left, right, 'multiplied');
}

function repeatString(text: string, times: number, budget: JqBudget): unknown {
  if (!(times > 0)) return null;
  const count = Math.max(1, Math.floor(times));
  budget.reserveText(text.length * count);
  return text === '' ? '' : text.repeat(count);
}

function mergeDeep(left: JqObject, right: JqObject, budget: JqBudget, depth: number): JqObject {
  budget.visit(depth);
  const copy = copyObject(left, budget);
  for (const [name, value] of Object.entries(right)) {
    const old = copy[name];
    copy[name] = isJqObject(old) && isJqObject(value) ? mergeDeep(old, value, budget, depth + 1) : value;
  }
  return copy;
}

function divide(left: unknown, right: unknown, budget: JqBudget): unknown {
  if (both(left, right, isJqNumber)) {
    if (Number(right) === 0)
      return raise(`${describeValue(left)} and ${describeValue(right)} cannot be divided because the divisor is zero`);
    return Number(left) / Number(right);
  }
  if (isText(left) && isText(right)) return splitString(left, right, budget);
  return raiseOperandError(left, right, 'divided');
}

/** Splits a string; an empty separator splits code points. */
export function splitString(text: string, by: string, budget: JqBudget): string[] {
  budget.chargeText(text.length * 2);
  if (text === '') return [];
  if (by.length > maxNativeNeedleLength) return splitText(by, text, budget);
  const found = by === '' ? [...text] : text.split(by);
  budget.chargeCopy(found.length);
  return found;
}

function modulo(left: unknown, right: unknown): unknown {
  if (!both(left, right, isJqNumber)) return raiseOperandError(left, right, 'divided (remainder)');
  const [a, b] = [Math.trunc(Number(left)), Math.abs(Math.trunc(Number(right)))];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  if (b === 0)
    return raise(
      `${describeValue(left)} and ${describeValue(right)} cannot be divided (remainder) because the divisor is zero`,
    );
  // Avoids -0.
  return Number.isFinite(a) ? a % b || 0 : 0;
}

/** Arithmetic and comparison operators. */
export const binaryOperators: Readonly<Record<string, Binary>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': modulo,
  '==': (left, right, budget) => isEqual(left, right, budget),
  '!=': (left, right, budget) => !isEqual(left, right, budget),
  '<': (left, right, budget) => compareValues(left, right, budget) < 0,
  '<=': (left, right, budget) => compareValues(left, right, budget) <= 0,
  '>': (left, right, budget) => compareValues(left, right, budget) > 0,
  '>=': (left, right, budget) => compareValues(left, right, budget) >= 0,
};
