import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getCredentialState, renderCredentialState } from './credential-state.ts';

const dayMs = 86_400_000;
const now = 1_800_000_000_000;

describe('state of a credential', () => {
  const stateAt = (Expires: number) => getCredentialState({ Expires }, now);

  test('a credential without an expiry is active', () => {
    assert.equal(stateAt(0), 'active');
  });

  test('a credential expires from 14 days before its end on, and has expired at it', () => {
    assert.deepEqual([now + 14 * dayMs + 1, now + 14 * dayMs, now + 1, now, now - dayMs].map(stateAt), [
      'active',
      'expiring',
      'expiring',
      'expired',
      'expired',
    ]);
  });

  test('days until the end are rounded up', () => {
    const textAt = (Expires: number) => renderCredentialState({ Expires }, now).toString();
    assert.match(textAt(now + 1), />Expires in 1 day</);
    assert.match(textAt(now + dayMs + 1), />Expires in 2 days</);
    assert.match(textAt(now), />Expired</);
    assert.match(textAt(0), />Active</);
  });
});
