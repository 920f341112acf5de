/** Bound that a text exceeds. */
export type JsonExcess = 'values' | 'depth';

export interface JsonBounds {
  /** Values of all kinds, the root included; names of members do not count. */
  readonly maxValues: number;
  /** Lists and objects inside each other. */
  readonly maxDepth: number;
}

const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** A value takes a character and a comma or bracket: shorter texts cannot exceed the bound, and need no pre-scan. */
export const canExceedValues = (text: string, maxValues: number): boolean => (text.length + 1) / 2 > maxValues;

/**
 * Pre-scan of a JSON text: counts values and levels without creating any, and stops at the first one too many.
 * JSON.parse takes some hundred times the memory of the text for a text of tiny values, so the count comes first.
 * Malformed text is left to JSON.parse.
 */
export function findJsonExcess(text: string, { maxValues, maxDepth }: JsonBounds): JsonExcess | undefined {
  if (maxValues < 1) return 'values';
  const end = text.length;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = findStringEnd(text, at);
    else if (code === comma) {
      if (++values > maxValues) return 'values';
    } else if (code === openBracket || code === openBrace) {
      if (++depth > maxDepth) return 'depth';
      // An empty list or object is one value; any other holds one more than it has commas.
      while (isSpace(text.charCodeAt(at + 1))) at++;
      if (text.charCodeAt(at + 1) !== code + 2 && ++values > maxValues) return 'values';
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return undefined;
}

/** Index of the closing quote of a string, or the end of the text. */
export function findStringEnd(text: string, start: number): number {
  const end = text.length;
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return end;
}

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;
