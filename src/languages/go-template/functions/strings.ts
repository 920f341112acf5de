import { includesText, splitText } from '../../text-search.ts';
import { BudgetedText, type TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { quoteGoString } from '../quoting.ts';
import { isNil, printValue, sortTexts } from '../values.ts';
import { createMap, type FunctionTable, requireInteger, requireText, type TemplateFunction, withArity } from './fn.ts';
import { joinWords, swapCase, toCamelCase, toLower, toTitleCase, toUntitled, toUpper } from './word-case.ts';

/** A function of one text, charged by the character. */
const createScan = (body: (plain: string) => unknown): TemplateFunction =>
  withArity(1, ([plain], budget) => {
    budget.chargeScan(requireText(plain).length);
    return body(requireText(plain));
  });
/** A function of one text that runs a regular expression over it. */
const createPatternScan = (body: (plain: string) => unknown): TemplateFunction =>
  withArity(1, ([plain], budget) => {
    budget.chargeScan(requireText(plain).length * 4);
    return body(requireText(plain));
  });
/** A function of two texts; the subject comes last, so that it can be piped. */
const createBinary = (body: (word: string, plain: string, budget: TemplateBudget) => unknown): TemplateFunction =>
  withArity(2, ([word, plain], budget) => body(requireText(word), requireText(plain), budget));

const createWordCase = (joint: string) =>
  withArity(1, ([plain], budget) => joinWords(requireText(plain), joint, budget));

function repeatText(count: number, plain: string, budget: TemplateBudget): string {
  if (count < 0) throw new TemplateError('a negative count');
  budget.reserveText(plain.length * count);
  return plain.repeat(count);
}

/** Trims white space as Go does: U+0085 counts, the byte order mark does not. */
const trimSpace = (plain: string): string => {
  const isSpace = (at: number) => plain[at] !== '\ufeff' && (plain[at] === '\u0085' || plain[at]!.trim() === '');
  let start = 0;
  let end = plain.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return plain.slice(start, end);
};

/** Truncates to the first characters; a negative size keeps the last ones. */
function truncate(size: number, plain: string, budget: TemplateBudget): string {
  const letters = splitCharacters(plain, budget);
  if (size < 0) return letters.slice(size).join('');
  return letters.slice(0, size).join('');
}

/** Code points, so that no cut splits a surrogate pair. */
function splitCharacters(plain: string, budget: TemplateBudget): string[] {
  budget.chargeScan(plain.length * 2);
  return [...plain];
}

function abbreviate(size: number, letters: readonly string[]): string {
  return size < 4 || letters.length <= size ? letters.join('') : `${letters.slice(0, size - 3).join('')}...`;
}

function abbreviateBoth(left: number, right: number, letters: readonly string[]): string {
  if (right < 4 || (left > 0 && right < 7)) return letters.join('');
  const start = left > 4 ? Math.min(left, Math.max(0, letters.length - right + 3)) : 0;
  if (start === 0) return abbreviate(right, letters);
  return letters.length - start <= right - 3
    ? `...${letters.slice(-(right - 3)).join('')}`
    : `...${abbreviate(right - 3, letters.slice(start))}`;
}

/** Trims the characters of a set at both ends. */
function trimCharacters(set: string, plain: string, budget: TemplateBudget): string {
  budget.chargeScan(set.length + plain.length);
  const unwanted = new Set(set);
  let start = 0;
  let end = plain.length;
  for (const it of plain) {
    if (!unwanted.has(it)) break;
    start += it.length;
  }
  while (end > start) {
    const isPair = end - start > 1 && plain.codePointAt(end - 2)! > 0xffff;
    if (!unwanted.has(plain.slice(isPair ? end - 2 : end - 1, end))) break;
    end -= isPair ? 2 : 1;
  }
  return plain.slice(start, end);
}

function substring(start: number, end: number, letters: readonly string[]): string {
  const from = Math.max(0, start);
  const to = (start >= 0 && end < 0) || end > letters.length ? letters.length : Math.max(0, end);
  return letters.slice(from, Math.max(from, to)).join('');
}

interface Wrapping {
  readonly width: number;
  readonly joint: string;
  /** Breaks words longer than a line; else they get a line of their own. */
  readonly cutsWords: boolean;
}

/** Word wrap at the last space that fits; spaces at the start of a line are dropped. */
function wrapText(plain: string, { width, joint, cutsWords }: Wrapping, budget: TemplateBudget): string {
  const wide = Math.max(1, width);
  const letters = splitCharacters(plain, budget);
  const out = new BudgetedText(budget);
  let at = 0;
  while (letters.length - at > wide) {
    budget.spend(1);
    if (letters[at] === ' ') {
      at++;
      continue;
    }
    let end = at + wide;
    while (end >= at && letters[end] !== ' ') end--;
    const hasSpace = end >= at;
    if (!hasSpace) end = cutsWords ? at + wide : letters.indexOf(' ', at + wide);
    if (end < 0) break;
    out.add(letters.slice(at, end).join(''));
    out.add(joint);
    at = hasSpace || !cutsWords ? end + 1 : end;
  }
  out.add(letters.slice(at).join(''));
  return out.toString();
}

function indentLines(size: number, plain: string, budget: TemplateBudget): string {
  if (size < 0) throw new TemplateError('a negative count');
  const lines = splitText('\n', plain, budget);
  budget.reserveText(plain.length + lines.length * size);
  const margin = ' '.repeat(size);
  return lines.map(line => margin + line).join('\n');
}

/** Replaces all occurrences; the empty text occurs before every character and at the end. */
function replaceAllText(old: string, fresh: string, plain: string, budget: TemplateBudget): string {
  const parts = splitText(old, plain, budget);
  budget.reserveText(plain.length + (parts.length + 1) * fresh.length);
  const replaced = parts.join(fresh);
  return old !== '' ? replaced : plain === '' ? fresh : fresh + replaced + fresh;
}

/** Parts as a map `_0`, `_1` …: the result type of `split` and `splitn`. */
function toNumberedMap(parts: readonly string[], budget: TemplateBudget): unknown {
  budget.spend(parts.length);
  const found = createMap();
  for (const [at, part] of parts.entries()) found[`_${at}`] = part;
  return found;
}

/** Splits into at most `count` parts: none for zero, all for a negative count. */
function splitIn(joint: string, count: number, plain: string, budget: TemplateBudget): string[] {
  return count === 0 ? [] : splitText(joint, plain, budget, count < 0 ? undefined : count);
}

/** Items of a list as texts, without nil; a single value is a list of one. */
export const toTexts = (value: unknown, budget: TemplateBudget): string[] =>
  (Array.isArray(value) ? value : isNil(value) ? [] : [value])
    .filter(it => !isNil(it))
    .map(it => printValue(it, budget));

function joinTexts(joint: string, parts: readonly string[], budget: TemplateBudget): string {
  let length = 0;
  for (const part of parts) length += part.length + joint.length;
  budget.reserveText(length);
  return parts.join(joint);
}

function formatWithinBudget(plain: string, budget: TemplateBudget, format: (plain: string) => string): string {
  budget.chargeScan(plain.length);
  return format(plain);
}

const joinFormatted = (args: readonly unknown[], budget: TemplateBudget, format: (plain: string) => string) =>
  joinTexts(
    ' ',
    args.filter(it => !isNil(it)).map(it => formatWithinBudget(printValue(it, budget), budget, format)),
    budget,
  );

export const stringFunctions: FunctionTable = {
  trim: createScan(trimSpace),
  trimAll: createBinary(trimCharacters),
  trimall: createBinary(trimCharacters),
  trimPrefix: createBinary((start, plain) => (plain.startsWith(start) ? plain.slice(start.length) : plain)),
  trimSuffix: createBinary((end, plain) => (plain.endsWith(end) ? plain.slice(0, plain.length - end.length) : plain)),
  upper: createScan(toUpper),
  lower: createScan(toLower),
  title: createPatternScan(toTitleCase),
  untitle: createPatternScan(toUntitled),
  swapcase: createPatternScan(swapCase),
  snakecase: createWordCase('_'),
  kebabcase: createWordCase('-'),
  camelcase: withArity(1, ([plain], budget) => toCamelCase(requireText(plain), budget)),
  nospace: createPatternScan(plain => plain.replaceAll(/[\t-\r \u0085\p{Z}]+/gu, '')),
  initials: createPatternScan(plain =>
    Array.from(plain.matchAll(/(?<=^|[\t-\r \u0085\p{Z}])[^\t-\r \u0085\p{Z}]/gu), ([first]) => first).join(''),
  ),
  repeat: withArity(2, ([count, plain], budget) => repeatText(requireInteger(count), requireText(plain), budget)),
  substr: withArity(3, ([start, end, plain], budget) =>
    substring(requireInteger(start), requireInteger(end), splitCharacters(requireText(plain), budget)),
  ),
  trunc: withArity(2, ([size, plain], budget) => truncate(requireInteger(size), requireText(plain), budget)),
  abbrev: withArity(2, ([size, plain], budget) =>
    abbreviate(requireInteger(size), splitCharacters(requireText(plain), budget)),
  ),
  abbrevboth: withArity(3, ([left, right, plain], budget) =>
    abbreviateBoth(requireInteger(left), requireInteger(right), splitCharacters(requireText(plain), budget)),
  ),
  wrap: withArity(2, ([width, plain], budget) =>
    wrapText(requireText(plain), { width: requireInteger(width), joint: '\n', cutsWords: false }, budget),
  ),
  wrapWith: withArity(3, ([width, joint, plain], budget) =>
    wrapText(
      requireText(plain),
      { width: requireInteger(width), joint: requireText(joint) || '\n', cutsWords: true },
      budget,
    ),
  ),
  contains: createBinary(includesText),
  hasPrefix: createBinary((start, plain) => plain.startsWith(start)),
  hasSuffix: createBinary((end, plain) => plain.endsWith(end)),
  quote: (args, budget) => joinFormatted(args, budget, plain => quoteGoString(plain)),
  squote: (args, budget) => joinFormatted(args, budget, plain => `'${plain}'`),
  cat: (args, budget) => joinFormatted(args, budget, plain => plain),
  indent: withArity(2, ([size, plain], budget) => indentLines(requireInteger(size), requireText(plain), budget)),
  nindent: withArity(
    2,
    ([size, plain], budget) => `\n${indentLines(requireInteger(size), requireText(plain), budget)}`,
  ),
  replace: withArity(3, ([old, fresh, plain], budget) =>
    replaceAllText(requireText(old), requireText(fresh), requireText(plain), budget),
  ),
  plural: withArity(3, ([one, many, count]) => (count === 1 ? one : many)),
  toString: withArity(1, ([value], budget) => printValue(value, budget)),
  toStrings: withArity(1, ([value], budget) => toTexts(value, budget)),
  split: withArity(2, ([joint, plain], budget) =>
    toNumberedMap(splitText(requireText(joint), requireText(plain), budget), budget),
  ),
  splitn: withArity(3, ([joint, count, plain], budget) =>
    toNumberedMap(splitIn(requireText(joint), requireInteger(count), requireText(plain), budget), budget),
  ),
  splitList: createBinary(splitText),
  join: withArity(2, ([joint, parts], budget) => joinTexts(requireText(joint), toTexts(parts, budget), budget)),
  sortAlpha: withArity(1, ([parts], budget) => sortTexts(toTexts(parts, budget), budget)),
  fail: withArity(1, ([why]) => {
    throw new TemplateError(requireText(why));
  }),
  hello: withArity(0, () => 'Hello!'),
};
