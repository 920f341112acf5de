import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classifyProblem, listDeclaredPairs, recogniseProblems } from '../support/reached-problems.ts';
import { maxUnreachedProblems, unreachedProblems } from './unreached-problems.ts';

describe('Declared problems', () => {
  const excepted = Object.values(unreachedProblems).flat();

  test('exceptions are listed once, and their number only falls', () => {
    assert.equal(new Set(excepted).size, excepted.length);
    assert.ok(excepted.length <= maxUnreachedProblems, `${excepted.length} exceptions`);
    assert.ok(listDeclaredPairs().length > excepted.length);
  });

  test('a problem is declared by the operation, or by any, or undeclared', () => {
    const classify = (code: string, operation = 'getApi') => classifyProblem({ operation, code });
    assert.equal(classify('apis.detail_not_found'), 'declared');
    assert.equal(classify('apis.path_exists'), 'undeclared');
    for (const code of ['json.malformed', 'operation.invalid', 'apis.api_not_owned', 'people.rules_denied'])
      assert.equal(classify(code), undefined, code);
    assert.equal(classify('apis.path_exists', 'unknown'), undefined);
    assert.equal(classify('people.rules_denied', 'getGatewayApi'), 'undeclared');
  });

  test('a response is recognised by operation, status and message', () => {
    const path = '/api/apis/x';
    const at = (status: number, Message: string) =>
      recogniseProblems({ method: 'GET', path, status, body: { Message } });
    assert.deepEqual(at(404, 'Could not retrieve API detail'), ['getApi apis.detail_not_found']);
    assert.deepEqual(at(400, 'Could not retrieve API detail'), []);
    assert.deepEqual(at(404, 'Another message'), []);
    const body = { Message: 'Another API already has the listen path /a on b: choose another listen path' };
    assert.deepEqual(recogniseProblems({ method: 'POST', path: '/api/apis?p=1', status: 409, body }), [
      'createApi apis.path_exists',
    ]);
  });
});
