import type { Budget } from '../budget.ts';
import { TemplateFault } from '../fault.ts';
import { quoted } from '../printf.ts';
import { isNothing, printed } from '../values.ts';
import { type Fn, type FunctionTable, fixed, newMap, text, whole } from './fn.ts';

/** A function of one text. */
const of = (body: (plain: string) => unknown): Fn => fixed(1, ([plain]) => body(text(plain)));
/** The same, where every character is looked at. */
const throughout = (body: (plain: string) => unknown): Fn =>
  fixed(1, ([plain], budget) => {
    budget.work(text(plain).length);
    return body(text(plain));
  });
/** A function of two texts; the one worked on comes last, so that it can come through a pipe. */
const with1 = (body: (word: string, plain: string) => unknown): Fn =>
  fixed(2, ([word, plain]) => body(text(word), text(plain)));

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
const words = (plain: string) =>
  plain
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_\-.]+/)
    .filter(Boolean);
const lowered = (joint: string) =>
  throughout(plain =>
    words(plain)
      .map(it => it.toLowerCase())
      .join(joint),
  );

function repeated(count: number, plain: string, budget: Budget): string {
  const times = Math.max(0, count);
  budget.make(plain.length * times);
  return plain.repeat(times);
}

/** Negative sizes keep the end. */
function truncated(size: number, plain: string, budget: Budget): string {
  budget.work(plain.length);
  const letters = [...plain];
  if (size < 0) return letters.slice(size).join('');
  return letters.slice(0, size).join('');
}

function abbreviated(size: number, plain: string): string {
  return size < 4 || plain.length <= size ? plain : `${plain.slice(0, size - 3)}...`;
}

function abbreviatedBoth(left: number, right: number, plain: string): string {
  if (right < 4 || (left > 0 && right < 7)) return plain;
  const start = left > 4 ? Math.min(left, Math.max(0, plain.length - right + 3)) : 0;
  if (start === 0) return abbreviated(right, plain);
  return plain.length - start <= right - 3
    ? `...${plain.slice(-(right - 3))}`
    : `...${abbreviated(right - 3, plain.slice(start))}`;
}

/** Characters at both ends that are in the set. */
function trimmedOf(set: string, plain: string): string {
  let start = 0;
  let end = plain.length;
  while (start < end && set.includes(plain[start]!)) start++;
  while (end > start && set.includes(plain[end - 1]!)) end--;
  return plain.slice(start, end);
}

function substring(start: number, end: number, plain: string): string {
  if (start < 0) return plain.slice(0, Math.max(0, end));
  return end < 0 || end > plain.length ? plain.slice(start) : plain.slice(start, Math.max(start, end));
}

function wrapped(width: number, joint: string, plain: string, budget: Budget): string {
  budget.work(plain.length);
  let column = 0;
  let out = '';
  for (const word of plain.split(' ')) {
    if (out !== '' && column + 1 + word.length > width) {
      out += joint;
      column = 0;
    } else if (out !== '') {
      out += ' ';
      column++;
    }
    out += word;
    column += word.length;
  }
  return out;
}

function indented(size: number, plain: string, budget: Budget): string {
  const lines = plain.split('\n');
  budget.make(plain.length + lines.length * Math.max(0, size));
  const margin = ' '.repeat(Math.max(0, size));
  return lines.map(line => margin + line).join('\n');
}

function replacedAll(old: string, fresh: string, plain: string, budget: Budget): string {
  const parts = plain.split(old);
  budget.make(plain.length + parts.length * fresh.length);
  return parts.join(fresh);
}

/** Parts by `_0`, `_1` and so on, as the function always gave them. */
function numbered(parts: readonly string[], budget: Budget): unknown {
  budget.spend(parts.length);
  const found = newMap();
  for (const [at, part] of parts.entries()) found[`_${at}`] = part;
  return found;
}

function splitIn(joint: string, count: number, plain: string): string[] {
  const parts = plain.split(joint);
  return parts.length <= count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join(joint)];
}

const swapped = (letter: string) => {
  const upper = letter.toUpperCase();
  return letter === upper ? letter.toLowerCase() : upper;
};

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

const shownAll = (args: readonly unknown[], budget: Budget, show: (plain: string) => string) =>
  joinedBy(
    ' ',
    args.filter(it => !isNothing(it)).map(it => show(printed(it, budget))),
    budget,
  );

export const strings: FunctionTable = {
  trim: of(plain => plain.trim()),
  trimAll: with1(trimmedOf),
  trimall: with1(trimmedOf),
  trimPrefix: with1((start, plain) => (plain.startsWith(start) ? plain.slice(start.length) : plain)),
  trimSuffix: with1((end, plain) => (plain.endsWith(end) ? plain.slice(0, plain.length - end.length) : plain)),
  upper: of(plain => plain.toUpperCase()),
  lower: of(plain => plain.toLowerCase()),
  title: throughout(plain => plain.replaceAll(/(?<![\p{L}\p{N}_'])\p{L}/gu, letter => letter.toUpperCase())),
  untitle: throughout(plain => plain.replaceAll(/(?<![\p{L}\p{N}_'])\p{L}/gu, letter => letter.toLowerCase())),
  swapcase: throughout(plain => plain.replaceAll(/\p{L}/gu, swapped)),
  snakecase: lowered('_'),
  kebabcase: lowered('-'),
  camelcase: throughout(plain => words(plain).map(capital).join('')),
  nospace: throughout(plain => plain.replaceAll(/\s+/g, '')),
  initials: throughout(plain =>
    plain
      .split(/\s+/)
      .map(word => word.slice(0, 1))
      .join(''),
  ),
  repeat: fixed(2, ([count, plain], budget) => repeated(whole(count), text(plain), budget)),
  substr: fixed(3, ([start, end, plain]) => substring(whole(start), whole(end), text(plain))),
  trunc: fixed(2, ([size, plain], budget) => truncated(whole(size), text(plain), budget)),
  abbrev: fixed(2, ([size, plain]) => abbreviated(whole(size), text(plain))),
  abbrevboth: fixed(3, ([left, right, plain]) => abbreviatedBoth(whole(left), whole(right), text(plain))),
  wrap: fixed(2, ([width, plain], budget) => wrapped(whole(width), '\n', text(plain), budget)),
  wrapWith: fixed(3, ([width, joint, plain], budget) => {
    const cells = text(plain);
    budget.make(cells.length + cells.split(' ').length * text(joint).length);
    return wrapped(whole(width), text(joint), cells, budget);
  }),
  contains: with1((part, plain) => plain.includes(part)),
  hasPrefix: with1((start, plain) => plain.startsWith(start)),
  hasSuffix: with1((end, plain) => plain.endsWith(end)),
  quote: (args, budget) => shownAll(args, budget, quoted),
  squote: (args, budget) => shownAll(args, budget, plain => `'${plain}'`),
  cat: (args, budget) => shownAll(args, budget, plain => plain),
  indent: fixed(2, ([size, plain], budget) => indented(whole(size), text(plain), budget)),
  nindent: fixed(2, ([size, plain], budget) => `\n${indented(whole(size), text(plain), budget)}`),
  replace: fixed(3, ([old, fresh, plain], budget) => replacedAll(text(old), text(fresh), text(plain), budget)),
  plural: fixed(3, ([one, many, count]) => (count === 1 ? one : many)),
  toString: fixed(1, ([value], budget) => printed(value, budget)),
  toStrings: fixed(1, ([value], budget) => texts(value, budget)),
  split: fixed(2, ([joint, plain], budget) => numbered(text(plain).split(text(joint)), budget)),
  splitn: fixed(3, ([joint, count, plain], budget) =>
    numbered(splitIn(text(joint), Math.max(1, whole(count)), text(plain)), budget),
  ),
  splitList: with1((joint, plain) => plain.split(joint)),
  join: fixed(2, ([joint, parts], budget) => joinedBy(text(joint), texts(parts, budget), budget)),
  sortAlpha: fixed(1, ([parts], budget) => texts(parts, budget).sort()),
  fail: fixed(1, ([why]) => {
    throw new TemplateFault(text(why));
  }),
  hello: fixed(0, () => 'Hello!'),
};
