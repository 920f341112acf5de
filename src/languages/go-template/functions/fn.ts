import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { type Dictionary, isMap, printValue, typeName } from '../values.ts';

/** A template function. It fails with a `TemplateError` and charges long work to the budget. */
export type TemplateFunction = (args: readonly unknown[], budget: TemplateBudget) => unknown;
export type FunctionTable = Readonly<Record<string, TemplateFunction>>;

/** Checks the number of arguments. */
export const withArity =
  (count: number, body: TemplateFunction): TemplateFunction =>
  (args, budget) => {
    if (args.length !== count) throw new TemplateError(`wrong number of args: want ${count} got ${args.length}`);
    return body(args, budget);
  };

export const withArityRange =
  (min: number, max: number, body: TemplateFunction): TemplateFunction =>
  (args, budget) => {
    if (args.length < min || args.length > max)
      throw new TemplateError(`wrong number of args: want ${min} to ${max} got ${args.length}`);
    return body(args, budget);
  };

export const withMinArity =
  (min: number, body: TemplateFunction): TemplateFunction =>
  (args, budget) => {
    if (args.length < min) throw new TemplateError(`wrong number of args: want at least ${min} got ${args.length}`);
    return body(args, budget);
  };

/** Text argument: numbers and booleans are printed; nil, lists and maps are errors. */
export function requireText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return printValue(value);
  throw new TemplateError(`wrong type for value; expected string; got ${typeName(value)}`);
}

export function requireInteger(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number)) return number;
  throw new TemplateError(`wrong type for value; expected int; got ${typeName(value)}`);
}

export function requireList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TemplateError(`wrong type for value; expected a list; got ${typeName(value)}`);
}

export function requireMap(value: unknown): Dictionary {
  if (isMap(value)) return value;
  throw new TemplateError(`wrong type for value; expected a map; got ${typeName(value)}`);
}

export const createMap = (): Dictionary => Object.create(null) as Dictionary;

export function setMember(into: Dictionary, name: string, value: unknown): void {
  if (name === '__proto__') throw new TemplateError('a member may not be called __proto__');
  into[name] = value;
}
