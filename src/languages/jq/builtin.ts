import type { Interpreter } from './interpreter.ts';

/** A builtin of the input and its evaluated arguments; it runs for every combination of their results. */
export type Builtin = (interpreter: Interpreter, value: unknown, ...args: unknown[]) => unknown;
export type BuiltinTable = Readonly<Record<string, Builtin>>;
