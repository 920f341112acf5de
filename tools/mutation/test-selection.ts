import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Which test files a developer would run for a source file: the nearest first. */
export interface TestSelection {
  testsFor(file: string, max: number): string[];
}

const importPattern = /(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|import\('([^']+)'\)/g;
/** Share of the selection that unit tests may fill; product-level tests need the rest to see wiring faults. */
const maxNearShare = 2 / 3;
/** Share of tests of folders that use the file: those of its callers. */
const maxCallerShare = 1 / 5;
const callerDistance = 2;
const maxRankedDistance = 20;
const minWordLength = 4;
/** Titles that share a word count up to this number, as much as a shared word in the path of a test. */
const maxTitles = 3;

/**
 * Test selection in four groups: the file's own test, tests that import it, tests of its folder and of those below;
 * tests of the folders that use it; product-level tests that share words with the file; any other test, by import
 * distance.
 */
export function createTestSelection(root: string): TestSelection {
  const files = globSync(['src/**/*.ts', 'tests/**/*.ts'], { cwd: root });
  const tests = files.filter(file => file.endsWith('.test.ts')).sort();
  const titles = new Map(tests.map(test => [test, titlesOf(readFileSync(join(root, test), 'utf8'))]));
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    for (const target of importsOf(root, file)) {
      const known = importers.get(target) ?? new Set();
      importers.set(target, known.add(file));
    }
  }

  /** Import distance of every file from the given one, breadth first. */
  function distancesFrom(file: string): Map<string, number> {
    const found = new Map([[file, 0]]);
    const queue = [file];
    for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
      for (const importer of importers.get(current) ?? []) {
        if (found.has(importer)) continue;
        found.set(importer, found.get(current)! + 1);
        queue.push(importer);
      }
    }
    return found;
  }

  return {
    testsFor(file, max) {
      const distances = distancesFrom(file);
      const distanceOf = (test: string) => distances.get(test) ?? Number.MAX_SAFE_INTEGER;
      const sharedWords = createNameMatch(file, [...(importers.get(file) ?? [])], titles);
      const ownTest = file.replace(/\.ts$/, '.test.ts');
      const folder = dirname(file);
      const isNear = (test: string) => distanceOf(test) === 1 || `${dirname(test)}/`.startsWith(`${folder}/`);
      const callers = [...distances.keys()].filter(it => distanceOf(it) <= callerDistance && !it.endsWith('.test.ts'));
      const callerFolders = new Set(callers.map(caller => dirname(caller)));

      const near = sortBy(tests.filter(isNear), test =>
        test === ownTest ? -1000 : Math.min(distanceOf(test), maxRankedDistance) * 10 - sharedWords(test),
      );
      const ofCallers = sortBy(
        tests.filter(test => callerFolders.has(dirname(test)) && !isNear(test)),
        test => -sharedWords(test),
      );
      const related = sortBy(
        tests.filter(test => test.startsWith('tests/') && sharedWords(test) > 0),
        test => -sharedWords(test),
      );
      const others = sortBy([...distances.keys()].filter(path => path.endsWith('.test.ts')).sort(), distanceOf);
      const first = [
        ...near.slice(0, Math.ceil(max * maxNearShare)),
        ...ofCallers.slice(0, Math.floor(max * maxCallerShare)),
      ];
      const selected = [...first, ...related, ...near, ...ofCallers, ...others];
      return [...new Set(selected)].slice(0, max);
    },
  };
}

/** Stems of the words of a path. */
const stemsOf = (path: string): string[] =>
  path
    .replace(/(?:\.test)?\.ts$/, '')
    .split(/[-/]/)
    .filter(word => word.length >= minWordLength)
    .map(word => (word.length > minWordLength ? word.replace(/s$/, '') : word));

const titlePattern = /\b(?:test|describe|onEveryEngine)\(\s*(['`])(.*?)\1/g;
const titlesOf = (text: string): string[] =>
  [...text.matchAll(titlePattern)].map(([, , title]) => title!.toLowerCase());

/**
 * Words that a test shares with a file, in its path and in its titles. The words of the file's name count most, those of
 * its folder and of the files that import it count once.
 */
function createNameMatch(file: string, importers: readonly string[], titles: ReadonlyMap<string, readonly string[]>) {
  const named = stemsOf(basename(file));
  const around = [...new Set([basename(dirname(file)), ...importers.map(it => basename(it))].flatMap(stemsOf))];
  return (test: string): number => {
    const words = stemsOf(test);
    const inPath = (stems: readonly string[]) => stems.filter(stem => words.some(it => it.startsWith(stem))).length;
    const inTitles = titles.get(test)!.filter(title => named.some(stem => title.includes(stem))).length;
    return 3 * inPath(named) + inPath(around) + Math.min(inTitles, maxTitles);
  };
}

const sortBy = (tests: readonly string[], rank: (test: string) => number): string[] =>
  tests.toSorted((one, other) => rank(one) - rank(other));

function importsOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].flatMap(([, fixed, dynamic]) => {
    const specifier = (fixed ?? dynamic)!;
    if (specifier.startsWith('#')) return [`src/${specifier.slice(1)}`];
    return specifier.startsWith('.') ? [relative(root, join(root, dirname(file), specifier))] : [];
  });
}
