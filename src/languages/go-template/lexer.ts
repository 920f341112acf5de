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

export function tokenizeTemplate(source: string): TemplateToken[] {
  const tokens: TemplateToken[] = [];
  let at = 0;
  let line = 1;
  let trimsNext = false;

  const push = (kind: TemplateTokenKind, value: string | number | bigint = '', spaced = false) =>
    tokens.push({ kind, value, line, spaced });
  const advance = (to: number) => {
    for (; at < to; at++) if (source[at] === '\n') line++;
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const closesTrimmed = () => /^[ \t\r\n]-\}\}/.test(source.slice(at, at + 4));

  function readText(): void {
    const end = source.indexOf(left, at);
    const to = end < 0 ? source.length : end;
    let words = source.slice(at, to);
    if (trimsNext) words = words.replace(/^[ \t\r\n]+/, '');
    if (end >= 0 && /^-[ \t\r\n]/.test(source.slice(end + 2, end + 4))) words = trimTrailingSpace(words);
    if (words !== '') push('text', words);
    trimsNext = false;
    advance(to);
  }

  /** Reads the end of an action; false where there is none. */
  function readClose(): boolean {
    const trimmed = closesTrimmed();
    if (!trimmed && !source.startsWith(right, at)) return false;
    push('close');
    advance(at + (trimmed ? 4 : 2));
    trimsNext = trimmed;
    return true;
  }

  function readComment(): boolean {
    const found = match(comment);
    if (found === undefined) {
      if (source.startsWith('/*', at)) throw new TemplateError('unclosed comment', line);
      return false;
    }
    advance(at + found.length);
    trimsNext = closesTrimmed();
    if (!trimsNext && !source.startsWith(right, at))
      throw new TemplateError('comment ends before closing delimiter', line);
    advance(at + (trimsNext ? 4 : 2));
    return true;
  }

  function readWord(spaced: boolean): void {
    for (const [kind, pattern] of words) {
      const found = match(pattern);
      if (found === undefined) continue;
      const value = toTokenValue(kind, found, line);
      push(
        typeof value !== 'string' ? 'number' : kind === 'raw' ? 'string' : (kind as TemplateTokenKind),
        value,
        spaced,
      );
      advance(at + found.length);
      boundary.lastIndex = at;
      if (kind !== 'mark' && kind !== 'dot' && !boundary.test(source)) throw createUnexpectedError(source, at, line);
      return;
    }
    if (/["`']/.test(source[at] ?? '')) throw new TemplateError('unterminated quoted string', line);
    throw createUnexpectedError(source, at, line);
  }

  function readAction(): void {
    const trims = /^-[ \t\r\n]/.test(source.slice(at + 2, at + 4));
    const start = at + (trims ? 3 : 2);
    const inside = at;
    advance(start);
    // A comment may follow the space after a trim marker, and must be alone in its action.
    const behind = trims ? (match(space)?.length ?? 0) : 0;
    if (source.startsWith('/*', at + behind)) {
      advance(at + behind);
      if (readComment()) return;
    }
    push('open', '', inside > 0);
    for (;;) {
      if (readClose()) return;
      const gap = match(space);
      if (gap) {
        const last = at + gap.length - 1;
        // The last space belongs to a trim marker.
        advance(source.startsWith('-}}', last + 1) ? last : last + 1);
        if (readClose()) return;
      }
      if (at >= source.length) throw new TemplateError('unclosed action', line);
      readWord(gap !== undefined);
    }
  }

  while (at < source.length) {
    readText();
    if (at < source.length) readAction();
  }
  push('end');
  return tokens;
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

function createUnexpectedError(source: string, at: number, line: number): TemplateError {
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  return new TemplateError(`unexpected ${JSON.stringify(character)} in an action`, line);
}
