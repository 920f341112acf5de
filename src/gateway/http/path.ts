import type { Settings } from '#base/settings.ts';

/**
 * One spelling for every path. It is made once, when a call arrives, and used for routing, rules, limits, rewriting, logs
 * and the upstream: what is matched is what is forwarded.
 */
export interface PathRules {
  /** `%2F` and `%5C` divide segments for some readers and not for others; unless kept they are refused. */
  readonly keepEncodedSlashes: boolean;
  /** `%25` before two hexadecimal digits is another path to readers that decode twice; unless kept it is refused. */
  readonly keepDoubleEncoding: boolean;
}

export const pathRulesOf = (settings: Settings): PathRules => ({
  keepEncodedSlashes: settings['gateway.encoded_slashes'] === 'keep',
  keepDoubleEncoding: settings['gateway.double_encoding'] === 'pass',
});

/** Patterns are run over paths: what is longer is no path anybody serves. */
export const maxPathLength = 8192;

/** Why a path is refused, in words for the caller. */
export interface InvalidPath {
  readonly fault: string;
}

/** Nothing to do: no escapes, no empty or dotted segments, only characters a path may hold as they are. */
const canonicalPattern = /^(?:\/(?!\.{0,2}(?:[/;]|$))[A-Za-z0-9\-._~!$&'()*+,;=:@]+)+\/?$|^\/$/;
const pathCharacter = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]$/;
const unreserved = /[A-Za-z0-9\-._~]/;

/** What a segment may hold as it is. */
export const isPathCharacter = (character: string): boolean => character !== '/' && pathCharacter.test(character);

export function canonicalizePath(path: string, rules: PathRules): string | InvalidPath {
  if (canonicalPattern.test(path)) return path;
  if (!path.startsWith('/')) return { fault: 'the path must begin with a slash' };
  const decoded = decodeUnreserved(path, rules);
  if (typeof decoded !== 'string') return decoded;
  // Some upstreams take the rest of a segment away before they look at its dots, or undo escaped slashes first.
  if (hiddenDots.test(decoded)) return { fault: 'the path hides dotted segments' };
  return removeDotSegments(decoded);
}

const hiddenDots = /(?:\/|%2F|%5C)\.{1,2}(?:;|%3B|%2F|%5C)|(?:%2F|%5C)\.{1,2}(?:\/|$)/;

/**
 * A canonical path as rules look at it. Characters that may stand in a path are the same to most upstreams escaped or not,
 * and to some they are not: so both spellings go on as they came, and both meet the same rules.
 */
export const normalizeForMatch = (path: string): string =>
  path.includes('%') ? path.replaceAll(/%(?:2[146-9A-C]|3[ABD]|40)/g, decodeEscape) : path;

/** Whether a path has `;` in it, behind which some readers see parameters of a segment, and others its name. */
export const hasMatrixParameters = (path: string): boolean => path.includes(';') || path.includes('%3B');

/** The same path as those read it who take parameters off its segments, in the spelling of rules. */
export const stripMatrixParameters = (path: string): string =>
  resolveDots(normalizeForMatch(path).replaceAll(/;[^/]*/g, ''));

const decodeEscape = (code: string) => String.fromCharCode(Number.parseInt(code.slice(1), 16));

const dotSegments = /\/\.{0,2}\/|\/\.{1,2}$/;

/** What was canonical may no longer be after something was cut off its front: it is made so again. */
export function resolveDots(path: string): string {
  const absolute = path.startsWith('/') ? path : `/${path}`;
  return dotSegments.test(absolute) ? removeDotSegments(absolute) : absolute;
}

/** Escapes that need not be are undone, those that stay are written one way, and what no path may hold is refused. */
function decodeUnreserved(path: string, { keepEncodedSlashes, keepDoubleEncoding }: PathRules): string | InvalidPath {
  let text = '';
  for (let i = 0; i < path.length; i++) {
    const character = path[i]!;
    if (character !== '%') {
      if (character === '\\') return { fault: 'the path holds a backslash' };
      if (character < '!' || character === '\u007f') return { fault: 'the path holds a control character or a space' };
      const code = character.charCodeAt(0);
      if (code > 0xff) return { fault: 'the path is not UTF-8' };
      // A byte above ASCII that came unescaped stays the byte it was.
      text += pathCharacter.test(character) ? character : percentEncode(code);
      continue;
    }
    const hex = path.slice(i + 1, i + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return { fault: 'the path holds a broken escape' };
    const code = Number.parseInt(hex, 16);
    if (code < 0x20 || code === 0x7f) return { fault: 'the path holds an escaped control character' };
    if ((code === 0x2f || code === 0x5c) && !keepEncodedSlashes) return { fault: 'the path holds an escaped slash' };
    if (code === 0x25 && !keepDoubleEncoding && /^[0-9A-Fa-f]{2}/.test(path.slice(i + 3, i + 5)))
      return { fault: 'the path is encoded twice' };
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

/** Dotted segments are resolved and empty ones dropped; whoever climbs above the root stays there. */
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

/** Not every way in keeps these out, and no upstream could be sent them. */
const invalidQueryCharacters = /[^!-~\x80-\xff]/;

/** Splits a request target into path and query; the absolute form gives its host too. */
export function splitTarget(target: string): { path: string; query: string; host?: string } | InvalidPath {
  let rest = target;
  let host: string | undefined;
  if (!target.startsWith('/')) {
    const absolute = /^https?:\/\/([^/?#@\s]+)([/?].*)?$/i.exec(target);
    if (!absolute) return { fault: 'the request target is neither a path nor an address' };
    host = absolute[1];
    rest = absolute[2] ?? '';
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  if (rest.includes('#')) return { fault: 'the request target holds a fragment' };
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (invalidQueryCharacters.test(query)) return { fault: 'the query holds a control character or a space' };
  return host === undefined ? { path, query } : { path, query, host };
}

export const isInvalidPath = (value: string | object): value is InvalidPath =>
  typeof value === 'object' && 'fault' in value;
