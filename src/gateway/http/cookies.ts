import type { HeaderList } from './headers.ts';

/** Receives one pair: its value is undefined where it has no `=`; `text` is the pair as it was sent, trimmed. */
type VisitCookie = (name: string, value: string | undefined, text: string) => void;

/** The pairs of one `Cookie` field (RFC 6265, section 4.2.1); values stay as they are. */
export function forEachCookie(line: string, visit: VisitCookie): void {
  for (const pair of line.split(';')) {
    const text = trimSpaces(pair);
    const equals = text.indexOf('=');
    if (equals < 0) visit(text, undefined, text);
    else visit(trimSpaces(text.slice(0, equals)), trimSpaces(text.slice(equals + 1)), text);
  }
}

/** Trims optional whitespace (RFC 9110, section 5.6.3). `trim` would cut a UTF-8 sequence that ends in the byte A0. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isSpace = (unit: number) => unit === 0x20 || unit === 0x09;

/** The value without the quotes around it. */
export const unquoteCookie = (value: string): string => value.replace(/^"(.*)"$/, '$1');

/** The first value of a cookie in all `Cookie` fields, without the quotes around it; empty where there is none. */
export function readCookie(headers: HeaderList, cookieName: string): string {
  let found: string | undefined;
  for (const line of headers.all('cookie'))
    forEachCookie(line, (name, value) => {
      if (name === cookieName) found ??= value;
    });
  return found === undefined ? '' : unquoteCookie(found);
}

/** Values by name, in the order they were sent. */
export function parseCookies(headers: HeaderList): Map<string, string[]> {
  const cookies = new Map<string, string[]>();
  for (const line of headers.all('cookie'))
    forEachCookie(line, (name, value) => {
      if (value === undefined) return;
      const values = cookies.get(name);
      if (values) values.push(value);
      else cookies.set(name, [value]);
    });
  return cookies;
}

/** Removes every cookie of that name. A request without one keeps its `Cookie` fields as they are. */
export function removeCookie(headers: HeaderList, removed: string): void {
  const remaining: string[] = [];
  let isFound = false;
  for (const line of headers.all('cookie'))
    forEachCookie(line, (name, _value, text) => {
      if (name === removed) isFound = true;
      else if (text !== '') remaining.push(text);
    });
  if (!isFound) return;
  headers.remove('cookie');
  if (remaining.length > 0) headers.append('Cookie', remaining.join('; '));
}
