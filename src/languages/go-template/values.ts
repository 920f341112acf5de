import { compareCodePoints } from '#base/compare-code-points.ts';
import { BudgetedText, defaultTemplateBounds, TemplateBudget } from './budget.ts';
import { formatLayout } from './layout.ts';

/**
 * Values of templates: nil (`undefined` when missing, `null` when explicit), booleans, numbers, strings, lists, maps
 * and times. Whole numbers are integers and print as such, whatever their source.
 */
export type Dictionary = Record<string, unknown>;

export const isMap = (value: unknown): value is Dictionary =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Own members only: names such as `constructor` are ordinary. */
export const getOwnMember = (of: Dictionary, name: string): unknown => (Object.hasOwn(of, name) ? of[name] : undefined);

export const isNil = (value: unknown): value is null | undefined => value === null || value === undefined;
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Truth of text/template: empty text, lists and maps, zero and nil are false. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) return value.length > 0;
    if (value instanceof Date) return true;
    for (const name in value) if (Object.hasOwn(value, name)) return true;
    return false;
  }
  return Boolean(value) || Number.isNaN(value);
}

export function typeName(value: unknown): string {
  if (isNil(value)) return '<nil>';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'int';
  if (typeof value === 'number') return 'float64';
  if (Array.isArray(value)) return '[]interface {}';
  return value instanceof Date ? 'time.Time' : 'map[string]interface {}';
}

const kinds: Readonly<Record<string, string>> = {
  '<nil>': 'invalid',
  '[]interface {}': 'slice',
  'map[string]interface {}': 'map',
  'time.Time': 'struct',
};
export const kindName = (value: unknown): string => kinds[typeName(value)] ?? typeName(value);

/** Member names in the order in which maps are iterated and printed. */
export function sortNames(of: Dictionary, budget: TemplateBudget): string[] {
  return sortTexts(Object.keys(of), budget);
}

const surrogate = /[\ud800-\udfff]/;

/** Sorts in place by code points; the default order is by UTF-16 units. Charges for the comparisons. */
export function sortTexts(items: string[], budget: TemplateBudget): string[] {
  budget.spend(items.length * (1 + (Math.ceil(Math.log2(items.length + 1)) >> 3)));
  return items.some(it => surrogate.test(it)) ? items.sort(compareCodePoints) : items.sort();
}

export function printNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value);
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  const written = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return written.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Go's `%v`, as actions print. Lists and maps are walked within the budget: they may be cyclic. */
export function printValue(value: unknown, budget: TemplateBudget = new TemplateBudget(defaultTemplateBounds)): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return printScalar(value);
  const out = new BudgetedText(budget);
  printInto(value, part => out.add(part), budget, 0);
  return out.toString();
}

function printInto(value: unknown, add: (part: string) => void, budget: TemplateBudget, depth: number): void {
  budget.visit(depth);
  if (Array.isArray(value)) {
    add('[');
    for (let at = 0; at < value.length; at++) {
      if (at > 0) add(' ');
      printInto(value[at], add, budget, depth + 1);
    }
    return add(']');
  }
  if (!isMap(value)) return add(typeof value === 'string' ? value : printScalar(value));
  add('map[');
  for (const [at, name] of sortNames(value, budget).entries()) {
    add(at > 0 ? ` ${name}:` : `${name}:`);
    printInto(value[name], add, budget, depth + 1);
  }
  add(']');
}

function printScalar(value: unknown): string {
  if (isNumber(value)) return printNumber(value);
  if (value instanceof Date) return formatLayout(value, '2006-01-02 15:04:05 -0700 MST', 'UTC');
  return isNil(value) ? '<nil>' : String(value);
}
