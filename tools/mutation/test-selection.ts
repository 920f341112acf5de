import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Which test files a developer would run for a source file: the nearest first. */
export interface TestSelection {
  testsFor(file: string, max: number): string[];
}

const importPattern = /(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|import\('([^']+)'\)/g;

/** Ranks tests by where they stand, what they are called and how far their imports are from the file. */
export function createTestSelection(root: string): TestSelection {
  const files = globSync(['src/**/*.ts', 'tests/**/*.ts'], { cwd: root });
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    for (const target of importsOf(root, file)) {
      const known = importers.get(target) ?? new Set();
      importers.set(target, known.add(file));
    }
  }
  const tests = files.filter(file => file.endsWith('.test.ts'));

  /** Import distance of every test from the file, breadth first. */
  function distances(file: string): Map<string, number> {
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
      const reach = distances(file);
      const words = basename(file, '.ts').split('-');
      const folder = dirname(file);
      const score = (test: string): number => {
        const distance = reach.get(test) ?? 50;
        const name = basename(test, '.test.ts');
        if (dirname(test) === folder && name === basename(file, '.ts')) return 0;
        const shared = words.filter(word => word.length > 3 && name.includes(word.replace(/s$/, ''))).length;
        return distance * 2 + (dirname(test) === folder ? 0 : 2) - shared * 4;
      };
      return tests
        .filter(test => reach.has(test) || test.startsWith('tests/'))
        .map(test => ({ test, rank: score(test) }))
        .filter(({ rank }) => rank < 20)
        .sort((one, other) => one.rank - other.rank || one.test.localeCompare(other.test))
        .slice(0, max)
        .map(({ test }) => test);
    },
  };
}

function importsOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].flatMap(([, fixed, dynamic]) => {
    const specifier = (fixed ?? dynamic)!;
    if (specifier.startsWith('#')) return [`src/${specifier.slice(1)}`];
    return specifier.startsWith('.') ? [relative(root, join(root, dirname(file), specifier))] : [];
  });
}
