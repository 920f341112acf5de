import { createTextProblem } from './problems.ts';

/** Words of shell commands (POSIX quoting, and `$'…'`), one list per command. Nothing is expanded or run. */

const maxWords = 50_000;
const controlEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  b: '\b',
  f: '\f',
  v: '\v',
};

interface Cursor {
  readonly text: string;
  at: number;
}

export function splitShellCommands(text: string): string[][] {
  const cursor: Cursor = { text: joinLines(text), at: 0 };
  const commands: string[][] = [];
  let words: string[] = [];
  let count = 0;
  const endCommand = () => {
    if (words.length > 0) commands.push(words);
    words = [];
  };
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at]!;
    if (character === '\n' || character === ';' || character === '|' || character === '&') {
      cursor.at += 1;
      endCommand();
    } else if (/\s/.test(character)) cursor.at += 1;
    else if (character === '#') skipComment(cursor);
    else {
      if (++count > maxWords) throw createTextProblem(`it has more than ${maxWords} words`);
      words.push(readWord(cursor));
    }
  }
  endCommand();
  return commands;
}

/** Continuation lines, of POSIX shells (`\`) and of the Windows shell (`^`). */
const joinLines = (text: string) => text.replaceAll(/\r\n?/g, '\n').replaceAll(/\\\n|\s\^\n/g, ' ');

function skipComment(cursor: Cursor): void {
  const end = cursor.text.indexOf('\n', cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end;
}

function readWord(cursor: Cursor): string {
  const { text } = cursor;
  let word = '';
  while (cursor.at < text.length && !/[\s;|&]/.test(text[cursor.at]!)) {
    const character = text[cursor.at]!;
    if (character === "'") word += readSingleQuoted(cursor);
    else if (character === '"') word += readDoubleQuoted(cursor);
    else if (character === '$' && text[cursor.at + 1] === "'") word += readEscapedQuoted(cursor);
    else if (character === '\\') {
      word += text[cursor.at + 1] ?? '';
      cursor.at += 2;
    } else {
      word += character;
      cursor.at += 1;
    }
  }
  return word;
}

function readSingleQuoted(cursor: Cursor): string {
  const end = cursor.text.indexOf("'", cursor.at + 1);
  if (end < 0) throw createTextProblem('a quotation mark has no end');
  const inside = cursor.text.slice(cursor.at + 1, end);
  cursor.at = end + 1;
  return inside;
}

function readDoubleQuoted(cursor: Cursor): string {
  return readUntilQuote(cursor, '"', 1, escaped => (/["\\$`\n]/.test(escaped) ? escaped : `\\${escaped}`));
}

function readEscapedQuoted(cursor: Cursor): string {
  return readUntilQuote(cursor, "'", 2, escaped => controlEscapes[escaped] ?? escaped);
}

function readUntilQuote(cursor: Cursor, quote: string, skip: number, decode: (escaped: string) => string): string {
  const { text } = cursor;
  const parts: string[] = [];
  let at = cursor.at + skip;
  for (; text[at] !== quote; at += 1) {
    if (at >= text.length) throw createTextProblem('a quotation mark has no end');
    if (text[at] !== '\\') parts.push(text[at]!);
    else {
      at += 1;
      const [hex] = quote === "'" ? (/^[ux][0-9a-fA-F]{1,4}/.exec(text.slice(at, at + 5)) ?? []) : [];
      if (hex) at += hex.length - 1;
      parts.push(hex ? String.fromCharCode(Number.parseInt(hex.slice(1), 16)) : decode(text[at] ?? ''));
    }
  }
  cursor.at = at + 1;
  return parts.join('');
}
