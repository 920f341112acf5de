import { tokenPattern } from '#base/http-syntax.ts';
import { framing, type HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { compileVariables, escapeHeaderValue, type VariableTools } from '../variables/variables.ts';

/** What a definition wants of the headers of a call or an answer: some taken away, then some set in place of others. */
export interface HeaderWish {
  readonly remove: readonly string[];
  readonly add: Readonly<Record<string, string>>;
}

/** The same, compiled. */
export interface HeaderChange {
  /** Lower-case names of what is taken away before anything is set. */
  readonly removed: ReadonlySet<string>;
  readonly set: readonly HeaderSet[];
}

interface HeaderSet {
  readonly name: string;
  value(call: Exchange): string;
}

/** Undefined where nothing is wanted. A name or value that cannot be sent makes the API unservable. */
export function headerChange({ remove, add }: HeaderWish, services: VariableTools) {
  const set = Object.entries(add).map(([name, text]): HeaderSet => {
    checkName(name);
    if (framing.has(name.toLowerCase()))
      throw new ApiCompileError(`the header ${name} cannot be set: the gateway sends it`);
    if (/\p{Cc}/u.test(text)) throw new ApiCompileError(`the value of the header ${name} holds a control character`);
    const value = compileVariables(text, services);
    return { name, value: call => escapeHeaderValue(value(call)) };
  });
  for (const name of remove) checkName(name);
  if (set.length + remove.length === 0) return undefined;
  const removed = new Set([...remove, ...Object.keys(add)].map(name => name.toLowerCase()));
  return { removed, set } satisfies HeaderChange;
}

function checkName(name: string): void {
  if (!tokenPattern.test(name)) throw new ApiCompileError(`${JSON.stringify(name)} is not the name of a header`);
}

export function applyChange({ removed, set }: HeaderChange, call: Exchange, headers: HeaderList): void {
  headers.removeAll(removed);
  for (const { name, value } of set) headers.flat.push(name, value(call));
}
