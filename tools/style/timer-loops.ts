import { functionsOf } from './source-facts.ts';

/** Call graph of one file: each function by name, with the names of the file's functions in its own body. */
type CallGraph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Timer loops written by hand: every `setInterval`, and every `setTimeout` whose callback reaches the function that
 * sets it. Each is given as the name of that function.
 */
export function findTimerLoops(text: string): string[] {
  const lines = text.replaceAll(/^[ \t]*(\/?\*|\/\/).*$/gm, '').split('\n');
  const functions = functionsOf(text);
  const names = new Set(functions.map(it => it.name));
  const innermost = (line: number) =>
    functions.findLast(it => it.line <= line && line < it.line + it.lines)?.name ?? '(file)';
  const graph = new Map<string, Set<string>>([...names].map(name => [name, new Set()]));
  for (const [index, line] of lines.entries())
    for (const name of namesIn(line, names)) if (!declares(line, name)) graph.get(innermost(index + 1))?.add(name);
  return lines.flatMap((line, index) => {
    const setter = innermost(index + 1);
    if (/(?<![.\w])setInterval\(/.test(line)) return [setter];
    const start = line.search(/(?<![.\w])setTimeout\(/);
    if (start < 0) return [];
    const callback = argumentsFrom([line.slice(start), ...lines.slice(index + 1)].join('\n'));
    return namesIn(callback, names).some(name => reaches(graph, name, setter)) ? [setter] : [];
  });
}

const namesIn = (text: string, names: ReadonlySet<string>) =>
  [...text.matchAll(/(?<![\w.'"]|\.\.)(?:this\.)?(#?[A-Za-z]\w*)(?!\w*['":])/g)]
    .map(match => match[1]!)
    .filter(it => names.has(it));

const declares = (line: string, name: string) => functionsOf(`${line}\n`).some(it => it.name === name);

/** The text of a call from its name to its closing parenthesis. */
function argumentsFrom(text: string): string {
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if (character === '(') depth++;
    if (character === ')' && --depth === 0) return text.slice(0, index + 1);
  }
  return text;
}

function reaches(graph: CallGraph, from: string, target: string, seen = new Set<string>()): boolean {
  if (from === target) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(graph.get(from) ?? [])].some(next => reaches(graph, next, target, seen));
}
