import type { TemplateBudget } from '../budget.ts';

/** Word matching costs about eight scans of a character. */
const workPerCharacter = 8;

const connector = '[-_\\t-\\r \\u0085\\p{Z}]';
/** Letters except capitals and ideographs, which are words of their own. */
const small = '(?![\\u3400-\\u4d85\\u4e00-\\u9fcc\\u{20000}-\\u{2b81d}]|\\p{Lu})\\p{L}';
const upperWord = `\\p{Lu}+(?=\\p{Lu}${small})|\\p{Lu}{2,}|\\p{Lu}(?:${small})*`;
const smallWord = `(?:${small})+`;
const otherWord = `(?:(?!${connector}|[\\p{P}\\p{N}\\p{Lu}]|${small})[\\s\\S])+`;
/**
 * Connectors and punctuation, or a word: a number joins the small letters after it (`2xx`), else the word before it
 * (`Bld4`).
 */
const units = new RegExp(
  [
    `(${connector}+|\\p{P}+)`,
    `\\p{N}+(?:${smallWord}|\\p{N}+)*`,
    `(?:${upperWord}|${smallWord}|${otherWord})(?:\\p{N}+(?!${small}|\\p{N}))?`,
  ].join('|'),
  'gu',
);
const connectors = new RegExp(connector, 'gu');

/** `snakecase`, `kebabcase`: lower-case words, joined. Each connector becomes a joint; punctuation is unchanged. */
export function joinWords(plain: string, joint: string, budget: TemplateBudget): string {
  budget.chargeScan(plain.length * workPerCharacter);
  const parts: string[] = [];
  let isAfterWord = false;
  for (const [unit, separator] of plain.matchAll(units)) {
    if (separator === undefined) parts.push(isAfterWord ? joint + toLower(unit) : toLower(unit));
    else parts.push(separator.replaceAll(connectors, joint));
    isAfterWord = separator === undefined;
  }
  return parts.join('');
}

const camelParts = new RegExp(`(${connector}+)|(?:(?!${connector})[\\s\\S])+`, 'gu');

/** `camelcase`: drops the last connector of each inner run; connectors at the ends stay. */
export function toCamelCase(plain: string, budget: TemplateBudget): string {
  budget.chargeScan(plain.length * workPerCharacter);
  return plain.replaceAll(camelParts, (part: string, separator: string | undefined, at: number) => {
    if (separator === undefined) return pascalWord(part);
    return at === 0 || at + separator.length === plain.length ? separator : separator.slice(0, -1);
  });
}

/** Lower-cases all but the first of the leading capitals. */
function pascalWord(word: string): string {
  const capitals = /^\p{Lu}+/u.exec(word)?.[0] ?? '';
  const first = String.fromCodePoint(word.codePointAt(0)!);
  if (capitals === '') return toUpper(first) + word.slice(first.length);
  return first + toLower(capitals.slice(first.length)) + word.slice(capitals.length);
}

/** Case mapping by character, as in Go: none becomes two, and a final sigma is a sigma. */
export function toUpper(plain: string): string {
  const upper = plain.toUpperCase();
  return upper.length === plain.length ? upper : mapCharacters(plain, it => it.toUpperCase());
}

export function toLower(plain: string): string {
  return /[\u0130\u03a3]/.test(plain)
    ? mapCharacters(plain, it => (it === '\u0130' ? 'i' : it.toLowerCase()))
    : plain.toLowerCase();
}

function mapCharacters(plain: string, map: (character: string) => string): string {
  let mapped = '';
  for (const it of plain) {
    const changed = map(it);
    mapped += [...changed].length === 1 ? changed : it;
  }
  return mapped;
}

/** Letters whose title case differs from their upper case. */
const titleForms: Readonly<Record<string, string>> = { ǆ: 'ǅ', ǉ: 'ǈ', ǌ: 'ǋ', ǳ: 'ǲ', Ǆ: 'ǅ', Ǉ: 'ǈ', Ǌ: 'ǋ', Ǳ: 'ǲ' };
const toTitle = (letter: string) => titleForms[letter] ?? toUpper(letter);

/** Words start after white space and ASCII punctuation, also after an apostrophe. */
const titleStart = /(?<=^|[\t-\r \u0085\p{Z}]|[!-/:-@[-^`{-~])\p{L}/gu;
export const toTitleCase = (plain: string): string => plain.replaceAll(titleStart, toTitle);

const wordStart = /(?<=^|[\t-\r \u0085\p{Z}])\p{L}/gu;
export const toUntitled = (plain: string): string => plain.replaceAll(wordStart, toLower);

export const swapCase = (plain: string): string =>
  plain.replaceAll(/\p{L}/gu, letter => (/\p{Lu}|\p{Lt}/u.test(letter) ? toLower(letter) : toUpper(letter)));
