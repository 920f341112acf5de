import type { RE2JS } from 're2js';
import { loadRe2 } from '#base/lazy-packages.ts';
import { Lru } from '#base/lru.ts';
import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import {
  type FunctionTable,
  requireInteger,
  requireText,
  type TemplateFunction,
  withArity,
  withArityRange,
} from './fn.ts';

/** Cache of compiled patterns. */
const maxCachedRegexes = 256;
const maxPatternCharacters = 1000;
/** Price of a compilation: the longest patterns take milliseconds. */
const compileSteps = 2000;
const regexCache = new Lru<string, RE2JS>(maxCachedRegexes);

function getRegex(pattern: string, budget: TemplateBudget): RE2JS {
  const known = regexCache.get(pattern);
  if (known) return known;
  if (pattern.length > maxPatternCharacters)
    throw new TemplateError(`a pattern longer than ${maxPatternCharacters} characters`);
  budget.spend(compileSteps);
  try {
    const made = loadRe2().RE2JS.compile(pattern);
    regexCache.set(pattern, made);
    return made;
  } catch {
    throw new TemplateError(`the pattern ${JSON.stringify(pattern)} cannot be read`);
  }
}

/** Pattern characters that add the price of one scan: RE2 compares the literal prefix at each character. */
const charactersPerWork = 64;

function chargeMatch(pattern: string, plain: string, budget: TemplateBudget): void {
  budget.chargeScan(plain.length * (1 + Math.floor(pattern.length / charactersPerWork)));
}

interface FoundMatch {
  readonly start: number;
  readonly end: number;
  group(name: string | number): string;
}

/** Matches from left to right, lazily; a negative bound means all. */
function* findMatches(pattern: unknown, plain: string, budget: TemplateBudget, maxMatches = -1): Generator<FoundMatch> {
  const matcher = getRegex(requireText(pattern), budget).matcher(plain);
  chargeMatch(requireText(pattern), plain, budget);
  let end = -1;
  for (let count = 0; (maxMatches < 0 || count < maxMatches) && matcher.find(); count++) {
    budget.spend(1);
    // An empty match directly after another is skipped.
    const isEmpty = matcher.start() === matcher.end() && matcher.start() === end;
    end = matcher.end();
    if (isEmpty) {
      count--;
      continue;
    }
    yield {
      start: matcher.start(),
      end: matcher.end(),
      group(name) {
        const isKnown = typeof name === 'number' ? name <= matcher.groupCount() : name in matcher.namedGroups;
        return isKnown ? (matcher.group(name) ?? '') : '';
      },
    };
  }
}

/** Expands `$1`, `${1}`, `$name` and `${name}`, by the longest name, and `$$` to a dollar. */
const expandGroups = (template: string, found: FoundMatch) =>
  template.replaceAll(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return whole === '$$' ? '$' : whole;
    return found.group(/^\d+$/.test(name) ? Number(name) : name);
  });

const createReplace = (replacement: (template: string, found: FoundMatch) => string): TemplateFunction =>
  withArity(3, ([pattern, value, template], budget) => {
    const plain = requireText(value);
    let out = '';
    let from = 0;
    for (const found of findMatches(pattern, plain, budget)) {
      const fresh = replacement(requireText(template), found);
      budget.chargeText(fresh.length);
      out += plain.slice(from, found.start) + fresh;
      budget.checkTextLength(out.length);
      from = found.end;
    }
    return out + plain.slice(from);
  });

function splitByPattern([pattern, value, count]: readonly unknown[], budget: TemplateBudget): string[] {
  const plain = requireText(value);
  const maxParts = count === undefined ? -1 : requireInteger(count);
  const parts: string[] = [];
  if (maxParts === 0) return parts;
  let from = 0;
  for (const { start, end } of findMatches(pattern, plain, budget)) {
    if (maxParts > 0 && parts.length === maxParts - 1) break;
    // An empty match at the very start or end splits nothing.
    if (end === 0 || (start === end && start === plain.length)) continue;
    parts.push(plain.slice(from, start));
    from = end;
  }
  parts.push(plain.slice(from));
  return parts;
}

const regexMatch = withArity(2, ([pattern, value], budget) => {
  const plain = requireText(value);
  chargeMatch(requireText(pattern), plain, budget);
  return getRegex(requireText(pattern), budget).test(plain);
});
const regexFind = withArity(2, ([pattern, value], budget) => {
  for (const it of findMatches(pattern, requireText(value), budget, 1)) return it.group(0);
  return '';
});
const regexFindAll = withArity(3, ([pattern, value, most], budget) =>
  Array.from(findMatches(pattern, requireText(value), budget, requireInteger(most)), it => it.group(0)),
);
const regexReplaceAll = createReplace(expandGroups);
const regexReplaceAllLiteral = createReplace(template => template);

export const regexFunctions: FunctionTable = {
  regexMatch: regexMatch,
  mustRegexMatch: regexMatch,
  regexFind: regexFind,
  mustRegexFind: regexFind,
  regexFindAll: regexFindAll,
  mustRegexFindAll: regexFindAll,
  regexReplaceAll: regexReplaceAll,
  mustRegexReplaceAll: regexReplaceAll,
  regexReplaceAllLiteral: regexReplaceAllLiteral,
  mustRegexReplaceAllLiteral: regexReplaceAllLiteral,
  regexSplit: withArityRange(2, 3, splitByPattern),
  mustRegexSplit: withArityRange(2, 3, splitByPattern),
  regexQuoteMeta: withArity(1, ([value], budget) => {
    budget.chargeScan(requireText(value).length);
    return requireText(value).replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&');
  }),
};
