import type { Settings } from '#base/settings.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { matchSpelling, mayStand } from '../http/path.ts';
import { operatorPattern } from './bounded-regex.ts';
import type { Exchange } from './exchange.ts';

/** Finds what a list of endpoints says about a call. The first entry that fits counts, and only that one. */
export interface EndpointMatcher<T> {
  find(call: Exchange, spell?: (path: string) => string): T | undefined;
  /** Every entry that fits, in order. */
  all(call: Exchange, spell?: (path: string) => string): T[];
}

export interface Endpoint {
  readonly path: string;
  /** Empty for any. */
  readonly method: string;
  readonly ignoreCase?: boolean;
}

export type MatchMode = Settings['gateway.endpoint_match'];

interface Compiled<T> {
  readonly place: number;
  readonly entry: T;
  readonly method: string;
  fits(path: string): boolean;
}

/** Entries by what can be looked up: the whole path, its first segment, or nothing. */
interface Index<T> {
  readonly exact: Map<string, Compiled<T>[]>;
  readonly byFirst: Map<string, Compiled<T>[]>;
  readonly anywhere: Compiled<T>[];
}

const emptyIndex = <T>(): Index<T> => ({ exact: new Map(), byFirst: new Map(), anywhere: [] });
const isEmpty = <T>({ exact, byFirst, anywhere }: Index<T>) =>
  exact.size === 0 && byFirst.size === 0 && anywhere.length === 0;

/** Undefined for an empty list: then there is nothing to look for. */
export function endpointMatcher<T extends Endpoint>(
  entries: readonly T[],
  { model, version, settings }: { model: Model; version: VersionModel; settings: Settings },
): EndpointMatcher<T> | undefined {
  if (entries.length === 0) return undefined;
  const mode = settings['gateway.endpoint_match'];
  const anyCase = settings['gateway.endpoint_ignore_case'] || version.version.ignoreCase;
  const sameCase = emptyIndex<T>();
  const bothCases = emptyIndex<T>();
  for (const [place, entry] of entries.entries()) {
    const ignoreCase = anyCase || entry.ignoreCase === true;
    add(ignoreCase ? bothCases : sameCase, { place, entry, ignoreCase, mode });
  }
  const hasBoth = !isEmpty(bothCases);
  const lookFor = (path: string, method: string): T | undefined => {
    const found = search(sameCase, path, method, undefined);
    return (hasBoth ? search(bothCases, path.toLowerCase(), method, found) : found)?.entry;
  };
  // HEAD is GET without the body (RFC 9110, 9.3.2): entries for GET hold for it, unless it has one of its own.
  const look = (path: string, method: string): T | undefined => {
    const found = lookFor(path, method);
    return method !== 'HEAD' || found?.method === 'HEAD' ? found : lookFor(path, 'GET');
  };
  const withoutVersion = versionRemover(model);
  return {
    find(call, spell = matchSpelling) {
      const inner = spell(call.innerPath);
      const bare = spell(withoutVersion(call));
      const found = (bare === inner ? undefined : look(bare, call.method)) ?? look(inner, call.method);
      // Whole paths count only for those who asked for loose matching: else `/a/b` could open `/b` of the API at `/a`.
      return found ?? (mode === 'strict' ? undefined : look(spell(call.path), call.method));
    },
    all(call, spell = matchSpelling) {
      const whole = mode === 'strict' ? [] : [call.path];
      const paths = new Set([withoutVersion(call), call.innerPath, ...whole].map(spell));
      const every = (method: string) =>
        [...paths].flatMap(path => [
          ...everyOne(sameCase, path, method),
          ...everyOne(bothCases, path.toLowerCase(), method),
        ]);
      const own = every(call.method);
      const found = call.method !== 'HEAD' || own.some(({ method }) => method === 'HEAD') ? own : every('GET');
      return [...new Set(found)].sort((a, b) => a.place - b.place).map(({ entry }) => entry);
    },
  };
}

function search<T>(index: Index<T>, path: string, method: string, best: Compiled<T> | undefined) {
  const trimmed = withoutSlash(path);
  const end = path.indexOf('/', 1);
  let found = earlier(index.exact.get(trimmed), path, method, best);
  if (index.byFirst.size > 0)
    found = earlier(index.byFirst.get(path.slice(1, end < 0 ? undefined : end)), path, method, found);
  return index.anywhere.length > 0 ? earlier(index.anywhere, path, method, found) : found;
}

function everyOne<T>({ exact, byFirst, anywhere }: Index<T>, path: string, method: string): Compiled<T>[] {
  const end = path.indexOf('/', 1);
  const first = byFirst.get(path.slice(1, end < 0 ? undefined : end)) ?? [];
  return [...(exact.get(withoutSlash(path)) ?? []), ...first, ...anywhere].filter(
    it => (it.method === '' || it.method === method) && it.fits(path),
  );
}

/** The first of the list that fits, unless a better one is known. */
function earlier<T>(
  list: readonly Compiled<T>[] | undefined,
  path: string,
  method: string,
  best: Compiled<T> | undefined,
): Compiled<T> | undefined {
  if (list === undefined) return best;
  for (const it of list) {
    if (best && it.place > best.place) return best;
    if ((it.method === '' || it.method === method) && it.fits(path)) return it;
  }
  return best;
}

const withoutSlash = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

interface Adding<T> {
  readonly place: number;
  readonly entry: T;
  readonly ignoreCase: boolean;
  readonly mode: MatchMode;
}

function add<T extends Endpoint>(index: Index<T>, { place, entry, ignoreCase, mode }: Adding<T>): void {
  const text = mode === 'strict' ? anchorless(entry.path) : entry.path;
  const compiled = { place, entry, method: entry.method };
  if (mode === 'strict' && literal.test(text)) {
    append(index.exact, cased(withoutSlash(normalised(text)), ignoreCase), { ...compiled, fits: always });
    return;
  }
  const it = { ...compiled, fits: pathPattern(entry.path, mode, ignoreCase) };
  const first = mode === 'strict' ? firstSegment(text) : undefined;
  if (first === undefined) index.anywhere.push(it);
  else append(index.byFirst, cased(normalised(first), ignoreCase), it);
}

const cased = (text: string, ignoreCase: boolean) => (ignoreCase ? text.toLowerCase() : text);

const always = () => true;

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Endpoint patterns are regular expressions: `.` is any character, and a full stop where it is escaped or written `%2E`. */
const literal = /^[\w\-~!@&=,;:'%/ \u0080-\uffff]*$/;
/** A fixed segment, followed by another one: nothing behind it can reach back and change it. */
const fixedFirst = /^\/([\w\-~!@&=,;:'%]+)(?:$|\/(?![?*+]|\{\d))/;

function firstSegment(text: string): string | undefined {
  return text.includes('|') ? undefined : fixedFirst.exec(rewritten(text))?.[1];
}

/** Paths are looked up in one spelling; patterns are brought to the same. What stood escaped stands for itself. */
const normalised = (text: string, quoted: (character: string) => string = character => character) =>
  text
    .replaceAll(/[ \u0080-\uffff]+/g, part => encodeURIComponent(part))
    .replaceAll(/%[0-9a-f]{2}/gi, code => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return mayStand(character) ? quoted(character) : code.toUpperCase();
    });
const inPattern = (text: string) => text.replaceAll(/[.$()*+]/g, '\\$&');

/** Whoever wrote the anchors that strict matching adds meant the same; a pattern begins with a slash, as paths do. */
function anchorless(text: string): string {
  const bare = text.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  return /^[/([.\\*]/.test(bare) ? bare : `/${bare}`;
}

const isRepeat = (inside: string) => /^\d+(,\d*)?$/.test(inside);

/** What endpoint patterns may hold beside regular expressions: `{name}`, `{name:pattern}`, and `*` for segments. */
const rewritten = (text: string) =>
  text
    .replaceAll(/\{([\w.-]+):((?:[^{}]|\{\d[\d,]*\})*)\}/g, '(?:$2)')
    .replaceAll(/\{([^{}]*)\}/g, (whole, inside: string) => (isRepeat(inside) ? whole : '[^/]+'))
    .replaceAll('/*/', '/[^/]+/')
    .replaceAll('/*', '/.*');

/** One segment of a template: text, with at most one open part. More could be made to take long. */
const templateSegment = /^[\w\-~!@&=,;:'% \u0080-\uffff]*(\{[\w.-]*\}[\w\-~!@&=,;:'% \u0080-\uffff]*)?$|^\*$/;

/** A template is matched natively: it is written here, and cannot be made to run long. */
function template(text: string, flags: string): RegExp | undefined {
  const segments = withoutSlash(text).split('/').slice(1);
  if (!text.startsWith('/') || !segments.every(segment => templateSegment.test(segment))) return undefined;
  const parts = segments.map((segment, at) => {
    if (segment === '*') return at === segments.length - 1 ? '.*' : '[^/]+';
    return segment
      .split(/(\{[^}]*\})/)
      .map(part => (part.startsWith('{') ? '[^/]+' : inPattern(normalised(part))))
      .join('');
  });
  return new RegExp(`^/${parts.join('/')}/?$`, flags);
}

/** Whether a path fits a pattern, compiled once. A pattern nobody can read makes its API unservable. */
export function pathPattern(given: string, mode: MatchMode, ignoreCase = false): (path: string) => boolean {
  const text = mode === 'strict' ? anchorless(given) : given;
  const simple = mode === 'strict' ? template(text, ignoreCase ? 'i' : '') : undefined;
  if (simple) return path => simple.test(matchSpelling(path));
  const source = normalised(rewritten(text), inPattern);
  const begins = mode === 'strict' || (mode === 'prefix' && source.startsWith('/')) ? '^' : '';
  const ends = mode === 'strict' ? '/?$' : mode === 'suffix' ? '$' : '';
  const what = `the endpoint pattern ${JSON.stringify(shortened(given))}`;
  // Readable by itself, or it could close what it did not open, and be rid of the anchors.
  operatorPattern(what, source);
  const compiled = operatorPattern(what, `${begins}(?:${source})${ends}`, { ignoreCase });
  return path => compiled.test(matchSpelling(path));
}

const mostShown = 100;
const shortened = (text: string) => (text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);

/** Where the version is a segment that stays in the path, endpoints are written without it. */
function versionRemover(model: Model): (call: Exchange) => string {
  const { location, stripVersioningData, enabled } = model.versioning;
  const inPath = location === 'url' && !stripVersioningData && (enabled || !model.versionData.notVersioned);
  if (!inPath) return call => call.innerPath;
  const { slug } = model.identity;
  return ({ innerPath, versionName }) => {
    const start = slug !== '' && innerPath.startsWith(`/${slug}/`) ? slug.length + 1 : 0;
    const segment = `/${versionName}`;
    if (versionName === '' || !innerPath.startsWith(segment, start)) return innerPath;
    const rest = innerPath.slice(start + segment.length);
    return rest === '' || rest.startsWith('/') ? innerPath.slice(0, start) + (rest || '/') : innerPath;
  };
}
