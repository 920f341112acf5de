import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Files of `tests/support` that start a product, a database or Redis, or need one that runs. */
const starters = /^tests\/support\/(?:app|shared-app|gw-process|installation|program-copy|services\/[\w-]+)\.ts$/;
const importPattern = /(?:import|export)\b[^'"`;]*?from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g;

/** Fuzzing and property tests are long by design: `npm test` runs them. */
const longTests = /(?:fuzz|properties)\.test\.ts$/;

/** A unit test starts no product and no service: neither it nor what it imports of `tests/` reaches a starter. */
export function createUnitTestCheck(root: string): (file: string) => boolean {
  const results = new Map<string, boolean>();
  const isUnit = (file: string): boolean => {
    const known = results.get(file);
    if (known !== undefined) return known;
    results.set(file, true);
    const text = readFileSync(join(root, file), 'utf8');
    const imported = [...text.matchAll(importPattern)]
      .map(([, fixed, dynamic]) => relative(root, resolve(root, dirname(file), fixed ?? dynamic ?? '')))
      .filter(it => it.startsWith('tests/'));
    const result =
      !/node:child_process|node:cluster/.test(text) && imported.every(it => !starters.test(it) && isUnit(it));
    results.set(file, result);
    return result;
  };
  return file => !longTests.test(file) && isUnit(file);
}
