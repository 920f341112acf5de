import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench } from '../../../tests/support/step-harness.ts';

describe('API and version expiry', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  const event = { event: 'VersionFailure', message: 'Attempted access to disallowed version / path.', key: '' };
  const answer = async (definition: object) => {
    const { status, body, events } = await bench.send(await bench.compile({ use_keyless: true, ...definition }));
    return [status, body, events];
  };
  const withExpiry = (expires: string) => ({
    expiration: '2000-01-01 00:00',
    version_data: { not_versioned: false, versions: { v1: { name: 'v1', expires } } },
  });

  test('an expired API gets 403 and an event; an invalid time counts as expired', async () => {
    const message = 'API has expired, please check documentation or contact administrator';
    for (const expiration of ['2029-12-31 23:59', '2030-01-01 00:00', 'tomorrow'])
      assert.deepEqual(await answer({ expiration }), [403, errorBody(message), [event]], expiration);
  });

  test('an expired version gets 403 and an event', async () => {
    const message = 'Api Version has expired, please check documentation or contact administrator';
    assert.deepEqual(await answer(withExpiry('2029-12-31 23:59')), [403, errorBody(message), [event]]);
    assert.deepEqual(await answer(withExpiry('')), [0, '', []]);
  });

  test('an API before its expiry is served with the expiry in a header', async () => {
    const api = await bench.compile({ use_keyless: true, expiration: '2030-01-01 00:01' });
    const { status, call } = await bench.send(api);
    assert.equal(status, 0);
    assert.deepEqual(call.extraResponseHeaders, ['x-gw-api-expires', 'Tue, 01 Jan 2030 00:01:00 GMT']);
    for (const expiration of ['', '-1']) assert.deepEqual(await answer({ expiration }), [0, '', []]);
  });
});
