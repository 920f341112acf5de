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
  const end = closingParenthesis(source, start);
  return end < 0 ? undefined : { start, end, text: 'NEGATED' };
}

/** The place of the parenthesis that closes the one before `start`, or -1. */
function closingParenthesis(masked: string, start: number): number {
  let depth = 1;
  for (let at = start; at < masked.length; at++) {
    if (masked[at] === '(') depth++;
    else if (masked[at] === ')' && --depth === 0) return at;
  }
  return -1;
}

/** Every single mutation of a source that still parses. Declarations of types and log calls are left alone. */
export function mutationsOf(source: string): Mutation[] {
  const masked = maskLogCalls(maskTypes(maskSource(source)));
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

const logCall = /\b(?:\w+\.)*log\.(?:trace|debug|info|warn|error|fatal)\(/g;

/** Log calls change nothing that a client can observe: their level, text and fields are no fault of the product. */
function maskLogCalls(masked: string): string {
  let rest = masked;
  for (const { 0: call, index } of masked.matchAll(logCall)) {
    const end = closingParenthesis(masked, index + call.length) + 1;
    if (end > 0) rest = rest.slice(0, index) + rest.slice(index, end).replaceAll(/[^\n]/g, ' ') + rest.slice(end);
  }
  return rest;
}

function parses(source: string): boolean {
  try {
    stripTypeScriptTypes(source);
    return true;
  } catch {
    return false;
  }
}
