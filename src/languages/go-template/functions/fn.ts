import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { type Dictionary, isMap, printed, typeName } from '../values.ts';

/** A function of templates. What it cannot do it says with a `TemplateFault`; long work is paid for with the budget. */
export type Fn = (args: readonly unknown[], budget: Budget) => unknown;
export type FunctionTable = Readonly<Record<string, Fn>>;

/** A function of a fixed number of arguments. */
export const fixed =
  (count: number, body: Fn): Fn =>
  (args, budget) => {
    if (args.length !== count) throw new TemplateFault(`wrong number of args: want ${count} got ${args.length}`);
    return body(args, budget);
  };

export const between =
  (least: number, most: number, body: Fn): Fn =>
  (args, budget) => {
    if (args.length < least || args.length > most)
      throw new TemplateFault(`wrong number of args: want ${least} to ${most} got ${args.length}`);
    return body(args, budget);
  };

export const atLeast =
  (least: number, body: Fn): Fn =>
  (args, budget) => {
    if (args.length < least) throw new TemplateFault(`wrong number of args: want at least ${least} got ${args.length}`);
    return body(args, budget);
  };

/** Numbers and truth values stand for what they print as; nothing, lists and maps are not text. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return printed(value);
  throw new TemplateFault(`wrong type for value; expected string; got ${typeName(value)}`);
}

export function whole(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number)) return number;
  throw new TemplateFault(`wrong type for value; expected int; got ${typeName(value)}`);
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TemplateFault(`wrong type for value; expected a list; got ${typeName(value)}`);
}

export function map(value: unknown): Dictionary {
  if (isMap(value)) return value;
  throw new TemplateFault(`wrong type for value; expected a map; got ${typeName(value)}`);
}

export const newMap = (): Dictionary => Object.create(null) as Dictionary;

export function put(into: Dictionary, name: string, value: unknown): void {
  if (name === '__proto__') throw new TemplateFault('a member may not be called __proto__');
  into[name] = value;
}
