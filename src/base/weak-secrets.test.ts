import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretText } from './ids.ts';
import { readSettings } from './settings.ts';
import { rejectWeakSecrets } from './weak-secrets.ts';

const guarded = ['admin.secret', 'gateway.secret', 'portal.token', 'master_key', 'bootstrap.access_key'];
const all = (value: () => string) => Object.fromEntries(guarded.map(name => [name, value()]));
const rejectWeak = (flags: Record<string, string>) => () =>
  rejectWeakSecrets(readSettings({ flags: { production: 'true', ...flags } }));

test('each short secret is rejected with its own message, which does not quote it', () => {
  assert.throws(rejectWeak(all(() => `Zk4${'q'.repeat(2)}7`)), (error: Error) => {
    const lines = error.message.split('\n');
    assert.deepEqual(
      lines,
      guarded.map(name => `${name}: has only 6 bytes; production needs at least 32 random bytes`),
    );
    return true;
  });
  assert.throws(rejectWeak({ 'admin.secret': createSecretText().slice(0, 31) }), /admin\.secret: has only 31 bytes/);
});

test('long but well-known secrets are refused', () => {
  const known = [
    '352d20ee67be67f6340b4c0605b044b7',
    'EDD1C9F034335F136F87AD84B625C8F1',
    'x'.repeat(64),
    'abc123'.repeat(6),
    'please-change-me-please-i-am-insecure',
    'your-secret-key-goes-here-0000-1111-2222',
    '0123456789abcdef0123456789abcdee',
  ];
  for (const value of known)
    assert.throws(rejectWeak({ 'gateway.secret': value }), /^Problem: gateway\.secret: is well known/, value);
});

test('random secrets, and those generated at the first start, are accepted', () => {
  rejectWeak(all(createSecretText))();
  rejectWeak({})();
});

test('without production mode any secret is accepted', () => {
  rejectWeakSecrets(readSettings({ flags: all(() => 'x') }));
});
