import { stripTypeScriptTypes } from 'node:module';
import { maskSource } from './source-mask.ts';

/** One single change of one file. */
export interface Mutation {
  readonly line: number;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

interface Operator {
  readonly kind: string;
  /** Found in the source without comments and texts. */
  readonly pattern: RegExp;
  readonly replace: (
    found: RegExpExecArray,
    source: string,
  ) => { start: number; end: number; text: string } | undefined;
}

const swap =
  (text: (found: string) => string): Operator['replace'] =>
  found => ({ start: found.index, end: found.index + found[0].length, text: text(found[0]) });

const swapped: Readonly<Record<string, string>> = {
  ' === ': ' !== ',
  ' !== ': ' === ',
  ' < ': ' <= ',
  ' <= ': ' < ',
  ' > ': ' >= ',
  ' >= ': ' > ',
  ' && ': ' || ',
  ' || ': ' && ',
  ' ?? ': ' && ',
  true: 'false',
  false: 'true',
};

/** Removes a whole line or the lines of one statement; the line breaks stay. */
const remove: Operator['replace'] = found => {
  const start = found.index + /^\s*/.exec(found[0])![0].length;
  return { start, end: found.index + found[0].length, text: found[0].includes('=>') ? '' : ';' };
};

const operators: readonly Operator[] = [
  { kind: 'comparison', pattern: / (?:===|!==|<=|>=|<|>) /g, replace: swap(found => swapped[found]!) },
  { kind: 'logic', pattern: / (?:&&|\|\||\?\?) /g, replace: swap(found => swapped[found]!) },
  { kind: 'boolean', pattern: /\b(?:true|false)\b(?!\s*[:?]|>)/g, replace: swap(found => swapped[found]!) },
  { kind: 'negated condition', pattern: /\b(?:if|while) \(/g, replace: negateCondition },
  { kind: 'removed guard', pattern: /^ *if \(.*\) (?:return\b.*|throw\b.*|continue|break);$/gm, replace: remove },
  { kind: 'removed call', pattern: /^ *(?:await |void )?[\w.!?]+\.?\w+\([^\n]*\);$/gm, replace: remove },
  { kind: 'removed assignment', pattern: /^ *[\w.#]+\.[\w#]+ (?:\?\?|\|\||\+|-)?= [^\n]*;$/gm, replace: remove },
  {
    kind: 'constant',
    pattern: /(?<= = |: |\()\d[\d_]*(?=[;,)])/g,
    replace: swap(found => (Number(found.replaceAll('_', '')) === 0 ? '1' : '0')),
  },
  { kind: 'arithmetic', pattern: / [+-] (?=[\w(])/g, replace: swap(found => (found === ' + ' ? ' - ' : ' + ')) },
  { kind: 'dropped await', pattern: /(?<=^ +)await (?=[\w.]+\()/gm, replace: swap(() => '') },
];

function negateCondition(found: RegExpExecArray, source: string): ReturnType<Operator['replace']> {
  const start = found.index + found[0].length;
  let depth = 1;
  for (let at = start; at < source.length; at++) {
    if (source[at] === '(') depth++;
    else if (source[at] === ')' && --depth === 0) return { start, end: at, text: 'NEGATED' };
  }
  return undefined;
}

/** Every single mutation of a source that still parses. Declarations of types are left alone. */
export function mutationsOf(source: string): Mutation[] {
  const masked = maskTypes(maskSource(source));
  const found: Mutation[] = [];
  for (const { kind, pattern, replace } of operators) {
    for (const match of masked.matchAll(pattern)) {
      const change = replace(match as RegExpExecArray, masked);
      if (!change) continue;
      const { start, end } = change;
      const text = change.text === 'NEGATED' ? `!(${source.slice(start, end)})` : change.text;
      const mutated = source.slice(0, start) + text + source.slice(end);
      if (!parses(mutated)) continue;
      const line = source.slice(0, start).split('\n').length;
      const lineOf = (text: string) => text.split('\n')[line - 1]!.trim();
      found.push({ line, kind, before: lineOf(source), after: lineOf(mutated), start, end, replacement: text });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

export const applyMutation = (source: string, { start, end, replacement }: Mutation): string =>
  source.slice(0, start) + replacement + source.slice(end);

/** Imports, interfaces and type aliases hold nothing that runs. */
const maskTypes = (masked: string): string =>
  masked.replaceAll(
    /^(?:import [^;]*;|(?:export )?interface \w+[^{]*\{[\s\S]*?^\}|(?:export )?type \w+[^=]*=[^;]*;)/gm,
    text => text.replaceAll(/[^\n]/g, ' '),
  );

function parses(source: string): boolean {
  try {
    stripTypeScriptTypes(source);
    return true;
  } catch {
    return false;
  }
}
