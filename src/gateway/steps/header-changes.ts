import { tokenPattern } from '#base/http-syntax.ts';
import { framingHeaders, type HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { compileVariables, escapeHeaderValue, type VariableServices } from '../variables/variables.ts';

/** Header changes of a definition: removals, then values set. */
export interface HeaderChangeConfig {
  readonly remove: readonly string[];
  readonly add: Readonly<Record<string, string>>;
}

export interface CompiledHeaderChange {
  /** Lower-case names, removed before values are set. */
  readonly removed: ReadonlySet<string>;
  readonly set: readonly HeaderSet[];
}

interface HeaderSet {
  readonly name: string;
  value(call: Exchange): string;
}

/** Undefined without changes. An invalid name or value fails the API. */
export function compileHeaderChange({ remove, add }: HeaderChangeConfig, services: VariableServices) {
  const set = Object.entries(add).map(([name, text]): HeaderSet => {
    validateHeaderName(name);
    if (framingHeaders.has(name.toLowerCase()))
      throw new ApiCompileError(`the header ${name} cannot be set: the gateway sends it`);
    if (/\p{Cc}/u.test(text)) throw new ApiCompileError(`the value of the header ${name} holds a control character`);
    const value = compileVariables(text, services);
    return { name, value: call => escapeHeaderValue(value(call)) };
  });
  for (const name of remove) validateHeaderName(name);
  if (set.length + remove.length === 0) return undefined;
  const removed = new Set([...remove, ...Object.keys(add)].map(name => name.toLowerCase()));
  return { removed, set } satisfies CompiledHeaderChange;
}

function validateHeaderName(name: string): void {
  if (!tokenPattern.test(name)) throw new ApiCompileError(`${JSON.stringify(name)} is not a header name`);
}

export function applyHeaderChange({ removed, set }: CompiledHeaderChange, call: Exchange, headers: HeaderList): void {
  headers.removeAll(removed);
  for (const { name, value } of set) headers.flat.push(name, value(call));
}
