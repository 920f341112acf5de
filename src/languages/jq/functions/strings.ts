import { findJsonExcess } from '#base/json-scan.ts';
import { parts } from '../arithmetic.ts';
import type { Plain, PlainTable } from '../builtins-table.ts';
import { JqFault, Raised, raise } from '../error.ts';
import { formatOf, textOf } from '../formats.ts';
import { jsonText } from '../json-text.ts';
import { captured, cut, matches, shownMatches } from '../regexes.ts';
import { isMembers, kindOf, shown } from '../values.ts';

const text = (value: unknown, name: string): string =>
  typeof value === 'string' ? value : raise(`${name} input must be a string`);

/** A function of a text, which is paid for by its length. */
const of =
  (name: string, compute: (text: string, ...args: unknown[]) => unknown): Plain =>
  ({ budget }, value, ...args) => {
    const given = text(value, name);
    budget.make(given.length);
    return compute(given, ...args);
  };

const isPart =
  (name: string, test: (text: string, part: string) => boolean): Plain =>
  ({ budget }, value, part) => {
    if (typeof value !== 'string' || typeof part !== 'string') return raise(`${name}() requires string inputs`);
    budget.read(part.length);
    return test(value, part);
  };

/** Without what it begins or ends with; anything else passes as it is. */
const trimmed =
  (test: (text: string, part: string) => boolean, rest: (text: string, length: number) => string): Plain =>
  (_machine, value, part) =>
    typeof value === 'string' && typeof part === 'string' && part !== '' && test(value, part)
      ? rest(value, part.length)
      : value;

const startsWith = (whole: string, part: string) => whole.startsWith(part);
const endsWith = (whole: string, part: string) => whole.endsWith(part);

const joined: Plain = ({ budget }, value, separator) => {
  const items = isMembers(value) ? Object.values(value) : value;
  if (!Array.isArray(items)) return raise(`Cannot iterate over ${shown(value)}`);
  if (items.length === 0) return '';
  // One item needs no separator, whatever it is.
  const between = items.length === 1 || kindOf(separator) === 'null' ? '' : separator;
  budget.copy(items.length);
  if (typeof between !== 'string') return raise(`${shown(items[0])} and ${shown(between)} cannot be added`);
  let length = between.length * (items.length - 1);
  budget.make(length);
  const pieces = items.map((it, at) => {
    const kind = kindOf(it);
    if (kind === 'array' || kind === 'object')
      return raise(`${shown(at === 0 ? '' : between)} and ${shown(it)} cannot be added`);
    const piece = kind === 'null' ? '' : textOf(it, budget);
    length += piece.length;
    budget.hold(length);
    return piece;
  });
  budget.make(length);
  return pieces.join(between);
};

const isCharacter = (code: unknown): code is number =>
  Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 0x10ffff;

export const texts: PlainTable = {
  'tostring/0': ({ budget }, value) => textOf(value, budget),
  'tojson/0': ({ budget }, value) => jsonText(value, budget),
  'fromjson/0'({ budget }, value) {
    const source = typeof value === 'string' ? value : raise(`${shown(value)} only strings can be parsed`);
    budget.make(source.length * 4);
    const { steps, depth } = budget.bounds;
    if (findJsonExcess(source, { maxValues: steps, maxDepth: depth }) !== undefined)
      throw new JqFault(`fromjson: more than ${steps} values or ${depth} levels`, 0, true);
    try {
      return JSON.parse(source) as unknown;
    } catch {
      throw new Raised(`${shown(source)} is not JSON`);
    }
  },
  'utf8bytelength/0': (machine, value) =>
    typeof value === 'string'
      ? of('', it => Buffer.byteLength(it))(machine, value)
      : raise(`${shown(value)} only strings have UTF-8 byte length`),
  'format/1': ({ budget }, value, name) =>
    typeof name === 'string' ? formatOf(name)(value, budget) : raise(`${shown(name)} is not a valid format`),
  'ascii_downcase/0': of('explode', it => it.replaceAll(/[A-Z]+/g, upper => upper.toLowerCase())),
  'ascii_upcase/0': of('explode', it => it.replaceAll(/[a-z]+/g, lower => lower.toUpperCase())),
  'trim/0': of('trim', it => it.trim()),
  'ltrim/0': of('ltrim', it => it.trimStart()),
  'rtrim/0': of('rtrim', it => it.trimEnd()),
  'startswith/1': isPart('startswith', startsWith),
  'endswith/1': isPart('endswith', endsWith),
  'ltrimstr/1': trimmed(startsWith, (whole, length) => whole.slice(length)),
  'rtrimstr/1': trimmed(endsWith, (whole, length) => whole.slice(0, -length)),
  'explode/0'({ budget }, value) {
    const source = text(value, 'explode');
    budget.copy(source.length);
    return Array.from(source, it => it.codePointAt(0)!);
  },
  'implode/0'({ budget }, value) {
    if (!Array.isArray(value)) return raise('implode input must be an array');
    budget.copy(value.length);
    budget.make(value.length * 2);
    return value
      .map(code => (isCharacter(code) ? String.fromCodePoint(code) : raise('Unicode codepoint must be numeric')))
      .join('');
  },
  'ascii/0': (_machine, value) =>
    isCharacter(value) ? String.fromCodePoint(value) : raise('ascii requires a character'),
  'split/1'({ budget }, value, by) {
    if (typeof value !== 'string' || typeof by !== 'string') return raise('split input and separator must be strings');
    return parts(value, by, budget);
  },
  'split/2': ({ budget }, value, pattern, flags) => cut(value, pattern, flags, budget),
  'join/1': joined,
  '_matches/2': ({ budget }, value, pattern, flags) => shownMatches(value, pattern, flags, budget),
  '_captures/2': ({ budget }, value, pattern, flags) =>
    matches(value, pattern, flags, budget).map(it => captured(value as string, it)),
  '_test/2': ({ budget }, value, pattern, flags) => matches(value, pattern, flags, budget).length > 0,
  '_places/1'({ budget }, value, part) {
    const [whole, wanted] = [text(value, 'indices'), text(part, 'indices')];
    if (wanted === '') return null;
    budget.read(whole.length * 2);
    const found: number[] = [];
    for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + 1)) {
      budget.spend(1);
      found.push(at);
    }
    return points(whole, found);
  },
};

/** Places counted in code points. */
function points(whole: string, places: readonly number[]): number[] {
  let [at, count] = [0, 0];
  return places.map(place => {
    for (; at < place; count++) at += whole.codePointAt(at)! > 0xffff ? 2 : 1;
    return count;
  });
}
