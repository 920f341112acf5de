import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench, stepsOf } from '../../../tests/support/step-harness.ts';

describe('request size limit', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  const answer = async (length: string | undefined, method = 'POST') => {
    const api = await bench.compile({
      use_keyless: true,
      version_data: { not_versioned: true, versions: { Default: { name: 'Default', global_size_limit: 10 } } },
    });
    const { call } = await bench.send(api, {
      method,
      headers: length === undefined ? {} : { 'Content-Length': length },
    });
    const [step] = stepsOf(api, new Set(['size-limit']));
    const response = await step!(call);
    return response && [response.status, response.body.bytes!.toString()];
  };

  test('Content-Length within the limit passes; too large, missing and invalid ones get different errors', async () => {
    assert.equal(await answer('10'), undefined);
    assert.deepEqual(await answer('11'), [400, errorBody('Request is too large')]);
    assert.deepEqual(await answer(undefined), [411, errorBody('Content length is required for this request')]);
    for (const length of ['', 'x', '1x', '-1', '1.5', '0x1', '1, 1'])
      assert.deepEqual(await answer(length), [400, errorBody('content length is not a valid Integer')], length);
  });

  test('methods without body semantics are exempt', async () => {
    for (const method of ['GET', 'DELETE', 'TRACE', 'OPTIONS', 'HEAD'])
      assert.equal(await answer('11', method), undefined);
  });
});
