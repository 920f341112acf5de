/** Budget of a search. */
export interface SearchBudget {
  spend(steps: number): void;
  /** Charges for text that is handled character by character. */
  chargeScan(characters: number): void;
}

/** Needles up to this length use `indexOf`, whose worst case is their length for each character. */
export const maxNativeNeedleLength = 16;

/**
 * Knuth–Morris–Pratt search in linear time: `indexOf` takes the product of both lengths for some needles, 75 s for 100
 * kB in 1 MB. Returns the start of the match at or after `from`, or -1.
 */
function createSearch(needle: string, budget: SearchBudget): (plain: string, from: number) => number {
  if (needle.length <= maxNativeNeedleLength) return (plain, from) => plain.indexOf(needle, from);
  budget.chargeScan(needle.length);
  const matcher = new Matcher(needle);
  return (plain, from) => {
    matcher.reset();
    for (let at = from; at < plain.length; at++)
      if (matcher.accept(plain.charCodeAt(at))) return at - needle.length + 1;
    return -1;
  };
}

/** Automaton of one needle, fed with the text character by character. */
class Matcher {
  readonly #needle: string;
  readonly #fallback: Int32Array;
  #matched = 0;

  constructor(needle: string) {
    this.#needle = needle;
    this.#fallback = buildFallback(needle);
  }

  reset(): void {
    this.#matched = 0;
  }

  /** True where an occurrence of the needle ends with this character; a later one may overlap it. */
  accept(code: number): boolean {
    const needle = this.#needle;
    let matched = this.#matched;
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = this.#fallback[matched - 1]!;
    if (needle.charCodeAt(matched) === code) matched++;
    const isFound = matched === needle.length;
    this.#matched = isFound ? this.#fallback[matched - 1]! : matched;
    return isFound;
  }
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

export function includesText(needle: string, plain: string, budget: SearchBudget): boolean {
  budget.chargeScan(plain.length);
  return createSearch(needle, budget)(plain, 0) >= 0;
}

/** Offsets of all occurrences, also overlapping ones; each costs a step. The needle is not empty. */
export function findOccurrences(needle: string, plain: string, budget: SearchBudget): number[] {
  budget.chargeScan(plain.length + needle.length);
  const offsets: number[] = [];
  const matcher = new Matcher(needle);
  for (let at = 0; at < plain.length; at++) {
    if (!matcher.accept(plain.charCodeAt(at))) continue;
    budget.spend(1);
    offsets.push(at - needle.length + 1);
  }
  return offsets;
}

/** Splits into at most `max` parts, the last with the rest; each costs a step. An empty joint splits characters. */
export function splitText(
  joint: string,
  plain: string,
  budget: SearchBudget,
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

function splitCharacters(plain: string, budget: SearchBudget, max: number): string[] {
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
