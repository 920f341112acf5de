import type { TemplateBudget } from './budget.ts';

/** Needles up to this length use `indexOf`, whose worst case is their length for each character. */
const maxNativeNeedle = 16;

/**
 * Knuth–Morris–Pratt search in linear time: `indexOf` takes the product of both lengths for some needles, 75 s for 100
 * kB in 1 MB. Returns the start of the match at or after `from`, or -1.
 */
export function createSearch(needle: string, budget: TemplateBudget): (plain: string, from: number) => number {
  if (needle.length <= maxNativeNeedle) return (plain, from) => plain.indexOf(needle, from);
  budget.chargeScan(needle.length);
  const fallback = buildFallback(needle);
  return (plain, from) => {
    let matched = 0;
    for (let at = from; at < plain.length; at++) {
      const code = plain.charCodeAt(at);
      while (matched > 0 && needle.charCodeAt(matched) !== code) matched = fallback[matched - 1]!;
      if (needle.charCodeAt(matched) === code) matched++;
      if (matched === needle.length) return at - matched + 1;
    }
    return -1;
  };
}

/** For each prefix, the length of the longest proper prefix that is also its suffix. */
function buildFallback(needle: string): Int32Array {
  const fallback = new Int32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at++) {
    const code = needle.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = fallback[matched - 1]!;
    if (needle.charCodeAt(matched) === code) matched++;
    fallback[at] = matched;
  }
  return fallback;
}

export function includesText(needle: string, plain: string, budget: TemplateBudget): boolean {
  budget.chargeScan(plain.length);
  return createSearch(needle, budget)(plain, 0) >= 0;
}

/** Splits into at most `max` parts, the last with the rest; each costs a step. An empty joint splits characters. */
export function splitText(
  joint: string,
  plain: string,
  budget: TemplateBudget,
  max = Number.POSITIVE_INFINITY,
): string[] {
  budget.chargeScan(plain.length);
  if (joint === '') return splitCharacters(plain, budget, max);
  const find = createSearch(joint, budget);
  const parts: string[] = [];
  let from = 0;
  while (parts.length < max - 1) {
    const at = find(plain, from);
    if (at < 0) break;
    budget.spend(1);
    parts.push(plain.slice(from, at));
    from = at + joint.length;
  }
  parts.push(plain.slice(from));
  return parts;
}

function splitCharacters(plain: string, budget: TemplateBudget, max: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (from < plain.length && parts.length < max - 1) {
    budget.spend(1);
    const to = from + (plain.codePointAt(from)! > 0xffff ? 2 : 1);
    parts.push(plain.slice(from, to));
    from = to;
  }
  if (from < plain.length) parts.push(plain.slice(from));
  return parts;
}
