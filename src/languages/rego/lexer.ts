import { RegoError, type RegoPosition } from './error.ts';

export interface RegoToken extends RegoPosition {
  readonly kind: 'name' | 'number' | 'string' | 'mark' | 'end';
  /** Value of a string, else the source text. */
  readonly text: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  /** First token of its line. */
  readonly startsLine: boolean;
}

/** Bounds of a module. */
const maxRulesCharacters = 100_000;
const maxTokens = 20_000;

/** Space or comment, line end, name, number, quoted text, raw text, mark. */
const pattern = new RegExp(
  [
    /([ \t\r]+|#[^\n]*)/,
    /(\n)/,
    /([A-Za-z_]\w*)/,
    /(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/,
    /("(?:[^"\\\n]|\\.)*")/,
    /(`[^`]*`)/,
    /(:=|==|!=|<=|>=|[^\s])/,
  ]
    .map(part => part.source)
    .join('|'),
  'y',
);

/** Splits a module into tokens, the end included. */
export function tokenizeRego(source: string): RegoToken[] {
  if (source.length > maxRulesCharacters) throw new RegoError(`longer than ${maxRulesCharacters} characters`);
  const tokens: RegoToken[] = [];
  let lineStart = 0;
  let line = 1;
  let startsLine = true;
  let offset = 0;
  const add = (kind: RegoToken['kind'], text: string, end: number) => {
    tokens.push({ kind, text, start: offset, end, line, column: offset - lineStart + 1, startsLine });
    startsLine = false;
    if (tokens.length > maxTokens) throw new RegoError(`more than ${maxTokens} tokens`);
  };
  while (offset < source.length) {
    pattern.lastIndex = offset;
    const found = pattern.exec(source);
    const position = { line, column: offset - lineStart + 1 };
    if (!found) throw new RegoError('unexpected character', position);
    const [whole, , newline, name, number, quoted, raw, mark] = found;
    const end = offset + whole.length;
    if (newline) {
      line++;
      lineStart = end;
      startsLine = true;
    } else if (name) add('name', name, end);
    else if (number) add('number', number, end);
    else if (quoted) add('string', parseQuoted(quoted, position), end);
    else if (raw) {
      add('string', raw.slice(1, -1), end);
      const lines = raw.split('\n');
      line += lines.length - 1;
      if (lines.length > 1) lineStart = end - lines.at(-1)!.length;
    } else if (mark === '"' || mark === '`') throw new RegoError('the text is not closed', position);
    else if (mark) add('mark', mark, end);
    offset = end;
  }
  startsLine = true;
  add('end', '', offset);
  return tokens;
}

/** Rego strings have the escapes of JSON. */
function parseQuoted(quoted: string, at: RegoPosition): string {
  try {
    return JSON.parse(quoted) as string;
  } catch (cause) {
    throw Object.assign(new RegoError('the text has an invalid escape or character', at), { cause });
  }
}
