import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { composeSupergraph } from '#languages/graphql/federation/compose-supergraph.ts';
import { createQueryPlans, type FindPlan } from './query-plans.ts';

const head = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])\n';
const composed = composeSupergraph([
  { name: 'a', sdl: `${head} type E @key(fields: "id") { id: ID! n: Int } type Query { e(at: Int): E }` },
  { name: 'b', sdl: `${head} type E @key(fields: "id") { id: ID! v: Int }` },
]);
assert.ok(!('errors' in composed));
const { supergraphSdl } = composed;
const types = composed.readTypes();

function createPlans(orgId: string) {
  const failures: Error[] = [];
  const find = createQueryPlans(supergraphSdl, {
    orgId,
    apiId: 'api',
    types,
    partlyHidden: new Set(),
    onFailure: error => failures.push(error),
  });
  return { find, failures };
}

function read(query: string): [document: DocumentNode, operation: OperationDefinitionNode] {
  const document = parse(query);
  return [document, document.definitions.find(it => it.kind === Kind.OPERATION_DEFINITION)!];
}

const open = () => new AbortController().signal;
const findAll = (find: FindPlan, queries: readonly string[], signal = open()) =>
  Promise.allSettled(queries.map(async query => find(...read(query), { signal })));
const listReasons = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.flatMap(it => (it.status === 'rejected' ? [String(it.reason)] : []));

describe('Query plans', () => {
  test('of many operations that wait for a plan the newest are refused, and another organisation has its turn', async () => {
    const [busy, other] = [createPlans('busy'), createPlans('other')];
    const many = Array.from({ length: 500 }, (_, at) => `{ e(at: ${at}) { n v } }`);
    const pending = findAll(busy.find, many);
    const [served] = await findAll(other.find, ['{ e { n v } }']);
    const reasons = listReasons(await pending);
    assert.equal(served!.status, 'fulfilled');
    assert.ok(reasons.length >= 299 && reasons.length <= 300, String(reasons.length));
    assert.match(reasons[0]!, /too many operations wait for a query plan, try again later/);
  });

  test('equal operations that wait share one plan', async () => {
    const { find } = createPlans('equal');
    assert.deepEqual(
      listReasons(
        await findAll(
          find,
          Array.from({ length: 500 }, () => '{ e { v } }'),
        ),
      ),
      [],
    );
  });

  test('an operation without a plan is planned once: its failure is that of later requests', async () => {
    const { find, failures } = createPlans('failing');
    const [document, operation] = read('{ unknown { v } }');
    for (let at = 0; at < 3; at++)
      await assert.rejects(async () => find(document, operation, { signal: open() }), /has no query plan/);
    assert.equal(failures.length, 1);
  });

  test('an operation that ends while it waits leaves others their plan', async () => {
    const { find } = createPlans('leaving');
    const leaving = new AbortController();
    const [first, second] = [findAll(find, ['{ e { v } }'], leaving.signal), findAll(find, ['{ e { v } }'])];
    leaving.abort();
    assert.match(listReasons(await first)[0]!, /took too long to plan/);
    assert.deepEqual(listReasons(await second), []);
  });
});
