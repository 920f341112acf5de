import { loadRe2 } from '#base/lazy-packages.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';

/** Template of a path segment or a host, with parameters. */
export interface PathTemplate {
  readonly names: readonly string[];
  /** Values of the parameters; undefined where the text does not match. */
  match(text: string): readonly string[] | undefined;
}

const segmentPattern = '[^/]+';
/** Default pattern of a host parameter: one label. */
export const hostLabelPattern = '[^.]+';

const parameterPattern = /(\{[^}]*\}+)/;

/**
 * Compiles a template: `{name}` is one segment, or one label of a host, `{name:pattern}` what the pattern matches;
 * other text is literal.
 */
export function compilePathTemplate(segment: string, defaultPattern = segmentPattern): PathTemplate {
  const parts = segment.split(parameterPattern);
  const [before, after] = [parts[0]!, parts.at(-1)!];
  const only = parts.length === 3 ? /^\{([^:}]*)\}$/.exec(parts[1]!)?.[1] : undefined;
  if (only !== undefined)
    return compileSingleParameter(only, before, after, defaultPattern === hostLabelPattern ? '.' : '/');
  const groups: (readonly [name: string, place: number])[] = [];
  let place = 1;
  let source = '';
  for (const part of parts) {
    const [, name, rule] = /^\{([^:}]*)(?::(.*))?\}$/.exec(part) ?? [];
    if (name === undefined) {
      source += loadRe2().RE2JS.quote(part);
      continue;
    }
    groups.push([name, place]);
    source += `(${rule ?? defaultPattern})`;
    // A pattern may contain groups. It is compiled separately, or unbalanced parentheses could escape their group.
    place += 1 + (rule === undefined ? 0 : compileRegex(rule).groupCount());
  }
  const compiled = compileRegex(source);
  return {
    names: groups.map(([name]) => name),
    match(text) {
      // Literal comparison first: it is so cheap that many templates in one place do not slow other routes.
      if (!text.startsWith(before) || !text.endsWith(after)) return undefined;
      const matcher = compiled.matcher(text);
      return matcher.matches() ? groups.map(([, at]) => matcher.group(at) ?? '') : undefined;
    },
  };
}

/** Fast path without a regular expression: one parameter up to the next separator, the most common template. */
function compileSingleParameter(name: string, before: string, after: string, divider: '.' | '/'): PathTemplate {
  const names = [name];
  return {
    names,
    match(text) {
      const end = text.length - after.length;
      if (end <= before.length || !text.startsWith(before) || !text.endsWith(after)) return undefined;
      const value = text.slice(before.length, end);
      return value.includes(divider) ? undefined : [value];
    },
  };
}

/** Normalizes a host: lower case, no trailing dot. Patterns are case-sensitive and stay as they are. */
export const normalizeHost = (name: string): string =>
  name
    .split(parameterPattern)
    .map((part, at) => (at % 2 === 1 ? part : part.toLowerCase()))
    .join('')
    .replace(/\.$/, '');

/** Error of the first segment that cannot be compiled; undefined when all can. */
export function findPathTemplateError(text: string, divider: '/' | ''): string | undefined {
  for (const segment of divider === '' ? [text] : text.split(divider)) {
    if (!segment.includes('{')) continue;
    try {
      compilePathTemplate(segment);
    } catch (error) {
      if (error instanceof InvalidRegex) return `${segment} ${error.message}`;
      throw error;
    }
  }
  return undefined;
}
