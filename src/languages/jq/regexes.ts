import type { RE2JS } from 're2js';
import { Lru } from '#base/lru.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';
import type { JqBudget } from './budget.ts';
import { raise } from './error.ts';
import { createJqObject, describeValue, type JqObject, jqTypeOf } from './values.ts';

/** Cache of compiled patterns, shared by all filters: most are literals. */
const maxCachedRegexes = 256;
/** Price of a compilation: the longest patterns take milliseconds. */
const compileSteps = 1000;
/** Characters times instructions that cost one step. */
const workPerStep = 16;
const regexCache = new Lru<string, RE2JS>(maxCachedRegexes);

interface RegexQuery {
  readonly pattern: RE2JS;
  readonly isGlobal: boolean;
  readonly skipsEmpty: boolean;
}

/** RE2 has no equivalent of `x` and `l`. */
const knownFlags = /^[ginps]*$/;

function parseQuery(given: unknown, flags: unknown, budget: JqBudget): RegexQuery {
  const [source, own] = Array.isArray(given) ? [given[0], given[1] ?? null] : [given, flags];
  if (typeof source !== 'string') return raise(`${jqTypeOf(source)} not a string or array`);
  const letters = own ?? '';
  if (typeof letters !== 'string') return raise(`${describeValue(letters)} is not a string`);
  if (!knownFlags.test(letters)) return raise(`${letters.slice(0, 20)} is not a valid modifier string`);
  return {
    pattern: getRegex(letters.includes('p') ? `(?s)${source}` : source, letters.includes('i'), budget),
    isGlobal: letters.includes('g'),
    skipsEmpty: letters.includes('n'),
  };
}

function getRegex(source: string, ignoreCase: boolean, budget: JqBudget): RE2JS {
  const key = `${ignoreCase ? 'i' : ''}/${source}`;
  const known = regexCache.get(key);
  if (known) return known;
  budget.spend(compileSteps);
  try {
    const made = compileRegex(source, { ignoreCase });
    regexCache.set(key, made);
    return made;
  } catch (error) {
    if (error instanceof InvalidRegex)
      return raise(`the pattern ${JSON.stringify(source.slice(0, 50))} ${error.message}`);
    throw error;
  }
}

export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly Group[];
}

interface Group {
  /** -1 for a group that did not participate. */
  readonly start: number;
  readonly end: number;
  readonly name: string | null;
}

/** Matches from left to right; offsets are UTF-16 units. */
export function findMatches(
  value: unknown,
  given: unknown,
  flags: unknown,
  budget: JqBudget,
  all = false,
): RegexMatch[] {
  if (typeof value !== 'string') return raise(`${describeValue(value)} cannot be matched, as it is not a string`);
  const { pattern, isGlobal, skipsEmpty } = parseQuery(given, flags, budget);
  budget.spend((value.length * pattern.programSize()) / workPerStep);
  const matcher = pattern.matcher(value);
  const names = new Map(Object.entries(matcher.namedGroups).map(([name, index]) => [Number(index), name]));
  const found: RegexMatch[] = [];
  while (matcher.find()) {
    const count = matcher.groupCount();
    budget.spend(1 + count / 2);
    const [start, end] = [matcher.start(), matcher.end()];
    if (skipsEmpty && start === end) continue;
    const groups: Group[] = [];
    for (let at = 1; at <= count; at++)
      groups.push({ start: matcher.start(at), end: matcher.end(at), name: names.get(at) ?? null });
    found.push({ start, end, groups });
    if (!isGlobal && !all) break;
  }
  return found;
}

/** Match objects of jq, with offsets in code points. */
export function describeMatches(text: unknown, given: unknown, flags: unknown, budget: JqBudget): unknown[] {
  const found = findMatches(text, given, flags, budget);
  const whole = String(text);
  budget.chargeText(whole.length);
  // From left to right, so that each character is counted once.
  let [counted, points] = [0, 0];
  const pointsTo = (at: number) => {
    if (at < counted) [counted, points] = [0, 0];
    budget.chargeText(at - counted);
    for (; counted < at; points++) counted += whole.codePointAt(counted)! > 0xffff ? 2 : 1;
    return points;
  };
  const piece = ({ start, end }: { start: number; end: number }): JqObject => {
    if (start < 0) return { offset: -1, string: null, length: 0 };
    const string = whole.slice(start, end);
    return { offset: pointsTo(start), length: [...string].length, string };
  };
  return found.map(match => ({
    ...piece(match),
    captures: match.groups.map(group => ({ ...piece(group), name: group.name })),
  }));
}

/** Object of the named groups. */
export function toNamedCaptures(text: string, { groups }: RegexMatch): JqObject {
  const members = createJqObject();
  for (const { start, end, name } of groups)
    if (name !== null) members[name] = start < 0 ? null : text.slice(start, end);
  return members;
}

export function splitByRegex(text: unknown, given: unknown, flags: unknown, budget: JqBudget): string[] {
  const found = findMatches(text, given, flags, budget, true);
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of found) {
    pieces.push((text as string).slice(from, start));
    from = end;
  }
  return jqTypeOf(text) === 'string' ? [...pieces, (text as string).slice(from)] : pieces;
}
