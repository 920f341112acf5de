import { findJsonExcess } from '#base/json-scan.ts';
import { findOccurrences } from '../../text-search.ts';
import { splitString } from '../arithmetic.ts';
import type { Builtin, BuiltinTable } from '../builtin.ts';
import { JqError, JqRuntimeError, raise } from '../error.ts';
import { findFormat, toJqString } from '../formats.ts';
import { stringifyJson } from '../json-text.ts';
import { describeMatches, findMatches, splitByRegex, toNamedCaptures } from '../regexes.ts';
import { describeValue, isJqObject, jqTypeOf } from '../values.ts';

const requireString = (value: unknown, name: string): string =>
  typeof value === 'string' ? value : raise(`${name} input must be a string`);

/** A builtin of a string, charged by its length. */
const createStringBuiltin =
  (name: string, compute: (text: string, ...args: unknown[]) => unknown): Builtin =>
  ({ budget }, value, ...args) => {
    const given = requireString(value, name);
    budget.reserveText(given.length);
    return compute(given, ...args);
  };

const createPartTest =
  (name: string, test: (text: string, part: string) => boolean): Builtin =>
  ({ budget }, value, part) => {
    if (typeof value !== 'string' || typeof part !== 'string') return raise(`${name}() requires string inputs`);
    budget.chargeText(part.length);
    return test(value, part);
  };

/** Trims a prefix or suffix; other values pass unchanged. */
const createTrim =
  (test: (text: string, part: string) => boolean, rest: (text: string, length: number) => string): Builtin =>
  (_machine, value, part) =>
    typeof value === 'string' && typeof part === 'string' && part !== '' && test(value, part)
      ? rest(value, part.length)
      : value;

const startsWith = (whole: string, part: string) => whole.startsWith(part);
const endsWith = (whole: string, part: string) => whole.endsWith(part);

const join: Builtin = ({ budget }, value, separator) => {
  const items = isJqObject(value) ? Object.values(value) : value;
  if (!Array.isArray(items)) return raise(`Cannot iterate over ${describeValue(value)}`);
  if (items.length === 0) return '';
  // One item needs no separator, whatever it is.
  const between = items.length === 1 || jqTypeOf(separator) === 'null' ? '' : separator;
  budget.chargeCopy(items.length);
  if (typeof between !== 'string')
    return raise(`${describeValue(items[0])} and ${describeValue(between)} cannot be added`);
  let length = between.length * (items.length - 1);
  budget.reserveText(length);
  const pieces = items.map((it, at) => {
    const kind = jqTypeOf(it);
    if (kind === 'array' || kind === 'object')
      return raise(`${describeValue(at === 0 ? '' : between)} and ${describeValue(it)} cannot be added`);
    const piece = kind === 'null' ? '' : toJqString(it, budget);
    length += piece.length;
    budget.checkTextLength(length);
    return piece;
  });
  budget.reserveText(length);
  return pieces.join(between);
};

const isCharacter = (code: unknown): code is number =>
  Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 0x10ffff;

export const stringBuiltins: BuiltinTable = {
  'tostring/0': ({ budget }, value) => toJqString(value, budget),
  'tojson/0': ({ budget }, value) => stringifyJson(value, budget),
  'fromjson/0'({ budget }, value) {
    const source = typeof value === 'string' ? value : raise(`${describeValue(value)} only strings can be parsed`);
    budget.reserveText(source.length * 4);
    const { maxSteps, maxDepth } = budget.bounds;
    if (findJsonExcess(source, { maxValues: maxSteps, maxDepth }) !== undefined)
      throw new JqError(`fromjson: more than ${maxSteps} values or ${maxDepth} levels`, 0, true);
    try {
      return JSON.parse(source) as unknown;
    } catch {
      throw new JqRuntimeError(`${describeValue(source)} is not JSON`);
    }
  },
  'utf8bytelength/0': (interpreter, value) =>
    typeof value === 'string'
      ? createStringBuiltin('', it => Buffer.byteLength(it))(interpreter, value)
      : raise(`${describeValue(value)} only strings have UTF-8 byte length`),
  'format/1': ({ budget }, value, name) =>
    typeof name === 'string' ? findFormat(name)(value, budget) : raise(`${describeValue(name)} is not a valid format`),
  'ascii_downcase/0': createStringBuiltin('explode', it => it.replaceAll(/[A-Z]+/g, upper => upper.toLowerCase())),
  'ascii_upcase/0': createStringBuiltin('explode', it => it.replaceAll(/[a-z]+/g, lower => lower.toUpperCase())),
  'trim/0': createStringBuiltin('trim', it => it.trim()),
  'ltrim/0': createStringBuiltin('ltrim', it => it.trimStart()),
  'rtrim/0': createStringBuiltin('rtrim', it => it.trimEnd()),
  'startswith/1': createPartTest('startswith', startsWith),
  'endswith/1': createPartTest('endswith', endsWith),
  'ltrimstr/1': createTrim(startsWith, (whole, length) => whole.slice(length)),
  'rtrimstr/1': createTrim(endsWith, (whole, length) => whole.slice(0, -length)),
  'explode/0'({ budget }, value) {
    const source = requireString(value, 'explode');
    budget.chargeCopy(source.length);
    return Array.from(source, it => it.codePointAt(0)!);
  },
  'implode/0'({ budget }, value) {
    if (!Array.isArray(value)) return raise('implode input must be an array');
    budget.chargeCopy(value.length);
    budget.reserveText(value.length * 2);
    return value
      .map(code => (isCharacter(code) ? String.fromCodePoint(code) : raise('Unicode codepoint must be numeric')))
      .join('');
  },
  'ascii/0': (_machine, value) =>
    isCharacter(value) ? String.fromCodePoint(value) : raise('ascii requires a character'),
  'split/1'({ budget }, value, by) {
    if (typeof value !== 'string' || typeof by !== 'string') return raise('split input and separator must be strings');
    return splitString(value, by, budget);
  },
  'split/2': ({ budget }, value, pattern, flags) => splitByRegex(value, pattern, flags, budget),
  'join/1': join,
  '_matches/2': ({ budget }, value, pattern, flags) => describeMatches(value, pattern, flags, budget),
  '_captures/2': ({ budget }, value, pattern, flags) =>
    findMatches(value, pattern, flags, budget).map(it => toNamedCaptures(value as string, it)),
  '_test/2': ({ budget }, value, pattern, flags) => findMatches(value, pattern, flags, budget).length > 0,
  '_string_indices/1'({ budget }, value, part) {
    const [whole, wanted] = [requireString(value, 'indices'), requireString(part, 'indices')];
    if (wanted === '') return null;
    return toCodePointOffsets(whole, findOccurrences(wanted, whole, budget));
  },
};

/** Converts UTF-16 offsets to code point offsets. */
function toCodePointOffsets(whole: string, places: readonly number[]): number[] {
  let [at, count] = [0, 0];
  return places.map(place => {
    for (; at < place; count++) at += whole.codePointAt(at)! > 0xffff ? 2 : 1;
    return count;
  });
}
