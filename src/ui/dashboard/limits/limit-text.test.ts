import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describePeriod, describeQuota, describeRate } from './limit-text.ts';

describe('Texts of limits', () => {
  test('a rate of one unit has its name, another its seconds', () => {
    assert.equal(describeRate({ rate: 1200, per: 60 }), '1,200 a minute');
    assert.equal(describeRate({ rate: 1, per: 3600 }), '1 an hour');
    assert.equal(describeRate({ rate: 5, per: 10 }), '5 in 10 s');
  });

  test('a rate or quota without a positive number is no limit', () => {
    for (const limits of [{}, { rate: 5 }, { rate: 0, per: 60 }, { rate: -1, per: 60 }])
      assert.equal(describeRate(limits), 'unlimited');
    for (const limits of [{}, { quota_max: -1, quota_renewal_rate: 60 }])
      assert.equal(describeQuota(limits), 'unlimited');
  });

  test('a quota names the time after which it renews, or that it never does', () => {
    assert.equal(describeQuota({ quota_max: 10, quota_renewal_rate: 86_400 }), '10 a day');
    assert.match(describeQuota({ quota_max: 10, quota_renewal_rate: 7200 }), /^10 .*2 h/);
    assert.match(describeQuota({ quota_max: 10 }), /^10 /);
    assert.equal(describePeriod(), describePeriod(0));
    assert.match(describePeriod(3600), /hour/);
  });
});
