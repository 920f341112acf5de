import { RE2JS } from 're2js';
import { compileRegex, InvalidRegex } from '#base/regex.ts';

/** A segment of a listen path, or a host, with parameters in it. */
export interface PathTemplate {
  readonly names: readonly string[];
  /** What each parameter stands for; undefined where the text does not fit. */
  match(text: string): readonly string[] | undefined;
}

const segmentPattern = '[^/]+';
/** What a parameter of a host stands for unless it says otherwise. */
export const hostLabelPattern = '[^.]+';

const parameterPattern = /(\{[^}]*\}+)/;

/** `{name}` is one segment, of a host one label, `{name:pattern}` what the pattern fits; text around them is itself. */
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
      source += RE2JS.quote(part);
      continue;
    }
    groups.push([name, place]);
    source += `(${rule ?? defaultPattern})`;
    // A pattern may have groups of its own. It must be readable by itself, or it could close what it did not open.
    place += 1 + (rule === undefined ? 0 : compileRegex(rule).groupCount());
  }
  const compiled = compileRegex(source);
  return {
    names: groups.map(([name]) => name),
    match(given) {
      // Comparing text costs so much less that many patterns in one place are no burden to calls for others.
      if (!given.startsWith(before) || !given.endsWith(after)) return undefined;
      const matcher = compiled.matcher(given);
      return matcher.matches() ? groups.map(([, at]) => matcher.group(at) ?? '') : undefined;
    },
  };
}

/** What is written most often, one parameter that stands for anything up to the next divider, needs no pattern. */
function compileSingleParameter(name: string, before: string, after: string, divider: '.' | '/'): PathTemplate {
  const names = [name];
  return {
    names,
    match(given) {
      const end = given.length - after.length;
      if (end <= before.length || !given.startsWith(before) || !given.endsWith(after)) return undefined;
      const value = given.slice(before.length, end);
      return value.includes(divider) ? undefined : [value];
    },
  };
}

/** A host as calls name it: in small letters, without a final dot. In patterns, letters of either size mean something. */
export const normalizeHost = (name: string): string =>
  name
    .split(parameterPattern)
    .map((part, at) => (at % 2 === 1 ? part : part.toLowerCase()))
    .join('')
    .replace(/\.$/, '');

/** Why calls could not be compared with these segments of a path, or with this host; undefined when they can. */
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
