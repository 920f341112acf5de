import { TemplateError } from './error.ts';
import { parseCharacter, parseNumber, unquote } from './literals.ts';

/**
 * Tokens of text between actions and inside them. `field` and `variable` have their name without the leading mark; the
 * name of `$` is empty.
 */
export type TemplateTokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'string'
  | 'number'
  | 'word'
  | 'field'
  | 'variable'
  | 'dot'
  | 'mark'
  | 'end';

export interface TemplateToken {
  readonly kind: TemplateTokenKind;
  /** A number or bigint for `number`, else a string. */
  readonly value: string | number | bigint;
  readonly line: number;
  /** White space precedes it: `.a .b` is two operands, `.a.b` is one. */
  readonly spaced: boolean;
}

const [left, right] = ['{{', '}}'];
const space = /[ \t\r\n]+/y;
const comment = /\/\*[\s\S]*?\*\//y;
const words: readonly [TemplateTokenKind | 'raw' | 'character', RegExp][] = [
  ['string', /"(?:[^"\\\n]|\\.)*"/y],
  ['raw', /`[^`]*`/y],
  ['character', /'(?:[^'\\\n]|\\.)+'/y],
  [
    'number',
    /[+-]?(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/y,
  ],
  ['field', /\.[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['variable', /\$(?:[\p{L}_][\p{L}\p{Nd}_]*)?/uy],
  ['word', /[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['dot', /\./y],
  ['mark', /:=|[=|,()]/y],
];
/** Delimiters that may follow a word directly. */
const boundary = /[\s.,|:=()]|\}\}|$/y;

/** Position in the source, and the tokens before it. */
interface Lexer {
  readonly source: string;
  readonly tokens: TemplateToken[];
  at: number;
  line: number;
  /** The last action ended in a trim marker: white space after it is dropped. */
  trimsNext: boolean;
}

export function tokenizeTemplate(source: string): TemplateToken[] {
  const lexer: Lexer = { source, tokens: [], at: 0, line: 1, trimsNext: false };
  while (lexer.at < source.length) {
    readText(lexer);
    if (lexer.at < source.length) readAction(lexer);
  }
  push(lexer, 'end');
  return lexer.tokens;
}

function push({ tokens, line }: Lexer, kind: TemplateTokenKind, value: TemplateToken['value'] = '', spaced = false) {
  tokens.push({ kind, value, line, spaced });
}

function advance(lexer: Lexer, to: number): void {
  for (; lexer.at < to; lexer.at++) if (lexer.source[lexer.at] === '\n') lexer.line++;
}

function match({ source, at }: Lexer, pattern: RegExp): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

const startsWith = ({ source, at }: Lexer, text: string) => source.startsWith(text, at);
const closesTrimmed = ({ source, at }: Lexer) => /^[ \t\r\n]-\}\}/.test(source.slice(at, at + 4));

function readText(lexer: Lexer): void {
  const { source, at } = lexer;
  const end = source.indexOf(left, at);
  const to = end < 0 ? source.length : end;
  let words = source.slice(at, to);
  if (lexer.trimsNext) words = words.replace(/^[ \t\r\n]+/, '');
  if (end >= 0 && /^-[ \t\r\n]/.test(source.slice(end + 2, end + 4))) words = trimTrailingSpace(words);
  if (words !== '') push(lexer, 'text', words);
  lexer.trimsNext = false;
  advance(lexer, to);
}

/** Reads the end of an action; false where there is none. */
function readClose(lexer: Lexer): boolean {
  const trimmed = closesTrimmed(lexer);
  if (!trimmed && !startsWith(lexer, right)) return false;
  push(lexer, 'close');
  advance(lexer, lexer.at + (trimmed ? 4 : 2));
  lexer.trimsNext = trimmed;
  return true;
}

function readComment(lexer: Lexer): boolean {
  const found = match(lexer, comment);
  if (found === undefined) {
    if (startsWith(lexer, '/*')) throw new TemplateError('unclosed comment', lexer.line);
    return false;
  }
  advance(lexer, lexer.at + found.length);
  lexer.trimsNext = closesTrimmed(lexer);
  if (!lexer.trimsNext && !startsWith(lexer, right))
    throw new TemplateError('comment ends before closing delimiter', lexer.line);
  advance(lexer, lexer.at + (lexer.trimsNext ? 4 : 2));
  return true;
}

function readWord(lexer: Lexer, spaced: boolean): void {
  const { source } = lexer;
  for (const [kind, pattern] of words) {
    const found = match(lexer, pattern);
    if (found === undefined) continue;
    const value = toTokenValue(kind, found, lexer.line);
    const tokenKind = typeof value !== 'string' ? 'number' : kind === 'raw' ? 'string' : (kind as TemplateTokenKind);
    push(lexer, tokenKind, value, spaced);
    advance(lexer, lexer.at + found.length);
    if (kind !== 'mark' && kind !== 'dot' && match(lexer, boundary) === undefined) throw createUnexpectedError(lexer);
    return;
  }
  if (/["`']/.test(source[lexer.at] ?? '')) throw new TemplateError('unterminated quoted string', lexer.line);
  throw createUnexpectedError(lexer);
}

function readAction(lexer: Lexer): void {
  const { source, at: inside } = lexer;
  const trims = /^-[ \t\r\n]/.test(source.slice(inside + 2, inside + 4));
  advance(lexer, inside + (trims ? 3 : 2));
  // A comment may follow the space after a trim marker, and must be alone in its action.
  const behind = trims ? (match(lexer, space)?.length ?? 0) : 0;
  if (source.startsWith('/*', lexer.at + behind)) {
    advance(lexer, lexer.at + behind);
    if (readComment(lexer)) return;
  }
  push(lexer, 'open', '', inside > 0);
  for (;;) {
    if (readClose(lexer)) return;
    const gap = match(lexer, space);
    if (gap) {
      const last = lexer.at + gap.length - 1;
      // The last space belongs to a trim marker.
      advance(lexer, source.startsWith('-}}', last + 1) ? last : last + 1);
      if (readClose(lexer)) return;
    }
    if (lexer.at >= source.length) throw new TemplateError('unclosed action', lexer.line);
    readWord(lexer, gap !== undefined);
  }
}

/** Trims in linear time; a regular expression anchored at the end takes quadratic time. */
function trimTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n'.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

function toTokenValue(
  kind: TemplateTokenKind | 'raw' | 'character',
  found: string,
  line: number,
): string | number | bigint {
  switch (kind) {
    case 'string':
      return unquote(found, line);
    case 'raw':
      return found.slice(1, -1).replaceAll('\r', '');
    case 'character':
      return parseCharacter(found, line);
    case 'number':
      return parseNumber(found, line);
    case 'field':
    case 'variable':
      return found.slice(1);
    default:
      return found;
  }
}

function createUnexpectedError({ source, at, line }: Lexer): TemplateError {
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  return new TemplateError(`unexpected ${JSON.stringify(character)} in an action`, line);
}
