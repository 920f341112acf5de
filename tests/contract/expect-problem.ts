import assert from 'node:assert/strict';
import type { ProblemFactory } from '#base/problems.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../../src/catalogue.ts';
import type { Asked, TestApp } from '../support/app.ts';
import { recogniseProblems, toPair } from '../support/reached-problems.ts';

const operations = new Map((catalogue as readonly AnyOperation[]).map(it => [it.name, it] as const));

/** Requests an operation by its name, and fails unless the response is a problem that the operation declares. */
export async function expectProblem(
  app: Pick<TestApp, 'ask'>,
  name: string,
  problem: ProblemFactory,
  path: string,
  asked: Asked = {},
): Promise<void> {
  const operation = operations.get(name);
  assert.ok(operation, name);
  const { method } = operation;
  const answer = await app.ask(method, path, asked);
  const pairs = recogniseProblems({ ...answer, method, path });
  assert.ok(pairs.includes(toPair(operation, problem)), `${name} ${problem.code}: ${answer.status} ${answer.text}`);
}
