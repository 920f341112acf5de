import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyOperation } from '#operations/operation.ts';
import { testsByHelper } from './operation-tests-table.ts';

/** Finds the test files of each operation by the routes in their text. */

type Route = Pick<AnyOperation, 'name' | 'method' | 'path'>;

/** Walks over the whole catalogue, which name no operation. */
const walks =
  /^tests\/contract\/(?:operations|members|permissions|bodies|foreign-ids|foreign-references|problems|openapi|coverage)\.test\.ts$/;
const prefix = '\\/(?:api|admin|gw|portal-api)\\/';
/** A path as text or template, perhaps behind a method: `ask('GET', '/api/keys')`. */
const routePattern = new RegExp(
  `(?:'(GET|POST|PUT|PATCH|DELETE)',\\s*)?(?:'(${prefix}[^'\\n]*)'|\`(${prefix}(?:[^\`$]|\\$\\{[^}]*\\})*)\`)`,
  'g',
);

interface FoundRoute {
  readonly method: string | undefined;
  readonly segments: readonly string[];
}

const placeholder = '{}';
const toSegments = (path: string) => path.split('?', 1)[0]!.replace(/\/$/, '').split('/');

function listRoutes(text: string): FoundRoute[] {
  return [...text.matchAll(routePattern)].map(([, method, fixed, template]) => ({
    method,
    segments: toSegments((fixed ?? template!).replaceAll(/\$\{[^}]*\}/g, placeholder)),
  }));
}

/** Number of fixed segments that match; undefined where the path is another one. */
function matchSegments(operation: readonly string[], found: readonly string[]): number | undefined {
  if (operation.length !== found.length) return undefined;
  let fixed = 0;
  for (const [at, segment] of operation.entries()) {
    if (segment.startsWith('{')) continue;
    if (segment !== found[at]) return undefined;
    fixed += 1;
  }
  return fixed;
}

/** Operations that a route names: those of its method, or of any method that the file names, most specific first. */
function findOperations(operations: readonly Route[], { method, segments }: FoundRoute, text: string): Route[] {
  const isNamed = (it: Route) => (method ? it.method === method : text.includes(`'${it.method}'`));
  const matches = operations
    .map(it => ({ it, fixed: matchSegments(toSegments(it.path), segments) }))
    .filter(({ it, fixed }) => fixed !== undefined && isNamed(it));
  const most = Math.max(...matches.map(({ fixed }) => fixed!));
  return matches.filter(({ fixed }) => fixed === most).map(({ it }) => it);
}

/** Test files by operation name, both sorted. */
export function findOperationTests(root: string, operations: readonly Route[]): Map<string, string[]> {
  const files = globSync(['src/**/*.test.ts', 'tests/**/*.ts'], { cwd: root }).filter(file => !walks.test(file));
  const found = new Map<string, Set<string>>(operations.map(({ name }) => [name, new Set<string>()]));
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const route of listRoutes(text))
      for (const { name } of findOperations(operations, route, text)) found.get(name)!.add(file);
  }
  for (const [file, names] of Object.entries(testsByHelper)) for (const name of names) found.get(name)?.add(file);
  return new Map([...found].map(([name, tests]) => [name, [...tests].sort()]));
}
