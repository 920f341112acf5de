import { ApiCompileError } from '../pipeline/step.ts';
import { parseVariables, type Variable, type VariableTools } from '../variables/variables.ts';
import type { PatternMatch } from './rewrite-pattern.ts';

/** A piece of a target: the author's own text, a group of the match, or a variable. */
export type TemplatePart = string | { readonly group: number } | Variable;

/** Escapes what no address may hold as it is. */
export const escapeUrl = (text: string): string =>
  text.replaceAll(/[^!-~]+|["<>^`{|}\\]/g, found => encodeURIComponent(found.toWellFormed()));

/** `$1` stands for a group that exists; any other `$` is itself. What groups and values hold is not looked at again. */
export function parseUrlTemplate(text: string, groups: number, services: VariableTools): TemplatePart[] {
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

/** `$12` is the twelfth group, or where there are fewer the first one and a `2`. */
function parseGroup([whole, tens, ones]: RegExpExecArray, groups: number): [group: number | undefined, left: string] {
  const both = Number(`${tens}${ones}`);
  if (both <= groups) return [both, ''];
  return Number(tens) <= groups ? [Number(tens), ones!] : [undefined, whole];
}

const toTemplatePart = (part: string | Variable): TemplatePart => (typeof part === 'string' ? escapeUrl(part) : part);

export interface UrlSections {
  /** Empty for a target below the API's own. */
  readonly scheme: string;
  readonly authority: readonly TemplatePart[];
  readonly path: readonly TemplatePart[];
  readonly query: readonly TemplatePart[];
}

const absolute = /^(https?|h2c|wss?|gw):\/\//i;

/** By the author's own text alone: a capture is never taken for the end of a section. */
export function splitSections(parts: readonly TemplatePart[]): UrlSections {
  const [first] = parts;
  const found = typeof first === 'string' ? absolute.exec(first) : null;
  if (typeof first === 'string' && !found && /^[a-z][a-z0-9+.-]*:\/\//i.test(first))
    throw new ApiCompileError(`the target of a rewrite ${JSON.stringify(first)} is not one a call can go to`);
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

/** The pairs of a query that speak to the gateway, each by itself, and the others. */
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

/** What a pattern found in the address of a call. */
export interface Captures {
  text(group: number): string;
  /** The same as the value of a parameter. */
  asValue(group: number): string;
}

const separators = /[&+#]/g;
const escapedSeparators: Readonly<Record<string, string>> = { '&': '%26', '+': '%2B', '#': '%23' };

/** `queryAt` is where the query begins in what was searched. In a path `&` is a character like any other. */
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
