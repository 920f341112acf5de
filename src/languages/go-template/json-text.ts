import { BudgetedText, type TemplateBudget } from './budget.ts';
import { TemplateError } from './error.ts';
import { formatLayout } from './layout.ts';
import { isMap, isNil, printNumber, sortNames } from './values.ts';

export interface JsonStyle {
  /** Indentation of each level; empty for one line. */
  readonly indent: string;
  /** Escapes `<`, `>` and `&` for use inside HTML. */
  readonly forHtml: boolean;
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * JSON with sorted members. Not JSON.stringify: values built by templates may be cyclic or repeat one part many times,
 * so every member is charged.
 */
export function marshalJson(value: unknown, { indent, forHtml }: JsonStyle, budget: TemplateBudget): string {
  const out = new BudgetedText(budget);
  const add = (part: string) => out.add(part);
  const string = (plain: string) => {
    const written = JSON.stringify(plain);
    // U+2028 and U+2029 are always escaped: older JavaScript reads them as line ends.
    const pattern = forHtml ? /[<>&\u2028\u2029]/g : /[\u2028\u2029]/g;
    const escaped = written.replaceAll(pattern, it => htmlEscapes[it]!);
    budget.spend((escaped.length - written.length) >> 3);
    add(escaped);
  };
  const line = (depth: number) => {
    if (indent !== '') add(`\n${indent.repeat(depth)}`);
  };

  function write(it: unknown, depth: number): void {
    budget.visit(depth);
    if (isNil(it)) return add('null');
    if (typeof it === 'string') return string(it);
    if (typeof it === 'boolean') return add(String(it));
    if (typeof it === 'number' && !Number.isFinite(it)) throw new TemplateError(`${printNumber(it)} is not JSON`);
    if (typeof it === 'number' || typeof it === 'bigint') return add(String(it));
    if (it instanceof Date) return string(formatLayout(it, '2006-01-02T15:04:05.999Z07:00', 'UTC'));
    return Array.isArray(it) ? writeList(it, depth) : writeMap(it, depth);
  }

  function writeList(items: readonly unknown[], depth: number): void {
    if (items.length === 0) return add('[]');
    add('[');
    for (let at = 0; at < items.length; at++) {
      if (at > 0) add(',');
      line(depth + 1);
      write(items[at], depth + 1);
    }
    line(depth);
    add(']');
  }

  function writeMap(it: unknown, depth: number): void {
    if (!isMap(it)) throw new TemplateError(`${typeof it} is not JSON`);
    const names = sortNames(it, budget);
    if (names.length === 0) return add('{}');
    add('{');
    for (const [at, name] of names.entries()) {
      if (at > 0) add(',');
      line(depth + 1);
      string(name);
      add(indent === '' ? ':' : ': ');
      write(it[name], depth + 1);
    }
    line(depth);
    add('}');
  }

  write(value, 0);
  return out.toString();
}
