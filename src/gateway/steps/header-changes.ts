import { tokenPattern } from '#base/http-syntax.ts';
import { framingHeaders, type HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { compileVariables, escapeHeaderValue, type VariableTools } from '../variables/variables.ts';

/** What a definition wants of the headers of a call or an answer: some taken away, then some set in place of others. */
export interface HeaderChangeConfig {
  readonly remove: readonly string[];
  readonly add: Readonly<Record<string, string>>;
}

/** The same, compiled. */
export interface CompiledHeaderChange {
  /** Lower-case names of what is taken away before anything is set. */
  readonly removed: ReadonlySet<string>;
  readonly set: readonly HeaderSet[];
}

interface HeaderSet {
  readonly name: string;
  value(call: Exchange): string;
}

/** Undefined where nothing is wanted. A name or value that cannot be sent makes the API unservable. */
export function compileHeaderChange({ remove, add }: HeaderChangeConfig, services: VariableTools) {
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
  if (!tokenPattern.test(name)) throw new ApiCompileError(`${JSON.stringify(name)} is not the name of a header`);
}

export function applyHeaderChange({ removed, set }: CompiledHeaderChange, call: Exchange, headers: HeaderList): void {
  headers.removeAll(removed);
  for (const { name, value } of set) headers.flat.push(name, value(call));
}
