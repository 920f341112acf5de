import { unreachedProblems } from '../tests/contract/unreached-problems.ts';
import { listDeclaredPairs, readReachedPairs, readUndeclaredPairs } from '../tests/support/reached-problems.ts';

/** Lists problems that operations returned, and changes that they made, without a declaration; returns their number. */
export function countUndeclaredProblems(directory: string): number {
  const undeclared = [...readUndeclaredPairs(directory)].sort();
  for (const pair of undeclared) console.error(`An operation did what it does not declare: ${pair}`);
  return undeclared.length;
}

/**
 * Compares the problems that a whole test run reached with those that the operations declare. Returns the number of
 * declared ones that no test reached and that the table of exceptions does not list.
 */
export function countUnreachedProblems(directory: string): number {
  const reached = readReachedPairs(directory);
  const excepted = new Set(Object.values(unreachedProblems).flat());
  const declared = listDeclaredPairs();
  const unreached = declared.filter(pair => !reached.has(pair) && !excepted.has(pair));
  const known = new Set<string>(declared);
  const stale = [...excepted].filter(pair => reached.has(pair) || !known.has(pair));
  console.log(`Reached ${declared.filter(pair => reached.has(pair)).length} of ${declared.length} declared problems.`);
  for (const pair of stale)
    console.log(`Reached or not declared, and still in tests/contract/unreached-problems.ts: ${pair}`);
  for (const pair of unreached) console.error(`No test reached the declared problem: ${pair}`);
  return unreached.length;
}
