import type { JqBudget } from './budget.ts';
import { formatJsonNumber, isJqObject } from './values.ts';

/**
 * JSON on one line. Not JSON.stringify: a value built by a filter may repeat one part many times, so every member is
 * charged.
 */
export function stringifyJson(value: unknown, budget: JqBudget): string {
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    length += part.length;
    budget.reserveText(part.length);
    budget.checkTextLength(length);
    parts.push(part);
  };

  function write(it: unknown, depth: number): void {
    budget.visit(depth);
    if (typeof it === 'string') return add(JSON.stringify(it));
    if (Array.isArray(it)) {
      add('[');
      for (let at = 0; at < it.length; at++) {
        if (at > 0) add(',');
        write(it[at], depth + 1);
      }
      return add(']');
    }
    if (!isJqObject(it)) return add(formatJsonNumber(it ?? null));
    let first = true;
    add('{');
    for (const name of Object.keys(it)) {
      add(`${first ? '' : ','}${JSON.stringify(name)}:`);
      write(it[name], depth + 1);
      first = false;
    }
    add('}');
  }

  write(value, 0);
  return parts.join('');
}
