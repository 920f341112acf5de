import type { HeaderList } from './headers.ts';

interface Cookie {
  readonly name: string;
  /** Undefined where the pair has no `=`. */
  readonly value: string | undefined;
  /** The pair as it was sent, trimmed. */
  readonly text: string;
}

/** The cookie pairs of a request (RFC 6265, section 4.2.1). Every `Cookie` field counts; values stay as they are. */
function* iterateCookies(headers: HeaderList): Generator<Cookie> {
  for (const line of headers.all('cookie'))
    for (const pair of line.split(';')) {
      const text = pair.trim();
      const equals = text.indexOf('=');
      if (equals < 0) yield { name: text, value: undefined, text };
      else yield { name: text.slice(0, equals).trim(), value: text.slice(equals + 1).trim(), text };
    }
}

/** The first value of a cookie, without the quotes around it; empty where there is none. */
export function readCookie(headers: HeaderList, name: string): string {
  for (const cookie of iterateCookies(headers))
    if (cookie.name === name && cookie.value !== undefined) return cookie.value.replace(/^"(.*)"$/, '$1');
  return '';
}

/** Values by name, in the order they were sent. */
export function parseCookies(headers: HeaderList): Map<string, string[]> {
  const cookies = new Map<string, string[]>();
  for (const { name, value } of iterateCookies(headers)) {
    if (value === undefined) continue;
    const values = cookies.get(name);
    if (values) values.push(value);
    else cookies.set(name, [value]);
  }
  return cookies;
}

/** Removes every cookie of that name. A request without one keeps its `Cookie` fields as they are. */
export function removeCookie(headers: HeaderList, name: string): void {
  const cookies = [...iterateCookies(headers)];
  const remaining = cookies.filter(cookie => cookie.name !== name);
  if (remaining.length === cookies.length) return;
  headers.remove('cookie');
  const pairs = remaining.map(({ text }) => text).filter(Boolean);
  if (pairs.length > 0) headers.append('Cookie', pairs.join('; '));
}
