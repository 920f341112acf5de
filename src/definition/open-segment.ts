import { RE2JS } from 're2js';
import { compiledPattern, UnreadablePattern } from '#base/pattern.ts';

/** A segment of a listen path, or a host, with parameters in it. */
export interface OpenPattern {
  readonly names: readonly string[];
  /** What each parameter stands for; undefined where the text does not fit. */
  match(text: string): readonly string[] | undefined;
}

const segmentText = '[^/]+';
/** What a parameter of a host stands for unless it says otherwise. */
export const hostLabel = '[^.]+';

/** `{name}` is one segment, of a host one label, `{name:pattern}` what the pattern fits; text around them is itself. */
export function openPattern(segment: string, usual = segmentText): OpenPattern {
  const groups: (readonly [name: string, place: number])[] = [];
  let place = 1;
  let source = '';
  for (const part of segment.split(/(\{[^}]*\}+)/)) {
    const [, name, rule] = /^\{([^:}]*)(?::(.*))?\}$/.exec(part) ?? [];
    if (name === undefined) {
      source += RE2JS.quote(part);
      continue;
    }
    groups.push([name, place]);
    source += `(${rule ?? usual})`;
    // A pattern may have groups of its own. It must be readable by itself, or it could close what it did not open.
    place += 1 + (rule === undefined ? 0 : compiledPattern(rule).groupCount());
  }
  const compiled = compiledPattern(source);
  return {
    names: groups.map(([name]) => name),
    match(given) {
      const matcher = compiled.matcher(given);
      return matcher.matches() ? groups.map(([, at]) => matcher.group(at) ?? '') : undefined;
    },
  };
}

/** A host as calls name it: in small letters, without a final dot. In patterns, letters of either size mean something. */
export const hostSpelling = (name: string): string =>
  name
    .split(/(\{[^}]*\}+)/)
    .map((part, at) => (at % 2 === 1 ? part : part.toLowerCase()))
    .join('')
    .replace(/\.$/, '');

/** Why calls could not be compared with these segments of a path, or with this host; undefined when they can. */
export function openFault(text: string, divider: '/' | ''): string | undefined {
  for (const segment of divider === '' ? [text] : text.split(divider)) {
    if (!segment.includes('{')) continue;
    try {
      openPattern(segment);
    } catch (error) {
      if (error instanceof UnreadablePattern) return `${segment} ${error.message}`;
      throw error;
    }
  }
  return undefined;
}
