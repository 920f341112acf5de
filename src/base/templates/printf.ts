import type { Budget } from './budget.ts';
import { isMap, isNothing, isNumber, numberText, printed, sortedNames, typeName } from './values.ts';

/** Wider fields are not believed. */
const widest = 1_000_000;
const directive = /%([+\-# 0]*)(?:\[(\d+)\])?(\*|\d+)?(?:(\.)(?:\[(\d+)\])?(\*|\d+)?)?(?:\[(\d+)\])?([\s\S])?/gu;

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly precision: number | undefined;
}

/** What `printf` writes. Values that do not suit their verb are shown as such, never an error. */
export function formatted(format: string, args: readonly unknown[], budget: Budget): string {
  let next = 0;
  let reordered = false;
  let length = 0;
  const take = (): { value: unknown } | undefined => (next < args.length ? { value: args[next++] } : undefined);
  const go = (index: string | undefined) => {
    if (index === undefined) return;
    reordered = true;
    next = Math.max(0, Number(index) - 1);
  };
  /** A width or precision: a number, or the next argument. */
  const size = (written: string | undefined): number | undefined | 'bad' => {
    if (written === undefined) return undefined;
    const value = written === '*' ? take()?.value : Number(written);
    return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= widest ? value : 'bad';
  };

  const text = format.replaceAll(directive, (_whole, ...found: (string | undefined)[]) => {
    const [marks, first, width, point, second, digits, third, verb] = found;
    go(first);
    const wide = size(width);
    go(second);
    const precise = point ? size(digits ?? '0') : undefined;
    go(third);
    let start = '';
    if (wide === 'bad') start += '%!(BADWIDTH)';
    if (precise === 'bad') start += '%!(BADPREC)';
    if (verb === undefined) return `${start}%!(NOVERB)`;
    if (verb === '%') return `${start}%`;
    const arg = take();
    if (!arg) return `${start}%!${verb}(${reordered ? 'BADINDEX' : 'MISSING'})`;
    const columns = typeof wide === 'number' ? wide : 0;
    const has = (mark: string) => marks!.includes(mark);
    const minus = has('-') || columns < 0;
    const flags: Flags = {
      plus: has('+'),
      minus,
      sharp: has('#'),
      space: has(' '),
      zero: has('0') && !minus,
      precision: typeof precise === 'number' && precise >= 0 ? precise : undefined,
    };
    budget.spend(1);
    budget.make(Math.abs(columns) + (flags.precision ?? 0));
    const written = start + padded(verbText(verb, arg.value, flags, budget), Math.abs(columns), flags);
    length += written.length;
    budget.hold(length);
    return written;
  });
  if (reordered || next >= args.length) return text;
  const extra = args.slice(next).map(it => (isNothing(it) ? '<nil>' : `${typeName(it)}=${printed(it, budget)}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function padded(text: string, columns: number, { minus, zero }: Flags): string {
  const missing = columns - [...text.slice(0, columns + 1)].length;
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  if (!zero) return ' '.repeat(missing) + text;
  const sign = /^[+\- ]/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
}

/** One value under one verb; lists and maps apply the verb to what is in them. */
function verbText(verb: string, value: unknown, flags: Flags, budget: Budget, depth = 0): string {
  budget.visit(depth);
  if (verb === 'T') return typeName(value);
  if (verb === 'v') return general(value, flags, budget);
  const written = scalarText(verb, value, flags);
  if (written !== undefined) {
    budget.make(written.length);
    return written;
  }
  if (Array.isArray(value)) return `[${value.map(it => verbText(verb, it, flags, budget, depth + 1)).join(' ')}]`;
  if (isMap(value)) {
    const inside = sortedNames(value, budget).map(
      name =>
        `${verbText(verb, name, flags, budget, depth + 1)}:${verbText(verb, value[name], flags, budget, depth + 1)}`,
    );
    return `map[${inside.join(' ')}]`;
  }
  return isNothing(value) ? `%!${verb}(<nil>)` : `%!${verb}(${typeName(value)}=${printed(value, budget)})`;
}

function general(value: unknown, flags: Flags, budget: Budget): string {
  if (flags.sharp && typeof value === 'string') return quoted(value);
  if (isNumber(value)) return signed(numberText(value), flags);
  return printed(value, budget);
}

function scalarText(verb: string, value: unknown, flags: Flags): string | undefined {
  if (typeof value === 'boolean') return verb === 't' ? String(value) : undefined;
  if (typeof value === 'string') return stringText(verb, value, flags);
  if (value instanceof Date) return verb === 's' ? printed(value) : undefined;
  if (!isNumber(value)) return undefined;
  const real = realText(verb, Number(value), flags);
  if (real !== undefined) return real;
  return typeof value === 'bigint' || Number.isInteger(value) ? integerText(verb, BigInt(value), flags) : undefined;
}

function stringText(verb: string, value: string, { precision, sharp, space }: Flags): string | undefined {
  const cut = precision === undefined ? value : [...value].slice(0, precision).join('');
  switch (verb) {
    case 's':
      return cut;
    case 'q':
      return sharp && !/[`\p{Cc}]/u.test(cut) ? `\`${cut}\`` : quoted(cut);
    case 'x':
    case 'X': {
      const hex = Buffer.from(value).subarray(0, precision).toString('hex');
      const spaced = space ? hex.replaceAll(/..(?!$)/g, '$& ') : hex;
      return verb === 'x' ? spaced : spaced.toUpperCase();
    }
    default:
      return undefined;
  }
}

const bases: Readonly<Record<string, [base: number, prefix: string]>> = {
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, ''],
  x: [16, '0x'],
  X: [16, '0X'],
};

function integerText(verb: string, value: bigint, flags: Flags): string | undefined {
  const known = bases[verb];
  if (known) {
    const [base, prefix] = known;
    const digits = (value < 0n ? -value : value).toString(base).padStart(flags.precision ?? 0, '0');
    const marked = `${verb === 'O' ? '0o' : flags.sharp ? prefix : ''}${verb === 'X' ? digits.toUpperCase() : digits}`;
    return signed(value < 0n ? `-${marked}` : marked, flags);
  }
  const code = value >= 0n && value <= 0x10ffffn ? Number(value) : 0xfffd;
  if (verb === 'c') return String.fromCodePoint(code);
  if (verb === 'q') return `'${String.fromCodePoint(code).replace(/['\\]/, '\\$&')}'`;
  return verb === 'U' ? `U+${value.toString(16).toUpperCase().padStart(4, '0')}` : undefined;
}

/** JavaScript writes at most this many decimals. */
const mostDecimals = 100;

function realText(verb: string, value: number, flags: Flags): string | undefined {
  const decimals = Math.min(flags.precision ?? 6, mostDecimals);
  const twoDigits = (text: string) => text.replace(/e([+-])(\d)$/, 'e$10$2');
  if ('eEfFgG'.includes(verb) && !Number.isFinite(value)) return signed(numberText(value), flags);
  switch (verb) {
    case 'f':
    case 'F':
      return signed(fixedText(value, decimals), flags);
    case 'e':
      return signed(twoDigits(value.toExponential(decimals)), flags);
    case 'E':
      return signed(twoDigits(value.toExponential(decimals)).toUpperCase(), flags);
    case 'g':
    case 'G': {
      const text =
        flags.precision === undefined
          ? numberText(value)
          : twoDigits(String(Number(value.toPrecision(Math.max(1, decimals)))));
      return signed(verb === 'G' ? text.toUpperCase() : text, flags);
    }
    default:
      return undefined;
  }
}

/** `toFixed` gives up at 1e21. */
const fixedText = (value: number, decimals: number) =>
  Math.abs(value) < 1e21
    ? value.toFixed(decimals)
    : `${BigInt(value)}${decimals > 0 ? `.${'0'.repeat(decimals)}` : ''}`;

const signed = (text: string, { plus, space }: Flags) =>
  /^[+-]/.test(text) ? text : plus ? `+${text}` : space ? ` ${text}` : text;

const quoteEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

/** As a constant of the language would be written. */
export const quoted = (text: string): string =>
  `"${text.replaceAll(/["\\\p{Cc}]/gu, it => quoteEscapes[it] ?? `\\x${it.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
