import { escapeMarkup } from '#base/escape-markup.ts';
import type { TemplateBudget } from '../budget.ts';
import { escapeQuery } from '../escape-query.ts';
import { sprintf } from '../printf.ts';
import { printValue } from '../values.ts';
import { type FunctionTable, requireText, withMinArity } from './fn.ts';

/** Go's `Sprint`: a space between operands where neither is text. */
function sprint(args: readonly unknown[], budget: TemplateBudget): string {
  let out = '';
  for (const [at, arg] of args.entries()) {
    if (at > 0 && typeof arg !== 'string' && typeof args[at - 1] !== 'string') out += ' ';
    out += printValue(arg, budget);
    budget.checkTextLength(out.length);
  }
  return out;
}

/** Prints the operands of an escaping function, charged by the character. */
function printForEscape(args: readonly unknown[], budget: TemplateBudget): string {
  const [only] = args;
  // A missing value prints as in an action.
  const plain = args.length === 1 && only === undefined ? '<no value>' : sprint(args, budget);
  budget.chargeScan(plain.length);
  return plain;
}

export const escapeHtml = (plain: string): string => escapeMarkup(plain).replaceAll('\0', '\ufffd');

const jsEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '"': '\\"' };
const escapeJs = (plain: string) =>
  plain.replaceAll(
    /[\\'"<>&=\p{Cc}\u2028\u2029]/gu,
    it => jsEscapes[it] ?? `\\u${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  );

export const printFunctions: FunctionTable = {
  print: sprint,
  println: (args, budget) => `${args.map(it => printValue(it, budget)).join(' ')}\n`,
  printf: withMinArity(1, ([format, ...args], budget) => sprintf(requireText(format), args, budget)),
  html: (args, budget) => escapeHtml(printForEscape(args, budget)),
  js: (args, budget) => escapeJs(printForEscape(args, budget)),
  urlquery: (args, budget) => escapeQuery(printForEscape(args, budget)),
};
