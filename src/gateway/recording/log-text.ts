/** Texts of log lines: ASCII in which nothing can end a line, a field or a quoted string (log injection). */

/** Printable ASCII without quote and backslash. */
const plainText = /^[ !#-[\]-~]*$/;
const unsafeInJson = /[^ !#-[\]-~]/g;

/** JSON string. Everything outside of printable ASCII is escaped, also what a terminal or an editor would interpret. */
export const quoteJson = (text: string): string =>
  plainText.test(text) ? `"${text}"` : `"${text.replaceAll(unsafeInJson, escapeJson)}"`;

const escapeJson = (unit: string) =>
  unit === '"' || unit === '\\' ? `\\${unit}` : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Quoted text of the combined format, escaped as nginx does it: `\xHH` for each byte. */
export const quoteCombined = (text: string): string =>
  plainText.test(text) ? `"${text}"` : `"${text.replaceAll(unsafeInJson, escapeBytes)}"`;

const plainWord = /^[!#-[\]-~]+$/;
const unsafeInWord = /[^!#-[\]-~]/g;

/** Unquoted field of the combined format; `-` for an empty one. */
export function toCombinedWord(text: string): string {
  if (text === '') return '-';
  return plainWord.test(text) ? text : text.replaceAll(unsafeInWord, escapeBytes);
}

/** Header texts hold one byte per character; other texts are written as UTF-8. */
function escapeBytes(unit: string): string {
  const code = unit.charCodeAt(0);
  const bytes = code <= 0xff ? [code] : Buffer.from(unit.toWellFormed());
  let escaped = '';
  for (const byte of bytes) escaped += `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return escaped;
}

/** Texts that are cached, and their length: clients choose some of them. */
const maxCachedTexts = 1000;
const maxCachedCharacters = 256;

/** Caches the result for texts that many requests share, such as agents: a lookup costs less than escaping. */
export function cacheTexts(format: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return text => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = format(text);
    if (text.length > maxCachedCharacters) return result;
    if (results.size >= maxCachedTexts) results.clear();
    results.set(text, result);
    return result;
  };
}

const thousandths = Array.from({ length: 1000 }, (_, at) => String(at / 1000).slice(1));

/** Milliseconds with at most three decimals, as JSON has them. */
export function formatMilliseconds(ms: number): string {
  const micros = Math.round(ms * 1000);
  const whole = Math.floor(micros / 1000);
  return `${whole}${thousandths[micros - whole * 1000]}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const pad = (value: number) => String(value).padStart(2, '0');
const threeDigits = Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, '0'));

/** Formats times in UTC; those of the same second reuse its text. */
export function createTimeFormats() {
  let isoSecond = -1;
  let isoText = '';
  let commonSecond = -1;
  let commonText = '';
  return {
    /** `2026-11-16T10:20:30.123Z` */
    iso(ms: number): string {
      const second = Math.floor(ms / 1000);
      if (second !== isoSecond) {
        isoSecond = second;
        isoText = new Date(second * 1000).toISOString().slice(0, -4);
      }
      return `${isoText}${threeDigits[Math.floor(ms) - second * 1000]}Z`;
    },
    /** `16/Nov/2026:10:20:30 +0000` */
    common(ms: number): string {
      const second = Math.floor(ms / 1000);
      if (second !== commonSecond) {
        commonSecond = second;
        const at = new Date(ms);
        const day = `${pad(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
        commonText = `${day}:${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}:${pad(at.getUTCSeconds())} +0000`;
      }
      return commonText;
    },
  };
}
