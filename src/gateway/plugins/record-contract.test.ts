import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRecordReturns } from './record-contract.ts';

test('results that a script tampered with are faults of their records, and never throw later', () => {
  const returned = [null, 1, 'x', [], {}, { record: null }, { fault: 'why' }, { fault: { toString: 1 } }];
  assert.deepEqual(parseRecordReturns(JSON.stringify(returned), returned.length), [
    { fault: 'the plugin returned no record' },
    { fault: 'the plugin returned no record' },
    { fault: 'the plugin returned no record' },
    { fault: 'the plugin returned no record' },
    { record: undefined },
    { record: null },
    { fault: 'why' },
    { fault: 'the plugin failed without a reason' },
  ]);
  assert.throws(() => parseRecordReturns('{', 1), /returned no records/);
  assert.throws(() => parseRecordReturns('[]', 1), /another number of records/);
});
