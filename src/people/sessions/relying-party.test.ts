import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { readRelyingParty } from './relying-party.ts';

const read = (flags: Record<string, string>) => readRelyingParty(readSettings({ flags }));

describe('Relying party of passkeys', () => {
  test('it is the dashboard by default', () => {
    assert.deepEqual(read({}), { id: 'localhost', origins: ['http://localhost:3000'] });
    const url = 'https://gw.example.org/dashboard/';
    assert.deepEqual(read({ 'dashboard.url': url }), { id: 'gw.example.org', origins: ['https://gw.example.org'] });
  });

  test('sign_in.passkey_rp_id and sign_in.passkey_origins name another', () => {
    const origins = 'https://a.example.org, https://b.example.org:8443';
    assert.deepEqual(read({ 'sign_in.passkey_origins': origins, 'sign_in.passkey_rp_id': 'example.org' }), {
      id: 'example.org',
      origins: ['https://a.example.org', 'https://b.example.org:8443'],
    });
    assert.equal(read({ 'sign_in.passkey_origins': 'https://a.example.org' })?.id, 'a.example.org');
  });

  test('there is none for a dashboard without TLS, at an address or at no URL', () => {
    for (const url of ['http://gw.example.org', 'https://192.0.2.1', 'https://[2001:db8::1]', 'gw.example.org'])
      assert.equal(read({ 'dashboard.url': url }), undefined, url);
  });

  test('settings that no browser accepts are refused', () => {
    for (const origin of ['http://gw.example.org', 'https://gw.example.org/', 'gw.example.org', 'https://192.0.2.1'])
      assert.throws(
        () => read({ 'sign_in.passkey_origins': origin }),
        /sign_in\.passkey_origins: .* must be an https origin/,
      );
    for (const id of ['example.com', 'x.gw.example.org', 'ample.org'])
      assert.throws(
        () => read({ 'dashboard.url': 'https://gw.example.org', 'sign_in.passkey_rp_id': id }),
        /sign_in\.passkey_rp_id: .* neither the host of https:\/\/gw\.example\.org/,
      );
  });
});
