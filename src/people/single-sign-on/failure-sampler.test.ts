import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFailureSampler } from './failure-sampler.ts';

const one = { profile: 'a', account: 'alice', address: '192.0.2.1' };

describe('Sampling of failed sign-ons', () => {
  test('the first hundred failures of a profile and window are recorded, then each power of ten', () => {
    let nowMs = 0;
    const sampler = createFailureSampler({ now: () => nowMs });
    const recorded = [];
    for (let failure = 1; failure <= 10_000; failure++) if (sampler.record(one)) recorded.push(failure);
    assert.deepEqual(recorded, [...Array.from({ length: 100 }, (_none, index) => index + 1), 1000, 10_000]);
    assert.equal(sampler.record({ ...one, profile: 'b' }), true);
    nowMs += 900_000;
    assert.equal(sampler.record(one), true);
  });

  test('many failures of one account do not hide those of another, nor those from another address', () => {
    const sampler = createFailureSampler({ now: () => 0 });
    const countRecorded = (failed: typeof one, failures: number) =>
      Array.from({ length: failures }, () => sampler.record(failed)).filter(Boolean).length;
    assert.equal(countRecorded(one, 500), 100);
    assert.equal(countRecorded({ ...one, account: 'bob' }, 20), 10);
    assert.equal(countRecorded({ ...one, address: '192.0.2.2' }, 20), 10);
    assert.equal(countRecorded({ ...one, account: '', address: '2001:db8::1' }, 5), 5);
    assert.equal(countRecorded({ ...one, account: '', address: '2001:db8::2' }, 20), 5);
  });

  test('ever new account names of one address do not use up the records of other addresses', () => {
    const sampler = createFailureSampler({ now: () => 0 });
    const recorded = Array.from({ length: 5000 }, (_none, index) =>
      sampler.record({ ...one, account: `user ${index}`, address: `2001:db8:0:${(index % 4096).toString(16)}::1` }),
    );
    assert.equal(recorded.filter(Boolean).length, 100 + 1 + 50);
    const other = Array.from({ length: 20 }, () => sampler.record({ ...one, account: 'bob', address: '192.0.2.9' }));
    assert.equal(other.filter(Boolean).length, 10);
  });

  test('failures of ever new accounts and addresses are recorded up to a bound for each profile', () => {
    const sampler = createFailureSampler({ now: () => 0 });
    const toSource = (profile: string, index: number) => ({
      profile,
      account: `user ${index}`,
      address: `10.0.${index >> 8}.${index & 0xff}`,
    });
    const recorded = Array.from({ length: 5000 }, (_none, index) => sampler.record(toSource('a', index)));
    assert.equal(recorded.filter(Boolean).length, 100 + 1 + 1000);
    assert.equal(sampler.record(toSource('b', 1)), true);
  });
});
