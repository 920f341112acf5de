import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Key } from './schema.ts';
import { compileKeySession } from './session.ts';
import { type ApiLifetime, type LifetimeSettings, recordDeadline } from './session-lifetime.ts';

const api = (lifetimeSeconds: number, respectsExpiry = false): ApiLifetime => ({ lifetimeSeconds, respectsExpiry });

const cases: [string, Key, ApiLifetime[], LifetimeSettings, number | undefined][] = [
  ['nothing is said', {}, [], {}, undefined],
  ['its API says nothing', {}, [api(0)], {}, undefined],
  [
    'the settings force a lifetime',
    { session_lifetime: 5, post_expiry_action: 'delete' },
    [api(7)],
    { forcedSeconds: 9 },
    1009,
  ],
  ['it is deleted on expiry', { expires: 2000, post_expiry_action: 'delete' }, [api(7)], {}, 2000],
  [
    'it is retained for a while',
    { expires: 2000, post_expiry_action: 'retain', post_expiry_grace_period: 50 },
    [],
    {},
    2050,
  ],
  [
    'it is retained for ever',
    { expires: 2000, post_expiry_action: 'retain', post_expiry_grace_period: -1 },
    [],
    {},
    undefined,
  ],
  ['it never expires', { expires: 0, post_expiry_action: 'delete' }, [], {}, undefined],
  ['it has a lifetime of its own', { session_lifetime: 5 }, [api(7)], {}, 1005],
  ['its APIs give lifetimes', {}, [api(7), api(70)], {}, 1070],
  ['one of its APIs keeps it for ever', {}, [api(7), api(0)], {}, undefined],
  ['its API waits for a later expiry', { expires: 2000 }, [api(7, true)], {}, 2000],
  ['its API waits for an earlier expiry', { expires: 1001 }, [api(7, true)], {}, 1007],
  ['its API waits for an expiry that never comes', {}, [api(7, true)], {}, undefined],
  ['the settings wait for its expiry', { expires: 2000 }, [api(7)], { respectsExpiry: true }, 2000],
];

for (const [when, key, apis, settings, deadline] of cases) {
  test(`a record is kept until ${deadline ?? 'for ever'} when ${when}`, () => {
    assert.equal(recordDeadline(compileKeySession(key), apis, settings, 1000), deadline);
  });
}

test('session_lifetime of a key applies without any API', () => {
  assert.equal(recordDeadline(compileKeySession({ session_lifetime: 5 }), [], {}, 1000), 1005);
});
