import type { Keyword } from './compile.ts';
import { canonicalize } from './equality.ts';
import { formatChoices } from './error-text.ts';
import { numberFormats, textFormats } from './formats.ts';
import { InvalidSchema } from './invalid-schema.ts';
import type { SchemaCheck, ValidationRun } from './run.ts';

/** Keywords for any value, numbers and strings. */

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

export const isType = (type: string, value: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;

const type: Keyword = (given, { nullable }, { dialect }) => {
  const types = (Array.isArray(given) ? given : [given]) as string[];
  for (const name of types)
    if (typeof name !== 'string' || !Object.hasOwn(typeNames, name))
      throw new InvalidSchema(`${JSON.stringify(name)} is not a type`);
  const allowed = dialect.nullable && nullable === true ? [...types, 'null'] : types;
  const expected = allowed.map(name => typeNames[name]).join(' or ');
  const [only] = types;
  const fits =
    types.length === 1
      ? (value: unknown) => isType(only!, value)
      : (value: unknown) => types.some(it => isType(it, value));
  return (value, run) => fits(value) || run.report(`must be ${expected}, is ${typeNames[typeOf(value)]}`);
};

const checkOneOf: (values: readonly unknown[]) => SchemaCheck = values => {
  const texts = new Set(values.map(value => canonicalize(value, unlimited)));
  const plain = values.every(value => typeof value !== 'object' || value === null);
  const message = values.length === 1 ? `must be ${formatChoices(values)}` : `must be one of ${formatChoices(values)}`;
  return (value, run) => {
    const known = plain && typeof value === 'object' && value !== null ? false : texts.has(canonicalize(value, run));
    return known || run.report(message);
  };
};
const unlimited: Pick<ValidationRun, 'spend'> = { spend: () => undefined };

const number =
  (holds: (value: number, limit: number) => boolean, text: string): Keyword =>
  given => {
    if (typeof given !== 'number') return undefined;
    return (value, run) => typeof value !== 'number' || holds(value, given) || run.report(`${text} ${given}`);
  };

/** `minimum` and `maximum`, which draft 4 makes exclusive with a boolean keyword. */
const createBound =
  (flag: string, open: Keyword, closed: Keyword): Keyword =>
  (given, schema, context) =>
    (schema[flag] === true ? open : closed)(given, schema, context);

const above = number((value, limit) => value > limit, 'must be more than');
const below = number((value, limit) => value < limit, 'must be less than');
const atLeast = number((value, limit) => value >= limit, 'must be at least');
const atMost = number((value, limit) => value <= limit, 'must be at most');

/** Tolerates the rounding error of binary fractions. */
const isMultiple = (value: number, of: number) => {
  const times = value / of;
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 2;
};

/** Length in code points. */
function countCharacters(text: string): number {
  let length = text.length;
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xdc00 && code <= 0xdfff && text.charCodeAt(at - 1) >> 10 === 0x36) length--;
  }
  return length;
}

const length =
  (holds: (length: number, limit: number) => boolean, text: string): Keyword =>
  given => {
    if (typeof given !== 'number') return undefined;
    return (value, run) => {
      if (typeof value !== 'string') return true;
      run.spend(value.length >> 8);
      return holds(countCharacters(value), given) || run.report(`must be ${text} ${given} characters long`);
    };
  };

const pattern: Keyword = (given, _schema, context) => {
  if (typeof given !== 'string') return undefined;
  const matches = context.compilePattern(given);
  return (value, run) => typeof value !== 'string' || matches(value, run) || run.report(`must match ${given}`);
};

/** Longer texts fail, except `byte`: some format patterns take stack by length. */
const maxFormattedCharacters = 65_536;

const format: Keyword = given => {
  if (typeof given !== 'string') return undefined;
  const ofText = Object.hasOwn(textFormats, given) ? textFormats[given] : undefined;
  const ofNumber = Object.hasOwn(numberFormats, given) ? numberFormats[given] : undefined;
  if (!ofText && !ofNumber) return undefined;
  const maxCharacters = given === 'byte' ? Number.POSITIVE_INFINITY : maxFormattedCharacters;
  return (value, run) => {
    if (typeof value === 'string') run.spend(value.length >> 8);
    const holds =
      ofText && typeof value === 'string'
        ? value.length <= maxCharacters && ofText(value)
        : ofNumber && typeof value === 'number'
          ? ofNumber(value)
          : true;
    return holds || run.report(`must be of the format ${given}`);
  };
};

export const valueKeywords: Readonly<Record<string, Keyword>> = {
  type,
  enum: given => (Array.isArray(given) ? checkOneOf(given) : undefined),
  const: given => checkOneOf([given]),
  minimum: createBound('exclusiveMinimum', above, atLeast),
  maximum: createBound('exclusiveMaximum', below, atMost),
  exclusiveMinimum: above,
  exclusiveMaximum: below,
  multipleOf: number(isMultiple, 'must be a multiple of'),
  minLength: length((size, limit) => size >= limit, 'at least'),
  maxLength: length((size, limit) => size <= limit, 'at most'),
  pattern,
  format,
};
