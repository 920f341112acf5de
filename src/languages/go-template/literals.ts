import { TemplateError } from './error.ts';

const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};
const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([\s\S]))/g;

/** Resolves the escapes of a quoted string. */
export function unquote(quoted: string, line: number): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  return quoted.slice(1, -1).replaceAll(escapes, (whole: string, ...found: (string | undefined)[]) => {
    const [byte, short, long, octal, letter] = found;
    if (letter !== undefined) {
      const meant = simple[letter];
      if (meant === undefined) throw new TemplateError(`invalid escape ${whole}`, line);
      return meant;
    }
    const code = octal === undefined ? Number.parseInt((byte ?? short ?? long)!, 16) : Number.parseInt(octal, 8);
    if (code > 0x10ffff) throw new TemplateError(`invalid escape ${whole}`, line);
    return String.fromCodePoint(code);
  });
}

/** Code point of a character literal: `'a'` is 97. */
export function parseCharacter(quoted: string, line: number): number {
  const text = [...unquote(quoted, line)];
  if (text.length !== 1) throw new TemplateError(`malformed character constant: ${quoted}`, line);
  return text[0]!.codePointAt(0)!;
}

const wholeWithLeadingZero = /^0[0-7_]+$/;

/** Integers have 64 bits; beyond 2⁵³ they are bigints. */
const maxInteger = 2n ** 64n - 1n;
const maxIntegerDigits = 100;

export function parseNumber(written: string, line: number): number | bigint {
  const sign = written.startsWith('-') ? -1 : 1;
  const digits = written.replace(/^[+-]/, '').replaceAll('_', '');
  const value = wholeWithLeadingZero.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  if (!Number.isFinite(value)) throw new TemplateError(`bad number syntax: ${JSON.stringify(written)}`, line);
  const isWhole = !/[.eE]/.test(digits) || /^0[xX]/.test(digits);
  if (!isWhole || Number.isSafeInteger(value)) return value === 0 ? 0 : sign * value;
  const exact = digits.length > maxIntegerDigits ? maxInteger + 1n : BigInt(digits.replace(/^0(?=[0-7]+$)/, '0o'));
  if (exact > maxInteger) throw new TemplateError(`integer overflow: ${JSON.stringify(written.slice(0, 50))}`, line);
  return sign < 0 ? -exact : exact;
}
