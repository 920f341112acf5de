import { escapeMarkup } from '#base/escape-markup.ts';
import type { Budget } from '../budget.ts';
import { formatted } from '../printf.ts';
import { printed } from '../values.ts';
import { atLeast, type FunctionTable, text } from './fn.ts';

/** Operands are set apart by a space where neither is text, as Go's `Sprint` does. */
function printedAll(args: readonly unknown[], budget: Budget): string {
  let out = '';
  for (const [at, arg] of args.entries()) {
    if (at > 0 && typeof arg !== 'string' && typeof args[at - 1] !== 'string') out += ' ';
    out += printed(arg, budget);
    budget.hold(out.length);
  }
  return out;
}

/** What is escaped costs by the character. */
function printForEscape(args: readonly unknown[], budget: Budget): string {
  const [only] = args;
  // A value that is missing is shown as an action shows it.
  const plain = args.length === 1 && only === undefined ? '<no value>' : printedAll(args, budget);
  budget.work(plain.length);
  return plain;
}

export const htmlText = (plain: string): string => escapeMarkup(plain).replaceAll('\0', '\ufffd');

const jsEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '"': '\\"' };
const jsText = (plain: string) =>
  plain.replaceAll(
    /[\\'"<>&=\p{Cc}\u2028\u2029]/gu,
    it => jsEscapes[it] ?? `\\u${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  );

/** For a value in a query: everything but letters, digits and `-_.~` is escaped, spaces become `+`. */
export const queryText = (plain: string): string =>
  encodeURIComponent(plain.toWellFormed())
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, it => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

export const printing: FunctionTable = {
  print: printedAll,
  println: (args, budget) => `${args.map(it => printed(it, budget)).join(' ')}\n`,
  printf: atLeast(1, ([format, ...args], budget) => formatted(text(format), args, budget)),
  html: (args, budget) => htmlText(printForEscape(args, budget)),
  js: (args, budget) => jsText(printForEscape(args, budget)),
  urlquery: (args, budget) => queryText(printForEscape(args, budget)),
};
