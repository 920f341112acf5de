import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';

/** Decimal arithmetic: 0.1 and 0.2 are 0.3. The value is `coefficient` times ten to the power of `exponent`. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Decimals of quotients; the last is rounded half away from zero. */
const quotientDecimals = 16;
/** Digits that cost one step. */
const digitsPerStep = 16;

function fromNumber(value: number): Decimal {
  if (!Number.isFinite(value)) throw new TemplateError(`cannot compute with ${value}`);
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const behind = digits.split('.')[1]?.length ?? 0;
  return { coefficient: BigInt(digits.replace('.', '')), exponent: Number(exponent) - behind };
}

const toNumber = ({ coefficient, exponent }: Decimal) => Number(`${coefficient}e${exponent}`);
const scale = (value: bigint, digits: number) => value * 10n ** BigInt(digits);

function add(left: Decimal, right: Decimal): Decimal {
  const exponent = Math.min(left.exponent, right.exponent);
  const at = (it: Decimal) => scale(it.coefficient, it.exponent - exponent);
  return { coefficient: at(left) + at(right), exponent };
}

const negate = ({ coefficient, exponent }: Decimal): Decimal => ({ coefficient: -coefficient, exponent });

const multiply = (left: Decimal, right: Decimal): Decimal => ({
  coefficient: left.coefficient * right.coefficient,
  exponent: left.exponent + right.exponent,
});

function divide(left: Decimal, right: Decimal): Decimal {
  if (right.coefficient === 0n) throw new TemplateError('decimal division by 0');
  const shift = left.exponent - right.exponent + quotientDecimals;
  const dividend = scale(left.coefficient, Math.max(0, shift));
  const divisor = scale(right.coefficient, Math.max(0, -shift));
  const quotient = dividend / divisor;
  const size = (it: bigint) => (it < 0n ? -it : it);
  const isUp = 2n * size(dividend % divisor) >= size(divisor);
  const away = dividend < 0n === divisor < 0n ? 1n : -1n;
  return { coefficient: isUp ? quotient + away : quotient, exponent: -quotientDecimals };
}

type Operation = (left: Decimal, right: Decimal) => Decimal;

export const decimalOperations: Readonly<Record<'add' | 'subtract' | 'multiply' | 'divide', Operation>> = {
  add,
  subtract: (left, right) => add(left, negate(right)),
  multiply,
  divide,
};

/** Folds from left to right; every operation is charged by the digits of the intermediate result. */
export function computeDecimal(values: readonly number[], operation: Operation, budget: TemplateBudget): number {
  const [first, ...others] = values.map(fromNumber);
  if (!first) return 0;
  let result = first;
  for (const other of others) {
    budget.spend(1 + Math.ceil(result.coefficient.toString(16).length / digitsPerStep));
    result = operation(result, other);
  }
  return toNumber(result) + 0;
}
