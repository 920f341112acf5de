import { RE2JS } from 're2js';
import { Lru } from '#base/lru.ts';
import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { between, type Fn, type FunctionTable, fixed, text, whole } from './fn.ts';

/** Patterns kept ready, and how long one may be. */
const mostKept = 256;
const longestPattern = 1000;
/** What it costs to make one ready: the longest take milliseconds. */
const compiledSteps = 2000;
const kept = new Lru<string, RE2JS>(mostKept);

function compiled(pattern: string, budget: Budget): RE2JS {
  const known = kept.get(pattern);
  if (known) return known;
  if (pattern.length > longestPattern) throw new TemplateFault(`a pattern longer than ${longestPattern} characters`);
  budget.spend(compiledSteps);
  try {
    const made = RE2JS.compile(pattern);
    kept.set(pattern, made);
    return made;
  } catch {
    throw new TemplateFault(`the pattern ${JSON.stringify(pattern)} cannot be read`);
  }
}

/** Long patterns take longer for each character: their literal start is compared at each. */
const charactersPerWork = 64;

function payForMatch(pattern: string, plain: string, budget: Budget): void {
  budget.work(plain.length * (1 + Math.floor(pattern.length / charactersPerWork)));
}

interface Found {
  readonly start: number;
  readonly end: number;
  group(name: string | number): string;
}

/** Every match from left to right, at most so many; none is looked for before it is asked for. */
function* matches(pattern: unknown, plain: string, budget: Budget, most = -1): Generator<Found> {
  const matcher = compiled(text(pattern), budget).matcher(plain);
  payForMatch(text(pattern), plain, budget);
  let end = -1;
  for (let count = 0; (most < 0 || count < most) && matcher.find(); count++) {
    budget.spend(1);
    // An empty match right behind another does not count.
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

/** `$1`, `${1}`, `$name` and `${name}` stand for groups, the longest name counts; `$$` is a dollar. */
const expanded = (template: string, found: Found) =>
  template.replaceAll(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return whole === '$$' ? '$' : whole;
    return found.group(/^\d+$/.test(name) ? Number(name) : name);
  });

const replacing = (replacement: (template: string, found: Found) => string): Fn =>
  fixed(3, ([pattern, value, template], budget) => {
    const plain = text(value);
    let out = '';
    let from = 0;
    for (const found of matches(pattern, plain, budget)) {
      const fresh = replacement(text(template), found);
      budget.read(fresh.length);
      out += plain.slice(from, found.start) + fresh;
      budget.hold(out.length);
      from = found.end;
    }
    return out + plain.slice(from);
  });

function split([pattern, value, count]: readonly unknown[], budget: Budget): string[] {
  const plain = text(value);
  const most = count === undefined ? -1 : whole(count);
  const parts: string[] = [];
  if (most === 0) return parts;
  let from = 0;
  for (const { start, end } of matches(pattern, plain, budget)) {
    if (most > 0 && parts.length === most - 1) break;
    // An empty match at the very start or end parts nothing.
    if (end === 0 || (start === end && start === plain.length)) continue;
    parts.push(plain.slice(from, start));
    from = end;
  }
  parts.push(plain.slice(from));
  return parts;
}

const matched = fixed(2, ([pattern, value], budget) => {
  const plain = text(value);
  payForMatch(text(pattern), plain, budget);
  return compiled(text(pattern), budget).test(plain);
});
const found = fixed(2, ([pattern, value], budget) => {
  for (const it of matches(pattern, text(value), budget, 1)) return it.group(0);
  return '';
});
const foundAll = fixed(3, ([pattern, value, most], budget) =>
  Array.from(matches(pattern, text(value), budget, whole(most)), it => it.group(0)),
);
const replacedAll = replacing(expanded);
const replacedLiteral = replacing(template => template);

export const patterns: FunctionTable = {
  regexMatch: matched,
  mustRegexMatch: matched,
  regexFind: found,
  mustRegexFind: found,
  regexFindAll: foundAll,
  mustRegexFindAll: foundAll,
  regexReplaceAll: replacedAll,
  mustRegexReplaceAll: replacedAll,
  regexReplaceAllLiteral: replacedLiteral,
  mustRegexReplaceAllLiteral: replacedLiteral,
  regexSplit: between(2, 3, split),
  mustRegexSplit: between(2, 3, split),
  regexQuoteMeta: fixed(1, ([value], budget) => {
    budget.work(text(value).length);
    return text(value).replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&');
  }),
};
