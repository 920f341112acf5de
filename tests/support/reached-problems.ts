import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProblemFactory } from '#base/problems.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { type OperationProblem, problemChannelName } from '#operations/problem-channel.ts';
import { currentAuthor } from '#storage/operation-context.ts';
import { catalogue } from '../../src/catalogue.ts';
import { isListenerProblem } from './listener-problems.ts';

/**
 * Records which problems of which operations the responses of a test run were: `npm test` compares them with the
 * declarations. A product in the process of a test publishes them by code; a response of another process is recognised
 * by its status and its message, whose placeholders match any text.
 */
export type ProblemPair = `${string} ${string}`;

const operations = catalogue as readonly AnyOperation[];
const suffix = '.problems';
const undeclaredSuffix = '.undeclared';
/** Directory of the run; undefined where a test file runs alone. */
const directory = process.env.GW_TEST_LOGS;

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
      const problems = (operation.problems ?? [])
        .filter(({ message }) => message.replaceAll(/\{\w+\}|\W/g, '') !== '')
        .map(problem => ({ problem, pattern: toMessagePattern(problem.message) }));
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

/** The declared problems that a response is. A message of placeholders alone would match any response. */
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

/** Records the problems of a response of any product. */
export function recordProblems(response: RecordedResponse): void {
  if (!directory || response.status < 400) return;
  for (const pair of recogniseProblems(response)) recordPair(pair);
}

/** Appends a pair to a file of this process. */
function recordPair(pair: ProblemPair, kind = suffix): void {
  if (!directory || recorded.has(pair)) return;
  recorded.add(pair);
  appendFileSync(join(directory, `${process.pid}${kind}`), `${pair}\n`);
}

const declaredByOperation = new Map(
  operations.map(it => [it.name, new Set((it.problems ?? []).map(({ code }) => code))] as const),
);
const operationsByName = new Map(operations.map(it => [it.name, it]));

/** How an operation of the catalogue declares a problem; undefined for other operations, and for any operation. */
export function classifyProblem({ operation, code }: OperationProblem): 'declared' | 'undeclared' | undefined {
  const it = operationsByName.get(operation);
  if (!it) return undefined;
  if (declaredByOperation.get(operation)!.has(code)) return 'declared';
  return isListenerProblem(it, code) ? undefined : 'undeclared';
}

subscribe(problemChannelName, message => {
  const { operation, code } = message as OperationProblem;
  const kind = classifyProblem({ operation, code });
  if (kind === 'declared') recordPair(`${operation} ${code}`);
  else if (kind === 'undeclared') recordPair(`${operation} ${code}`, undeclaredSuffix);
});

/** Records an operation that changes what traffic threads load and does not declare it. */
export function recordChange(): void {
  const { operation } = currentAuthor();
  const it = operationsByName.get(operation);
  if (it && !it.changesTraffic) recordPair(`${operation} changesTraffic`, undeclaredSuffix);
}

/** All declared pairs that the processes of a run recorded. */
export const readReachedPairs = (from: string): Set<string> => readPairs(from, suffix);

/** All undeclared ones. */
export const readUndeclaredPairs = (from: string): Set<string> => readPairs(from, undeclaredSuffix);

function readPairs(from: string, kind: string): Set<string> {
  const files = readdirSync(from).filter(file => file.endsWith(kind));
  return new Set(files.flatMap(file => readFileSync(join(from, file), 'utf8').split('\n').filter(Boolean)));
}
