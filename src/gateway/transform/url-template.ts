import { ApiCompileError } from '../pipeline/step.ts';
import { parseVariables, type Variable, type VariableTools } from '../variables/variables.ts';
import type { Match } from './rewrite-pattern.ts';

/** A piece of a target: the author's own text, a group of the match, or a variable. */
export type Piece = string | { readonly group: number } | Variable;

/** Escapes what no address may hold as it is. */
export const respelt = (text: string): string =>
  text.replaceAll(/[^!-~]+|["<>^`{|}\\]/g, found => encodeURIComponent(found.toWellFormed()));

/** `$1` stands for a group that exists; any other `$` is itself. What groups and values hold is not looked at again. */
export function piecesOf(text: string, groups: number, services: VariableTools): Piece[] {
  const pieces: Piece[] = [];
  const [target = ''] = text.split('#', 1);
  for (const part of target.split(/(\$\d{1,2})/)) {
    const number = /^\$(\d)(\d?)$/.exec(part);
    const [group, left] = number ? groupIn(number, groups) : [undefined, part];
    if (group !== undefined) pieces.push({ group });
    if (left !== '') pieces.push(...parseVariables(left, services).map(written));
  }
  return pieces;
}

/** `$12` is the twelfth group, or where there are fewer the first one and a `2`. */
function groupIn([whole, tens, ones]: RegExpExecArray, groups: number): [group: number | undefined, left: string] {
  const both = Number(`${tens}${ones}`);
  if (both <= groups) return [both, ''];
  return Number(tens) <= groups ? [Number(tens), ones!] : [undefined, whole];
}

const written = (part: string | Variable): Piece => (typeof part === 'string' ? respelt(part) : part);

export interface Sections {
  /** Empty for a target below the API's own. */
  readonly scheme: string;
  readonly authority: readonly Piece[];
  readonly path: readonly Piece[];
  readonly query: readonly Piece[];
}

const absolute = /^(https?|h2c|wss?|gw):\/\//i;

/** By the author's own text alone: a capture is never taken for the end of a section. */
export function sectionsOf(pieces: readonly Piece[]): Sections {
  const [first] = pieces;
  const found = typeof first === 'string' ? absolute.exec(first) : null;
  if (typeof first === 'string' && !found && /^[a-z][a-z0-9+.-]*:\/\//i.test(first))
    throw new ApiCompileError(`the target of a rewrite ${JSON.stringify(first)} is not one a call can go to`);
  const rest = found ? withText((first as string).slice(found[0].length), pieces.slice(1)) : pieces;
  const [authority, below] = found ? cut(rest, /[/?]/) : [[], rest];
  const [path, query] = cut(below, /\?/);
  const scheme = found ? found[1]!.toLowerCase() : '';
  return { scheme, authority, path, query: withoutMark(query) };
}

const withText = (text: string, pieces: readonly Piece[]): readonly Piece[] =>
  text === '' ? pieces : [text, ...pieces];

function cut(pieces: readonly Piece[], mark: RegExp): [readonly Piece[], readonly Piece[]] {
  for (const [at, piece] of pieces.entries()) {
    const found = typeof piece === 'string' ? piece.search(mark) : -1;
    if (found < 0) continue;
    const text = piece as string;
    const before = [...pieces.slice(0, at), text.slice(0, found)].filter(it => it !== '');
    return [before, withText(text.slice(found), pieces.slice(at + 1))];
  }
  return [pieces, []];
}

function withoutMark([first, ...more]: readonly Piece[]): readonly Piece[] {
  if (first === undefined) return [];
  return typeof first === 'string' && first.startsWith('?') ? withText(first.slice(1), more) : [first, ...more];
}

const control = /^(?:method|loop_limit|check_limits)(?:=|$)/;

/** The pairs of a query that speak to the gateway, each by itself, and the others. */
export function queryPairs(query: readonly Piece[]): { controls: readonly Piece[][]; others: readonly Piece[] } {
  const pairs: Piece[][] = [[]];
  for (const piece of query) {
    if (typeof piece !== 'string') {
      pairs.at(-1)!.push(piece);
      continue;
    }
    const [first = '', ...more] = piece.split('&');
    if (first !== '') pairs.at(-1)!.push(first);
    for (const text of more) pairs.push(text === '' ? [] : [text]);
  }
  const isControl = ([first]: Piece[]) => typeof first === 'string' && control.test(first);
  const others = pairs.filter(pair => pair.length > 0 && !isControl(pair));
  return {
    controls: pairs.filter(isControl),
    others: others.flatMap((pair, at) => (at === 0 ? pair : ['&', ...pair])),
  };
}

/** What a pattern found in the address of a call. */
export interface Captured {
  text(group: number): string;
  /** The same as the value of a parameter. */
  asValue(group: number): string;
}

const dividers = /[&+#]/g;
const divided: Readonly<Record<string, string>> = { '&': '%26', '+': '%2B', '#': '%23' };

/** `queryAt` is where the query begins in what was searched. In a path `&` is a character like any other. */
export function captured({ texts, starts }: Match, queryAt: number, spelt: (text: string) => string): Captured {
  return {
    text: group => spelt(texts[group]!),
    asValue(group) {
      const whole = texts[group]!;
      const inPath = Math.max(0, Math.min(whole.length, queryAt - starts[group]!));
      const front = whole.slice(0, inPath).replaceAll(dividers, found => divided[found]!);
      return spelt(front + whole.slice(inPath));
    },
  };
}
