import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProblemFactory } from '#base/problems.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../../src/catalogue.ts';

/**
 * Records which declared problems of which operations the responses of a test run were: `npm test` compares them with
 * the declarations. A problem is recognised by its status and its message, whose placeholders match any text.
 */
export type ProblemPair = `${string} ${string}`;

const operations = catalogue as readonly AnyOperation[];
const suffix = '.problems';

export const toPair = (operation: AnyOperation, problem: ProblemFactory): ProblemPair =>
  `${operation.name} ${problem.code}`;

/** Every problem that an operation declares. */
export const listDeclaredPairs = (): ProblemPair[] =>
  operations.flatMap(it => [...new Set((it.problems ?? []).map(problem => toPair(it, problem)))]);

const escapePattern = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
const toMessagePattern = (message: string) =>
  new RegExp(
    `^${message
      .split(/\{\w+\}/)
      .map(escapePattern)
      .join('[^]*')}$`,
  );

interface RecognisedRoute {
  readonly operation: AnyOperation;
  readonly pattern: RegExp;
  readonly problems: readonly { readonly problem: ProblemFactory; readonly pattern: RegExp }[];
}

/** Routes by method, those with the fewest parameters first. */
function buildRoutes(): RecognisedRoute[] {
  const countParameters = (it: AnyOperation) => it.path.split('{').length;
  return [...operations]
    .sort((a, b) => countParameters(a) - countParameters(b))
    .map(operation => {
      const rest = operation.matchesRest ? '.+' : '[^/]+';
      const path = operation.path.split(/\{[\w-]+\}/).map(escapePattern);
      const problems = (operation.problems ?? []).map(problem => ({
        problem,
        pattern: toMessagePattern(problem.message),
      }));
      return { operation, pattern: new RegExp(`^${path.join(rest)}/?$`), problems };
    });
}

let routes: readonly RecognisedRoute[] | undefined;
const recorded = new Set<ProblemPair>();

export interface RecordedResponse {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: { readonly Message?: unknown; readonly message?: unknown; readonly errors?: unknown } | undefined;
}

/** The declared problems that a response is. */
export function recogniseProblems({ method, path, status, body }: RecordedResponse): ProblemPair[] {
  routes ??= buildRoutes();
  const [plain = ''] = path.split('?');
  const route = routes.find(({ operation, pattern }) => operation.method === method && pattern.test(plain));
  if (!route || body === undefined || body === null) return [];
  const messages = [body.Message, body.message, body.errors].flat().filter(it => typeof it === 'string');
  return route.problems
    .filter(({ problem, pattern }) => problem.status === status && messages.some(message => pattern.test(message)))
    .map(({ problem }) => toPair(route.operation, problem));
}

/** Appends the problems of a response to the file of this process. */
export function recordProblems(directory: string, response: RecordedResponse): void {
  if (response.status < 400) return;
  for (const pair of recogniseProblems(response)) {
    if (recorded.has(pair)) continue;
    recorded.add(pair);
    appendFileSync(join(directory, `${process.pid}${suffix}`), `${pair}\n`);
  }
}

/** All pairs that the processes of a run recorded. */
export function readReachedPairs(directory: string): Set<string> {
  const files = readdirSync(directory).filter(file => file.endsWith(suffix));
  return new Set(files.flatMap(file => readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean)));
}
