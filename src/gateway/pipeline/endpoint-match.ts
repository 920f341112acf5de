import type { Settings } from '#base/settings.ts';
import { isPathCharacter, normalizeForMatch } from '../http/path.ts';
import { compileBoundedRegex } from './bounded-regex.ts';
import type { Endpoint, EndpointMatcher } from './endpoint-matcher.ts';
import type { Exchange } from './exchange.ts';
import type { StepContext } from './step.ts';
import { createVirtualMatcher } from './virtual-match.ts';

export type { Endpoint, EndpointMatcher };

export type MatchMode = Settings['gateway.endpoint_match'];

interface CompiledEntry<T> {
  readonly position: number;
  readonly entry: T;
  readonly method: string;
  matches(path: string): boolean;
}

/** Index of entries: by whole path, by first segment, and those that can be indexed by neither. */
interface Index<T> {
  readonly exact: Map<string, CompiledEntry<T>[]>;
  readonly byFirstSegment: Map<string, CompiledEntry<T>[]>;
  readonly unindexed: CompiledEntry<T>[];
}

const emptyIndex = <T>(): Index<T> => ({ exact: new Map(), byFirstSegment: new Map(), unindexed: [] });
const isEmpty = <T>({ exact, byFirstSegment, unindexed }: Index<T>) =>
  exact.size === 0 && byFirstSegment.size === 0 && unindexed.length === 0;

/** Parts of a definition and settings that decide how endpoints match. */
export interface MatcherContext extends Pick<StepContext, 'model' | 'version'> {
  readonly settings: Settings;
}

/** Undefined for an empty list. */
export function createEndpointMatcher<T extends Endpoint>(
  entries: readonly T[],
  context: MatcherContext,
): EndpointMatcher<T> | undefined {
  return context.model.format === 'mcp'
    ? createVirtualMatcher(entries, httpEntries => createHttpMatcher(httpEntries, context))
    : createHttpMatcher(entries, context);
}

function createHttpMatcher<T extends Endpoint>(
  entries: readonly T[],
  { model, version, settings }: MatcherContext,
): EndpointMatcher<T> | undefined {
  if (entries.length === 0) return undefined;
  const mode = settings['gateway.endpoint_match'];
  const ignoresCase = settings['gateway.endpoint_ignore_case'] || version.version.ignoreCase;
  const caseSensitive = emptyIndex<T>();
  const caseInsensitive = emptyIndex<T>();
  for (const [position, entry] of entries.entries()) {
    const ignoreCase = ignoresCase || entry.ignoreCase === true;
    addEntry(ignoreCase ? caseInsensitive : caseSensitive, { position, entry, ignoreCase, mode });
  }
  const hasCaseInsensitive = !isEmpty(caseInsensitive);
  const findForMethod = (path: string, method: string): T | undefined => {
    const found = findFirst(caseSensitive, path, method, undefined);
    return (hasCaseInsensitive ? findFirst(caseInsensitive, path.toLowerCase(), method, found) : found)?.entry;
  };
  // HEAD is GET without the body (RFC 9110, 9.3.2): entries for GET apply to it unless one for HEAD matches.
  const findEntry = (path: string, method: string): T | undefined => {
    const found = findForMethod(path, method);
    return method !== 'HEAD' || found?.method === 'HEAD' ? found : findForMethod(path, 'GET');
  };
  const removeVersion = createVersionRemover(model);
  return {
    find(call, normalize = normalizeForMatch) {
      const inner = normalize(call.innerPath);
      const bare = normalize(removeVersion(call));
      const found = (bare === inner ? undefined : findEntry(bare, call.method)) ?? findEntry(inner, call.method);
      // Whole paths match in the loose modes only: else `/a/b` could open `/b` of the API at `/a`.
      return found ?? (mode === 'strict' ? undefined : findEntry(normalize(call.path), call.method));
    },
    all(call, normalize = normalizeForMatch) {
      const whole = mode === 'strict' ? [] : [call.path];
      const paths = new Set([removeVersion(call), call.innerPath, ...whole].map(normalize));
      const findAllForMethod = (method: string) =>
        [...paths].flatMap(path => [
          ...findAll(caseSensitive, path, method),
          ...findAll(caseInsensitive, path.toLowerCase(), method),
        ]);
      const own = findAllForMethod(call.method);
      const found =
        call.method !== 'HEAD' || own.some(({ method }) => method === 'HEAD') ? own : findAllForMethod('GET');
      return [...new Set(found)].sort((a, b) => a.position - b.position).map(({ entry }) => entry);
    },
  };
}

function findFirst<T>(index: Index<T>, path: string, method: string, best: CompiledEntry<T> | undefined) {
  const trimmed = trimTrailingSlash(path);
  const end = path.indexOf('/', 1);
  let found = firstMatch(index.exact.get(trimmed), path, method, best);
  if (index.byFirstSegment.size > 0)
    found = firstMatch(index.byFirstSegment.get(path.slice(1, end < 0 ? undefined : end)), path, method, found);
  return index.unindexed.length > 0 ? firstMatch(index.unindexed, path, method, found) : found;
}

function findAll<T>({ exact, byFirstSegment, unindexed }: Index<T>, path: string, method: string): CompiledEntry<T>[] {
  const end = path.indexOf('/', 1);
  const first = byFirstSegment.get(path.slice(1, end < 0 ? undefined : end)) ?? [];
  return [...(exact.get(trimTrailingSlash(path)) ?? []), ...first, ...unindexed].filter(
    it => (it.method === '' || it.method === method) && it.matches(path),
  );
}

/** First matching entry of the list, unless `best` precedes it. */
function firstMatch<T>(
  list: readonly CompiledEntry<T>[] | undefined,
  path: string,
  method: string,
  best: CompiledEntry<T> | undefined,
): CompiledEntry<T> | undefined {
  if (list === undefined) return best;
  for (const it of list) {
    if (best && it.position > best.position) return best;
    if ((it.method === '' || it.method === method) && it.matches(path)) return it;
  }
  return best;
}

const trimTrailingSlash = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

interface EntryOptions<T> {
  readonly position: number;
  readonly entry: T;
  readonly ignoreCase: boolean;
  readonly mode: MatchMode;
}

function addEntry<T extends Endpoint>(index: Index<T>, { position, entry, ignoreCase, mode }: EntryOptions<T>): void {
  const text = mode === 'strict' ? stripAnchors(entry.path) : entry.path;
  const compiled = { position, entry, method: entry.method };
  if (mode === 'strict' && literal.test(text)) {
    append(index.exact, foldCase(trimTrailingSlash(normalizePattern(text)), ignoreCase), {
      ...compiled,
      matches: always,
    });
    return;
  }
  const it = { ...compiled, matches: compilePathPattern(entry.path, mode, ignoreCase) };
  const first = mode === 'strict' ? firstSegment(text) : undefined;
  if (first === undefined) index.unindexed.push(it);
  else append(index.byFirstSegment, foldCase(normalizePattern(first), ignoreCase), it);
}

const foldCase = (text: string, ignoreCase: boolean) => (ignoreCase ? text.toLowerCase() : text);

const always = () => true;

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Literal path. Endpoint patterns are regular expressions, so `.` is not literal unless escaped or `%2E`. */
const literal = /^[\w\-~!@&=,;:'%/ \u0080-\uffff]*$/;
/** Fixed first segment, followed by another one: no quantifier behind it can change it. */
const fixedFirst = /^\/([\w\-~!@&=,;:'%]+)(?:$|\/(?![?*+]|\{\d))/;

function firstSegment(text: string): string | undefined {
  return text.includes('|') ? undefined : fixedFirst.exec(expandPlaceholders(text))?.[1];
}

/** Normalizes a pattern as paths are normalized; what was percent-encoded is literal. */
const normalizePattern = (text: string, quote: (character: string) => string = character => character) =>
  text
    .replaceAll(/[ \u0080-\uffff]+/g, part => encodeURIComponent(part))
    .replaceAll(/%[0-9a-f]{2}/gi, code => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return isPathCharacter(character) ? quote(character) : code.toUpperCase();
    });
const escapeRegex = (text: string) => text.replaceAll(/[.$()*+]/g, '\\$&');

/** Strips the anchors that strict matching adds itself, and adds the leading slash of paths. */
function stripAnchors(text: string): string {
  const bare = text.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  return /^[/([.\\*]/.test(bare) ? bare : `/${bare}`;
}

const isQuantifier = (inside: string) => /^\d+(,\d*)?$/.test(inside);

/** Expands `{name}`, `{name:pattern}` and `*` (segments) to regular expressions. */
const expandPlaceholders = (text: string) =>
  text
    .replaceAll(/\{([\w.-]+):((?:[^{}]|\{\d[\d,]*\})*)\}/g, '(?:$2)')
    .replaceAll(/\{([^{}]*)\}/g, (whole, inside: string) => (isQuantifier(inside) ? whole : '[^/]+'))
    .replaceAll('/*/', '/[^/]+/')
    .replaceAll('/*', '/.*');

/** Segment of a template: text with at most one placeholder. More could backtrack. */
const templateSegment = /^[\w\-~!@&=,;:'% \u0080-\uffff]*(\{[\w.-]*\}[\w\-~!@&=,;:'% \u0080-\uffff]*)?$|^\*$/;

/** Compiles a template to a native RegExp: generated here, so it runs in linear time. */
function compileTemplatePattern(text: string, flags: string): RegExp | undefined {
  const segments = trimTrailingSlash(text).split('/').slice(1);
  if (!text.startsWith('/') || !segments.every(segment => templateSegment.test(segment))) return undefined;
  const parts = segments.map((segment, i) => {
    if (segment === '*') return i === segments.length - 1 ? '.*' : '[^/]+';
    return segment
      .split(/(\{[^}]*\})/)
      .map(part => (part.startsWith('{') ? '[^/]+' : escapeRegex(normalizePattern(part))))
      .join('');
  });
  return new RegExp(`^/${parts.join('/')}/?$`, flags);
}

/** Compiles a pattern to a predicate. An invalid one fails the API. */
export function compilePathPattern(pattern: string, mode: MatchMode, ignoreCase = false): (path: string) => boolean {
  const text = mode === 'strict' ? stripAnchors(pattern) : pattern;
  const simple = mode === 'strict' ? compileTemplatePattern(text, ignoreCase ? 'i' : '') : undefined;
  if (simple) return path => simple.test(normalizeForMatch(path));
  const source = normalizePattern(expandPlaceholders(text), escapeRegex);
  const prefix = mode === 'strict' || (mode === 'prefix' && source.startsWith('/')) ? '^' : '';
  const suffix = mode === 'strict' ? '/?$' : mode === 'suffix' ? '$' : '';
  const what = `the endpoint pattern ${JSON.stringify(truncate(pattern))}`;
  // Valid by itself, or it could close the group around it and escape the anchors.
  compileBoundedRegex(what, source);
  const compiled = compileBoundedRegex(what, `${prefix}(?:${source})${suffix}`, { ignoreCase });
  return path => compiled.test(normalizeForMatch(path));
}

const maxQuotedLength = 100;
const truncate = (text: string) => (text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}…` : text);

/** Removes the version segment: endpoints are written without it also where it stays in the path. */
function createVersionRemover(model: MatcherContext['model']): (call: Exchange) => string {
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
