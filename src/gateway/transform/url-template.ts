import { ApiCompileError } from '../pipeline/step.ts';
import { parseVariables, type Variable, type VariableServices } from '../variables/variables.ts';
import type { PatternMatch } from './rewrite-pattern.ts';

/** Part of a template: literal text, a capture group, or a variable. */
export type TemplatePart = string | { readonly group: number } | Variable;

/** Percent-encodes characters that no URL may contain. */
export const escapeUrl = (text: string): string =>
  text.replaceAll(/[^!-~]+|["<>^`{|}\\]/g, found => encodeURIComponent(found.toWellFormed()));

/** `$1` is an existing group; any other `$` is literal. Captured values are not expanded again. */
export function parseUrlTemplate(text: string, groups: number, services: VariableServices): TemplatePart[] {
  const parts: TemplatePart[] = [];
  const [target = ''] = text.split('#', 1);
  for (const part of target.split(/(\$\d{1,2})/)) {
    const number = /^\$(\d)(\d?)$/.exec(part);
    const [group, left] = number ? parseGroup(number, groups) : [undefined, part];
    if (group !== undefined) parts.push({ group });
    if (left !== '') parts.push(...parseVariables(left, services).map(toTemplatePart));
  }
  return parts;
}

/** `$12` is group 12, or with fewer groups group 1 followed by `2`. */
function parseGroup([whole, tens, ones]: RegExpExecArray, groups: number): [group: number | undefined, left: string] {
  const both = Number(`${tens}${ones}`);
  if (both <= groups) return [both, ''];
  return Number(tens) <= groups ? [Number(tens), ones!] : [undefined, whole];
}

const toTemplatePart = (part: string | Variable): TemplatePart => (typeof part === 'string' ? escapeUrl(part) : part);

export interface UrlSections {
  /** Empty for a target relative to the API. */
  readonly scheme: string;
  readonly authority: readonly TemplatePart[];
  readonly path: readonly TemplatePart[];
  readonly query: readonly TemplatePart[];
}

const absolute = /^(https?|h2c|wss?|gw):\/\//i;

/** Splits by literal text only: a capture never ends a section. */
export function splitSections(parts: readonly TemplatePart[]): UrlSections {
  const [first] = parts;
  const found = typeof first === 'string' ? absolute.exec(first) : null;
  if (typeof first === 'string' && !found && /^[a-z][a-z0-9+.-]*:\/\//i.test(first))
    throw new ApiCompileError(`the rewrite target ${JSON.stringify(first)} has an unsupported scheme`);
  const rest = found ? prependText((first as string).slice(found[0].length), parts.slice(1)) : parts;
  const [authority, below] = found ? splitAt(rest, /[/?]/) : [[], rest];
  const [path, query] = splitAt(below, /\?/);
  const scheme = found ? found[1]!.toLowerCase() : '';
  return { scheme, authority, path, query: dropQuestionMark(query) };
}

const prependText = (text: string, parts: readonly TemplatePart[]): readonly TemplatePart[] =>
  text === '' ? parts : [text, ...parts];

function splitAt(parts: readonly TemplatePart[], mark: RegExp): [readonly TemplatePart[], readonly TemplatePart[]] {
  for (const [i, part] of parts.entries()) {
    const found = typeof part === 'string' ? part.search(mark) : -1;
    if (found < 0) continue;
    const text = part as string;
    const before = [...parts.slice(0, i), text.slice(0, found)].filter(it => it !== '');
    return [before, prependText(text.slice(found), parts.slice(i + 1))];
  }
  return [parts, []];
}

function dropQuestionMark([first, ...more]: readonly TemplatePart[]): readonly TemplatePart[] {
  if (first === undefined) return [];
  return typeof first === 'string' && first.startsWith('?') ? prependText(first.slice(1), more) : [first, ...more];
}

const control = /^(?:method|loop_limit|check_limits)(?:=|$)/;

/** Splits loop control parameters from the other query parameters. */
export function splitQueryPairs(query: readonly TemplatePart[]): {
  controls: readonly TemplatePart[][];
  others: readonly TemplatePart[];
} {
  const pairs: TemplatePart[][] = [[]];
  for (const part of query) {
    if (typeof part !== 'string') {
      pairs.at(-1)!.push(part);
      continue;
    }
    const [first = '', ...more] = part.split('&');
    if (first !== '') pairs.at(-1)!.push(first);
    for (const text of more) pairs.push(text === '' ? [] : [text]);
  }
  const isControl = ([first]: TemplatePart[]) => typeof first === 'string' && control.test(first);
  const others = pairs.filter(pair => pair.length > 0 && !isControl(pair));
  return {
    controls: pairs.filter(isControl),
    others: others.flatMap((pair, at) => (at === 0 ? pair : ['&', ...pair])),
  };
}

/** Captures of a URL match. */
export interface Captures {
  text(group: number): string;
  /** Escaped as a parameter value. */
  asValue(group: number): string;
}

const separators = /[&+#]/g;
const escapedSeparators: Readonly<Record<string, string>> = { '&': '%26', '+': '%2B', '#': '%23' };

/** `queryAt`: start of the query in the matched text. In a path `&` is an ordinary character. */
export function createCaptures(
  { texts, starts }: PatternMatch,
  queryAt: number,
  escapeText: (text: string) => string,
): Captures {
  return {
    text: group => escapeText(texts[group]!),
    asValue(group) {
      const whole = texts[group]!;
      const inPath = Math.max(0, Math.min(whole.length, queryAt - starts[group]!));
      const front = whole.slice(0, inPath).replaceAll(separators, found => escapedSeparators[found]!);
      return escapeText(front + whole.slice(inPath));
    },
  };
}
