import type { TemplateBudget } from './budget.ts';
import { formatFloat } from './float-text.ts';
import { isPrintable, quoteGoString } from './quoting.ts';
import { isMap, isNil, isNumber, printNumber, printValue, sortNames, typeName } from './values.ts';

/** Bounds width and precision. */
const maxFieldWidth = 1_000_000;
const index = '(?:\\[([^\\]]{0,10})\\])?';
const directive = new RegExp(`%([+\\-# 0]*)${index}(\\*|\\d+)?(?:(\\.)${index}(\\*|\\d+)?)?${index}([\\s\\S])?`, 'gu');

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  /** `%#v`: Go syntax. */
  readonly isSource: boolean;
  readonly width: number;
  readonly precision: number | undefined;
}

const plain: Flags = {
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  isSource: false,
  width: 0,
  precision: undefined,
};

/** Go's `Sprintf`: a value that does not suit its verb is printed as `%!verb(type=value)`, never an error. */
export function sprintf(format: string, args: readonly unknown[], budget: TemplateBudget): string {
  let next = 0;
  let reordered = false;
  let isBadIndex = false;
  let length = 0;
  const take = (): { value: unknown } | undefined =>
    !isBadIndex && next < args.length ? { value: args[next++] } : undefined;
  const selectArgument = (written: string | undefined) => {
    if (written === undefined) return;
    reordered = true;
    const place = /^\d+$/.test(written) ? Number(written) : 0;
    if (place < 1 || place > args.length) isBadIndex = true;
    else next = place - 1;
  };
  /** Width or precision: a number, or `*` for the next argument. */
  const readSize = (written: string | undefined): number | undefined | 'bad' => {
    if (written === undefined) return undefined;
    const value = written === '*' ? take()?.value : Number(written);
    return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= maxFieldWidth ? value : 'bad';
  };

  const text = format.replaceAll(directive, (_whole, ...found: (string | undefined)[]) => {
    const [marks, first, width, point, second, digits, third, verb] = found;
    isBadIndex = false;
    selectArgument(first);
    const wide = readSize(width);
    selectArgument(second);
    const precise = point ? readSize(digits ?? '0') : undefined;
    selectArgument(third);
    let start = '';
    if (wide === 'bad') start += '%!(BADWIDTH)';
    if (precise === 'bad') start += '%!(BADPREC)';
    if (verb === undefined) return `${start}%!(NOVERB)`;
    if (verb === '%') return `${start}%`;
    const arg = take();
    if (!arg) return `${start}%!${verb}(${isBadIndex ? 'BADINDEX' : 'MISSING'})`;
    const columns = typeof wide === 'number' ? wide : 0;
    const flags = readFlags(marks!, verb, columns, typeof precise === 'number' ? precise : undefined);
    budget.spend(1);
    budget.reserveText(flags.width + (flags.precision ?? 0));
    const written = start + formatValue(verb, arg.value, flags, budget);
    length += written.length;
    budget.checkTextLength(length);
    return written;
  });
  if (reordered || next >= args.length) return text;
  const extra = args
    .slice(next)
    .map(it => (isNil(it) ? '<nil>' : `${typeName(it)}=${formatValue('v', it, plain, budget)}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function readFlags(marks: string, verb: string, columns: number, precise: number | undefined): Flags {
  const minus = marks.includes('-') || columns < 0;
  return {
    plus: marks.includes('+') && verb !== 'v',
    minus,
    sharp: marks.includes('#') && verb !== 'v',
    space: marks.includes(' '),
    zero: marks.includes('0') && !minus,
    isSource: marks.includes('#') && verb === 'v',
    width: Math.abs(columns),
    precision: precise !== undefined && precise >= 0 ? precise : undefined,
  };
}

/** Pads to the width, counted in code points. */
function pad(text: string, { width, minus, zero }: Flags, budget: TemplateBudget): string {
  if (width === 0) return text;
  budget.chargeScan(Math.min(text.length, width));
  const missing = width - [...text.slice(0, 2 * width + 2)].length;
  if (missing <= 0) return text;
  return minus ? text + ' '.repeat(missing) : (zero ? '0' : ' ').repeat(missing) + text;
}

/** Formats one value; lists and maps apply the verb to their members. */
function formatValue(verb: string, value: unknown, flags: Flags, budget: TemplateBudget, depth = 0): string {
  budget.visit(depth);
  if (verb === 'T') return pad(typeName(value), flags, budget);
  if (isNil(value)) {
    if (depth > 0) return '<nil>';
    return verb === 'v' ? pad('<nil>', flags, budget) : `%!${verb}(<nil>)`;
  }
  const written = formatScalar(verb, value, flags, budget);
  if (written !== undefined) {
    budget.reserveText(written.length);
    return written;
  }
  if (Array.isArray(value)) return formatList(verb, value, flags, budget, depth);
  if (isMap(value)) return formatMap(verb, value, flags, budget, depth);
  return `%!${verb}(${typeName(value)}=${formatValue('v', value, flags, budget, depth)})`;
}

function formatList(
  verb: string,
  items: readonly unknown[],
  flags: Flags,
  budget: TemplateBudget,
  depth: number,
): string {
  const inside = items.map(it => formatValue(verb, it, flags, budget, depth + 1));
  return flags.isSource ? `[]interface {}{${inside.join(', ')}}` : `[${inside.join(' ')}]`;
}

function formatMap(
  verb: string,
  of: Record<string, unknown>,
  flags: Flags,
  budget: TemplateBudget,
  depth: number,
): string {
  const inside = sortNames(of, budget).map(name => {
    const key = formatValue(verb, name, flags, budget, depth + 1);
    return `${key}:${formatValue(verb, of[name], flags, budget, depth + 1)}`;
  });
  return flags.isSource ? `map[string]interface {}{${inside.join(', ')}}` : `map[${inside.join(' ')}]`;
}

function formatScalar(verb: string, value: unknown, flags: Flags, budget: TemplateBudget): string | undefined {
  if (typeof value === 'boolean') return verb === 't' || verb === 'v' ? pad(String(value), flags, budget) : undefined;
  if (typeof value === 'string') {
    const text = formatString(verb, value, flags, budget);
    return text === undefined ? undefined : pad(text, flags, budget);
  }
  if (value instanceof Date) return verb === 's' || verb === 'v' ? pad(printValue(value), flags, budget) : undefined;
  return isNumber(value) ? formatNumber(verb, value, flags, budget) : undefined;
}

function formatNumber(verb: string, value: number | bigint, flags: Flags, budget: TemplateBudget): string | undefined {
  if ('eEfFgG'.includes(verb)) return padFloat(formatReal(verb, Number(value), flags), flags, budget);
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  if (verb !== 'v') return isWhole ? formatInteger(verb, BigInt(value), flags, budget) : undefined;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return formatInteger('d', BigInt(value), flags, budget);
  const isPlain = flags.precision === undefined || !Number.isFinite(value);
  return padFloat(isPlain ? printNumber(value) : formatReal('g', value, flags), flags, budget);
}

function formatString(verb: string, value: string, flags: Flags, budget: TemplateBudget): string | undefined {
  const { precision, sharp, space, plus } = flags;
  // A code point has at most two UTF-16 units.
  const cut = precision === undefined ? value : [...value.slice(0, 2 * precision)].slice(0, precision).join('');
  switch (verb) {
    case 'v':
      return flags.isSource ? quoteWithinBudget(cut, false, budget) : cut;
    case 's':
      return cut;
    case 'q':
      return sharp && !/[`\ufeff]|(?!\t)\p{Cc}/u.test(cut) ? `\`${cut}\`` : quoteWithinBudget(cut, plus, budget);
    case 'x':
    case 'X': {
      budget.chargeScan(value.length);
      const bytes = Buffer.from(precision === undefined ? value : value.slice(0, precision)).subarray(0, precision);
      const lead = sharp ? '0x' : '';
      const hex = bytes.toString('hex');
      const marked = space ? hex.replaceAll(/../g, it => ` ${lead}${it}`).slice(1) : hex && lead + hex;
      return verb === 'x' ? marked : marked.toUpperCase();
    }
    default:
      return undefined;
  }
}

function quoteWithinBudget(text: string, isAscii: boolean, budget: TemplateBudget): string {
  budget.chargeScan(text.length);
  return quoteGoString(text, isAscii);
}

const bases: Readonly<Record<string, [base: number, prefix: string]>> = {
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, ''],
  x: [16, '0x'],
  X: [16, '0X'],
};

function formatInteger(verb: string, value: bigint, flags: Flags, budget: TemplateBudget): string | undefined {
  const known = bases[verb];
  // Zero padding goes between sign and digits.
  const unfilled: Flags = { ...flags, zero: false };
  if (known) return pad(writeInteger(verb, known, value, flags), unfilled, budget);
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
  const character = code >= 0xd800 && code < 0xe000 ? '\ufffd' : String.fromCodePoint(code);
  switch (verb) {
    case 'c':
      return pad(character, flags, budget);
    case 'q':
      return pad(quoteGoString(character, flags.plus, "'"), flags, budget);
    case 'U': {
      const written = `U+${value.toString(16).toUpperCase().padStart(4, '0')}`;
      return pad(flags.sharp && isPrintable(character) ? `${written} '${character}'` : written, unfilled, budget);
    }
    default:
      return undefined;
  }
}

function writeInteger(verb: string, [base, prefix]: [number, string], value: bigint, flags: Flags): string {
  const { plus, space, zero, width, sharp, precision } = flags;
  if (precision === 0 && value === 0n) return '';
  const sign = value < 0n ? '-' : plus ? '+' : space ? ' ' : '';
  const least = precision ?? (zero ? width - sign.length : 0);
  const digits = (value < 0n ? -value : value).toString(base).padStart(least, '0');
  const lead = verb === 'O' ? '0o' : sharp && !(verb === 'o' && digits.startsWith('0')) ? prefix : '';
  return sign + lead + (verb === 'X' ? digits.toUpperCase() : digits);
}

function formatReal(verb: string, value: number, { precision, sharp }: Flags): string {
  if (!Number.isFinite(value)) return printNumber(value);
  const small = verb.toLowerCase() as 'e' | 'f' | 'g';
  const size = formatFloat(small, value, precision);
  const text = (value < 0 || Object.is(value, -0) ? '-' : '') + (sharp ? keepZeros(size, small, precision ?? 6) : size);
  return verb === 'E' || verb === 'G' ? text.toUpperCase() : text;
}

/** `#` keeps the decimal point, and with `%g` trailing zeros. */
function keepZeros(text: string, verb: string, precision: number): string {
  const [, body, tail] = /^([^e]*)(.*)$/.exec(text)!;
  const pointed = body!.includes('.') ? body! : `${body}.`;
  const significant = pointed.replace('.', '').replace(/^0+(?=\d)/, '').length;
  return pointed + (verb === 'g' ? '0'.repeat(Math.max(0, Math.max(1, precision) - significant)) : '') + tail;
}

function padFloat(text: string, flags: Flags, budget: TemplateBudget): string {
  const { plus, space, zero, width } = flags;
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const size = text.slice(sign.length);
  const isNumeric = /^\d/.test(size);
  const shown = sign === '-' || (sign === '+' && !isNumeric) ? sign : plus ? '+' : space ? ' ' : '';
  if (zero && isNumeric) return shown + size.padStart(width - shown.length, '0');
  return pad(shown + size, { ...flags, zero: false }, budget);
}
