import type { Settings } from '#base/settings.ts';

/**
 * Canonical path, computed once per request and used for routing, rules, limits, rewriting, logs and the upstream: the
 * path that is matched is the path that is forwarded.
 */
export interface PathRules {
  /** `%2F` and `%5C` separate segments for some upstreams and not for others; refused unless kept. */
  readonly keepEncodedSlashes: boolean;
  /** `%25` before two hex digits is another path for upstreams that decode twice; refused unless kept. */
  readonly keepDoubleEncoding: boolean;
}

export const pathRulesOf = (settings: Settings): PathRules => ({
  keepEncodedSlashes: settings['gateway.encoded_slashes'] === 'keep',
  keepDoubleEncoding: settings['gateway.double_encoding'] === 'pass',
});

/** Bounds the input of path patterns. */
export const maxPathLength = 8192;

/** Reason of the refusal, for the client. */
export interface InvalidPath {
  readonly fault: string;
}

const pathCharacter = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]$/;
const unreserved = /[A-Za-z0-9\-._~]/;

/** True for characters that a segment holds unescaped (RFC 3986, 3.3). */
export const isPathCharacter = (character: string): boolean => character !== '/' && pathCharacter.test(character);

/** Path characters but the slash, by code. */
const segmentCodes = Uint8Array.from({ length: 256 }, (_none, code) =>
  Number(isPathCharacter(String.fromCharCode(code))),
);
const dot = 46;
const slash = 47;
const semicolon = 59;

/** Already canonical: no escapes, no empty or dot segments, only path characters. */
function isCanonical(path: string): boolean {
  const { length } = path;
  let i = 0;
  while (i < length) {
    if (path.charCodeAt(i++) !== slash) return false;
    if (i === length) return true;
    const start = i;
    while (path.charCodeAt(i) === dot) i++;
    // Dot segments, also before the parameters of a segment, and empty ones.
    if (i - start <= 2 && (i === length || path.charCodeAt(i) === slash || path.charCodeAt(i) === semicolon))
      return false;
    while (segmentCodes[path.charCodeAt(i)] === 1) i++;
  }
  return length > 0;
}

export function canonicalizePath(path: string, rules: PathRules): string | InvalidPath {
  if (isCanonical(path)) return path;
  if (!path.startsWith('/')) return { fault: 'the path must begin with a slash' };
  const decoded = decodeUnreserved(path, rules);
  if (typeof decoded !== 'string') return decoded;
  // Some upstreams cut the parameters of a segment before they resolve dots, or decode slashes first.
  if (hiddenDots.test(decoded)) return { fault: 'the path contains encoded dot segments' };
  return removeDotSegments(decoded);
}

const hiddenDots = /(?:\/|%2F|%5C)\.{1,2}(?:;|%3B|%2F|%5C)|(?:%2F|%5C)\.{1,2}(?:\/|$)/;

/**
 * Normalizes a canonical path for matching. Most upstreams treat reserved path characters the same escaped or not, some
 * do not: both forms are forwarded as received, and both match the same rules.
 */
export const normalizeForMatch = (path: string): string =>
  path.includes('%') ? path.replaceAll(/%(?:2[146-9A-C]|3[ABD]|40)/g, decodeEscape) : path;

/** True when `;` may begin matrix parameters, which only some upstreams interpret. */
export const hasMatrixParameters = (path: string): boolean => path.includes(';') || path.includes('%3B');

/** Path without matrix parameters, normalized for matching: the second reading of an ambiguous path. */
export const stripMatrixParameters = (path: string): string =>
  resolveDots(normalizeForMatch(path).replaceAll(/;[^/]*/g, ''));

const decodeEscape = (code: string) => String.fromCharCode(Number.parseInt(code.slice(1), 16));

const dotSegments = /\/\.{0,2}\/|\/\.{1,2}$/;

/** Resolves dot segments that stripping a prefix may expose. */
export function resolveDots(path: string): string {
  const absolute = path.startsWith('/') ? path : `/${path}`;
  return dotSegments.test(absolute) ? removeDotSegments(absolute) : absolute;
}

/**
 * Decodes unreserved characters, upper-cases the remaining escapes (RFC 3986, 6.2.2) and refuses what no path may
 * contain.
 */
function decodeUnreserved(path: string, { keepEncodedSlashes, keepDoubleEncoding }: PathRules): string | InvalidPath {
  let text = '';
  for (let i = 0; i < path.length; i++) {
    const character = path[i]!;
    if (character !== '%') {
      if (character === '\\') return { fault: 'the path contains a backslash' };
      if (character < '!' || character === '\u007f')
        return { fault: 'the path contains a control character or a space' };
      const code = character.charCodeAt(0);
      if (code > 0xff) return { fault: 'the path is not UTF-8' };
      // A raw byte above ASCII keeps its value.
      text += pathCharacter.test(character) ? character : percentEncode(code);
      continue;
    }
    const hex = path.slice(i + 1, i + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return { fault: 'the path contains an invalid percent-encoding' };
    const code = Number.parseInt(hex, 16);
    if (code < 0x20 || code === 0x7f) return { fault: 'the path contains a percent-encoded control character' };
    if ((code === 0x2f || code === 0x5c) && !keepEncodedSlashes)
      return { fault: 'the path contains a percent-encoded slash' };
    if (code === 0x25 && !keepDoubleEncoding && /^[0-9A-Fa-f]{2}/.test(path.slice(i + 3, i + 5)))
      return { fault: 'the path is percent-encoded twice' };
    const decoded = String.fromCharCode(code);
    text += code < 0x80 && unreserved.test(decoded) ? decoded : `%${hex.toUpperCase()}`;
    i += 2;
  }
  return isUtf8(text) ? text : { fault: 'the path is not UTF-8' };
}

const percentEncode = (code: number) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`;

function isUtf8(text: string): boolean {
  if (!/%[89A-F]/.test(text)) return true;
  try {
    decodeURIComponent(text.replaceAll(/%(?![89A-F])/g, '%25'));
    return true;
  } catch {
    return false;
  }
}

/** Removes dot segments (RFC 3986, 5.2.4) and empty ones; `..` above the root stays at the root. */
function removeDotSegments(path: string): string {
  const output: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '..') output.pop();
    else if (segment !== '.' && segment !== '') output.push(segment);
  }
  const last = segments.at(-1)!;
  const slash = output.length > 0 && (last === '' || last === '.' || last === '..') ? '/' : '';
  return `/${output.join('/')}${slash}`;
}

/** Not every protocol parser rejects these, and upstreams would. */
const invalidQueryCharacters = /[^!-~\x80-\xff]/;

/** Splits a request target into path and query; the absolute form (RFC 9112, 3.2.2) has a host too. */
export function splitTarget(target: string): { path: string; query: string; host?: string } | InvalidPath {
  let rest = target;
  let host: string | undefined;
  if (!target.startsWith('/')) {
    const absolute = /^https?:\/\/([^/?#@\s]+)([/?].*)?$/i.exec(target);
    if (!absolute) return { fault: 'the request target is neither a path nor an absolute URL' };
    host = absolute[1];
    rest = absolute[2] ?? '';
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  if (rest.includes('#')) return { fault: 'the request target contains a fragment' };
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (query !== '' && invalidQueryCharacters.test(query))
    return { fault: 'the query contains a control character or a space' };
  return host === undefined ? { path, query } : { path, query, host };
}

export const isInvalidPath = (value: string | object): value is InvalidPath =>
  typeof value === 'object' && 'fault' in value;
