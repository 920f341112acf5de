/** What the style report counts in one file. By regular expression: the files are formatted, so this is exact enough. */

export interface SourceFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

const declaration = /^(\s*)(?:export )?(?:default )?(?:async )?function\*? (\w+)/;
const arrow =
  /^(\s*)(?:export )?const (\w+)(?:: [^=]+)? = (?:async )?(?:<[^>]*>)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)(?:: [^=]+)? =>|\w+ =>|\($)/;
const method = /^(\s+)(?:(?:static|async|override|private|readonly) )*\*?(#?\w+)(?:<[^>]*>)?\(.*\)(?:: .+)? \{$/;
const notMethods = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'function',
  'return',
  'with',
  'super',
  'constructor',
]);

/** Functions, arrow constants and methods, each with the number of its lines. */
export function functionsOf(text: string): SourceFunction[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const match = declaration.exec(line) ?? arrow.exec(line) ?? method.exec(line);
    if (!match || notMethods.has(match[2]!)) return [];
    return [{ name: match[2]!, line: index + 1, lines: lengthFrom(lines, index, match[1]!) }];
  });
}

/** Formatted code: a block that is open at the end of its first line closes at the same indentation. */
function lengthFrom(lines: readonly string[], start: number, indent: string): number {
  if (!/[{([]$/.test(lines[start]!)) return 1;
  let end = start + 1;
  while (
    end < lines.length &&
    !(lines[end]!.startsWith(indent) && /^[)}\]]/.test(lines[end]!.slice(indent.length)) && !/[{([]$/.test(lines[end]!))
  )
    end++;
  return end - start + 1;
}

/** The text of each comment; lines of one block or of one run of `//` lines belong together. */
export function commentsOf(text: string): string[] {
  const found: string[] = [];
  const pattern = /\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/.*\n?)+)|(?<=[;{,)}] )\/\/(.*)$/gm;
  for (const [, block, run, trailing] of text.matchAll(pattern))
    found.push((block ?? run ?? trailing ?? '').replaceAll(/^\s*(?:\*|\/\/)?\s?/gm, '').trim());
  return found.filter(it => it !== '');
}

const exported =
  /^export (?:default )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

/** Names a file declares and exports; re-exports are not declarations. */
export const exportsOf = (text: string): string[] => [...new Set([...text.matchAll(exported)].map(match => match[1]!))];
