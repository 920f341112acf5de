import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { startsWithParticiple } from './participles.ts';
import { commentsOf, exportsOf, functionsOf } from './source-facts.ts';

/** Comments that open with a pronoun instead of the mechanism. */
const pronounOpening = /^(What|Who|Whoever|Whether|Nobody|Those|Nothing)\b/;
/** People-words for data. */
const peopleWords = /\b(whoever|nobody|somebody|told|hears|ways? in|made anew|given up|lies|away)\b/i;
const maxFunctionLines = 60;

export interface StyleCounts {
  readonly functions: number;
  readonly comments: number;
  /** Functions named by a past participle. */
  readonly participles: readonly string[];
  readonly pronounOpenings: readonly string[];
  readonly peopleWords: readonly string[];
  /** `file function` of every function over 60 lines. */
  readonly longFunctions: readonly string[];
  /** Names that more than one file declares and exports. */
  readonly repeatedExports: readonly string[];
}

/** Counts what the naming rules limit, in every file of `src/` that is not a test. */
export function countStyle(root: string): StyleCounts {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter(file => !file.endsWith('.test.ts'));
  const texts = files.sort().map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  const functions = texts.flatMap(({ file, text }) => functionsOf(text).map(it => ({ ...it, file })));
  const comments = texts.flatMap(({ file, text }) => commentsOf(text).map(comment => ({ file, comment })));
  const declaredIn = Map.groupBy(
    texts.flatMap(({ file, text }) => exportsOf(text).map(name => ({ file, name }))),
    ({ name }) => name,
  );
  const quote = ({ file, comment }: { file: string; comment: string }) => `${file}: ${comment.slice(0, 80)}`;
  return {
    functions: functions.length,
    comments: comments.length,
    // Components are nouns: `FailedPage` is a page.
    participles: functions
      .filter(it => /^[^A-Z]/.test(it.name) && startsWithParticiple(it.name))
      .map(it => `${it.file} ${it.name}`),
    pronounOpenings: comments.filter(it => pronounOpening.test(it.comment)).map(quote),
    peopleWords: comments.filter(it => peopleWords.test(it.comment)).map(quote),
    longFunctions: functions.filter(it => it.lines > maxFunctionLines).map(it => `${it.file} ${it.name}`),
    repeatedExports: [...declaredIn].filter(([, all]) => all.length > 1).map(([name]) => name),
  };
}

const importPattern = /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|import\('([^']+)'\)/g;

/** Import circles of `src/`, types included: the strongly connected components of more than one file. */
export function findImportCircles(root: string): string[][] {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter(file => !file.endsWith('.test.ts'));
  const graph = new Map(files.map(file => [file, listImports(root, file)]));
  const indexOf = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  function visit(file: string): void {
    indexOf.set(file, indexOf.size);
    lowest.set(file, indexOf.get(file)!);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!indexOf.has(next)) {
        visit(next);
        lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!));
      } else if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, indexOf.get(next)!));
    }
    if (lowest.get(file) !== indexOf.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) circles.push(circle.sort());
  }
  for (const file of files) if (!indexOf.has(file)) visit(file);
  return circles;
}

function listImports(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].flatMap(([, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? '';
    if (specifier.startsWith('#')) return [`src/${specifier.slice(1)}`];
    return specifier.startsWith('.') ? [relative(root, resolve(root, dirname(file), specifier))] : [];
  });
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  const counts = countStyle(root);
  const percent = (list: readonly string[], of: number) =>
    `${list.length} (${((100 * list.length) / of).toFixed(1)} %)`;
  console.table({
    'functions named by a past participle': percent(counts.participles, counts.functions),
    'comments that open with a pronoun': percent(counts.pronounOpenings, counts.comments),
    'comments with people-words': percent(counts.peopleWords, counts.comments),
    'functions over 60 lines': percent(counts.longFunctions, counts.functions),
    'exported names declared more than once': counts.repeatedExports.length,
    'import circles': findImportCircles(root).length,
  });
  if (process.argv.includes('--list'))
    for (const list of [counts.participles, counts.pronounOpenings, counts.peopleWords, counts.longFunctions])
      for (const line of list) console.log(line);
}
