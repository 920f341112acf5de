const named: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

/** Quotes, backslash and unprintable characters: white space except the blank, controls, formats, unassigned. */
const unprintable = /["'\\]|(?! )[\p{Z}\p{C}]/gu;
const beyondAscii = /["'\\]|[^ -~]/gu;

function escapeCharacter(it: string, mark: string): string {
  if (it === '"' || it === "'") return it === mark ? `\\${it}` : it;
  const code = it.codePointAt(0)!;
  const hex = code.toString(16);
  if (code >= 0xd800 && code < 0xe000) return '\ufffd';
  if (code < 0x80) return named[it] ?? `\\x${hex.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** Go string literal (`strconv.Quote`); ASCII only with `isAscii`. */
export const quoteGoString = (plain: string, isAscii = false, mark = '"'): string =>
  mark + plain.replaceAll(isAscii ? beyondAscii : unprintable, it => escapeCharacter(it, mark)) + mark;

export const isPrintable = (character: string): boolean => !/^(?! )[\p{Z}\p{C}]/u.test(character);
