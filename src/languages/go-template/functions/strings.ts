import { type Budget, PaidText } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { quoted } from '../quoting.ts';
import { includesText, splitText } from '../search.ts';
import { isNothing, printed, sortTexts } from '../values.ts';
import { type Fn, type FunctionTable, fixed, newMap, text, whole } from './fn.ts';
import { camelWords, joinWords, lowerText, swapCases, titleText, untitleText, upperText } from './word-case.ts';

/** A function of one text whose every character is looked at. */
const throughout = (body: (plain: string) => unknown): Fn =>
  fixed(1, ([plain], budget) => {
    budget.work(text(plain).length);
    return body(text(plain));
  });
/** The same, where a pattern runs over it. */
const matching = (body: (plain: string) => unknown): Fn =>
  fixed(1, ([plain], budget) => {
    budget.work(text(plain).length * 4);
    return body(text(plain));
  });
/** A function of two texts; the one worked on comes last, so that it can come through a pipe. */
const with1 = (body: (word: string, plain: string, budget: Budget) => unknown): Fn =>
  fixed(2, ([word, plain], budget) => body(text(word), text(plain), budget));

const casedWords = (joint: string) => fixed(1, ([plain], budget) => joinWords(text(plain), joint, budget));

function repeated(count: number, plain: string, budget: Budget): string {
  if (count < 0) throw new TemplateFault('a negative count');
  budget.make(plain.length * count);
  return plain.repeat(count);
}

/** White space as Go has it, without the byte order mark. */
const trimSpace = (plain: string): string => {
  const isSpace = (at: number) => plain[at] !== '\ufeff' && (plain[at] === '\u0085' || plain[at]!.trim() === '');
  let start = 0;
  let end = plain.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return plain.slice(start, end);
};

/** Negative sizes keep the end. */
function truncated(size: number, plain: string, budget: Budget): string {
  const letters = characters(plain, budget);
  if (size < 0) return letters.slice(size).join('');
  return letters.slice(0, size).join('');
}

/** Characters, paid for one by one, so that no cut goes through one. */
function characters(plain: string, budget: Budget): string[] {
  budget.work(plain.length * 2);
  return [...plain];
}

function abbreviated(size: number, letters: readonly string[]): string {
  return size < 4 || letters.length <= size ? letters.join('') : `${letters.slice(0, size - 3).join('')}...`;
}

function abbreviatedBoth(left: number, right: number, letters: readonly string[]): string {
  if (right < 4 || (left > 0 && right < 7)) return letters.join('');
  const start = left > 4 ? Math.min(left, Math.max(0, letters.length - right + 3)) : 0;
  if (start === 0) return abbreviated(right, letters);
  return letters.length - start <= right - 3
    ? `...${letters.slice(-(right - 3)).join('')}`
    : `...${abbreviated(right - 3, letters.slice(start))}`;
}

/** Trims the characters of a set at both ends. */
function trimCharacters(set: string, plain: string, budget: Budget): string {
  budget.work(set.length + plain.length);
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
  /** Cuts words longer than a line; else they stand on a line of their own. */
  readonly cutsWords: boolean;
}

/** Breaks lines at the last space that fits; blanks at the start of a line go. */
function wrapText(plain: string, { width, joint, cutsWords }: Wrapping, budget: Budget): string {
  const wide = Math.max(1, width);
  const letters = characters(plain, budget);
  const out = new PaidText(budget);
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

function indented(size: number, plain: string, budget: Budget): string {
  if (size < 0) throw new TemplateFault('a negative count');
  const lines = splitText('\n', plain, budget);
  budget.make(plain.length + lines.length * size);
  const margin = ' '.repeat(size);
  return lines.map(line => margin + line).join('\n');
}

/** An empty text is found before every character and at the end. */
function replacedAll(old: string, fresh: string, plain: string, budget: Budget): string {
  const parts = splitText(old, plain, budget);
  budget.make(plain.length + (parts.length + 1) * fresh.length);
  const replaced = parts.join(fresh);
  return old !== '' ? replaced : plain === '' ? fresh : fresh + replaced + fresh;
}

/** Parts by `_0`, `_1` and so on, as the function always gave them. */
function numbered(parts: readonly string[], budget: Budget): unknown {
  budget.spend(parts.length);
  const found = newMap();
  for (const [at, part] of parts.entries()) found[`_${at}`] = part;
  return found;
}

/** None of no parts, all of a negative number. */
function splitIn(joint: string, count: number, plain: string, budget: Budget): string[] {
  return count === 0 ? [] : splitText(joint, plain, budget, count < 0 ? undefined : count);
}

/** What lists hold as text; a single value is a list of one. */
export const texts = (value: unknown, budget: Budget): string[] =>
  (Array.isArray(value) ? value : isNothing(value) ? [] : [value])
    .filter(it => !isNothing(it))
    .map(it => printed(it, budget));

function joinedBy(joint: string, parts: readonly string[], budget: Budget): string {
  let length = 0;
  for (const part of parts) length += part.length + joint.length;
  budget.make(length);
  return parts.join(joint);
}

function showPaid(plain: string, budget: Budget, show: (plain: string) => string): string {
  budget.work(plain.length);
  return show(plain);
}

const shownAll = (args: readonly unknown[], budget: Budget, show: (plain: string) => string) =>
  joinedBy(
    ' ',
    args.filter(it => !isNothing(it)).map(it => showPaid(printed(it, budget), budget, show)),
    budget,
  );

export const strings: FunctionTable = {
  trim: throughout(trimSpace),
  trimAll: with1(trimCharacters),
  trimall: with1(trimCharacters),
  trimPrefix: with1((start, plain) => (plain.startsWith(start) ? plain.slice(start.length) : plain)),
  trimSuffix: with1((end, plain) => (plain.endsWith(end) ? plain.slice(0, plain.length - end.length) : plain)),
  upper: throughout(upperText),
  lower: throughout(lowerText),
  title: matching(titleText),
  untitle: matching(untitleText),
  swapcase: matching(swapCases),
  snakecase: casedWords('_'),
  kebabcase: casedWords('-'),
  camelcase: fixed(1, ([plain], budget) => camelWords(text(plain), budget)),
  nospace: matching(plain => plain.replaceAll(/[\t-\r \u0085\p{Z}]+/gu, '')),
  initials: matching(plain =>
    Array.from(plain.matchAll(/(?<=^|[\t-\r \u0085\p{Z}])[^\t-\r \u0085\p{Z}]/gu), ([first]) => first).join(''),
  ),
  repeat: fixed(2, ([count, plain], budget) => repeated(whole(count), text(plain), budget)),
  substr: fixed(3, ([start, end, plain], budget) =>
    substring(whole(start), whole(end), characters(text(plain), budget)),
  ),
  trunc: fixed(2, ([size, plain], budget) => truncated(whole(size), text(plain), budget)),
  abbrev: fixed(2, ([size, plain], budget) => abbreviated(whole(size), characters(text(plain), budget))),
  abbrevboth: fixed(3, ([left, right, plain], budget) =>
    abbreviatedBoth(whole(left), whole(right), characters(text(plain), budget)),
  ),
  wrap: fixed(2, ([width, plain], budget) =>
    wrapText(text(plain), { width: whole(width), joint: '\n', cutsWords: false }, budget),
  ),
  wrapWith: fixed(3, ([width, joint, plain], budget) =>
    wrapText(text(plain), { width: whole(width), joint: text(joint) || '\n', cutsWords: true }, budget),
  ),
  contains: with1(includesText),
  hasPrefix: with1((start, plain) => plain.startsWith(start)),
  hasSuffix: with1((end, plain) => plain.endsWith(end)),
  quote: (args, budget) => shownAll(args, budget, plain => quoted(plain)),
  squote: (args, budget) => shownAll(args, budget, plain => `'${plain}'`),
  cat: (args, budget) => shownAll(args, budget, plain => plain),
  indent: fixed(2, ([size, plain], budget) => indented(whole(size), text(plain), budget)),
  nindent: fixed(2, ([size, plain], budget) => `\n${indented(whole(size), text(plain), budget)}`),
  replace: fixed(3, ([old, fresh, plain], budget) => replacedAll(text(old), text(fresh), text(plain), budget)),
  plural: fixed(3, ([one, many, count]) => (count === 1 ? one : many)),
  toString: fixed(1, ([value], budget) => printed(value, budget)),
  toStrings: fixed(1, ([value], budget) => texts(value, budget)),
  split: fixed(2, ([joint, plain], budget) => numbered(splitText(text(joint), text(plain), budget), budget)),
  splitn: fixed(3, ([joint, count, plain], budget) =>
    numbered(splitIn(text(joint), whole(count), text(plain), budget), budget),
  ),
  splitList: with1(splitText),
  join: fixed(2, ([joint, parts], budget) => joinedBy(text(joint), texts(parts, budget), budget)),
  sortAlpha: fixed(1, ([parts], budget) => sortTexts(texts(parts, budget), budget)),
  fail: fixed(1, ([why]) => {
    throw new TemplateFault(text(why));
  }),
  hello: fixed(0, () => 'Hello!'),
};
