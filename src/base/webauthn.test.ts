import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CeremonyFault, createAuthenticator } from '../../tests/support/authenticator.ts';
import { Problem } from './problems.ts';
import { readAssertion, readRegistration } from './webauthn.ts';

const origin = 'https://gw.example.org';
const party = { id: 'example.org', origins: [origin] };
const creation = { challenge: 'AAAA', rp: { id: party.id }, user: { id: 'dXNlcg' } };
const request = { challenge: 'BBBB', rpId: party.id };

const register = (authenticator = createAuthenticator(origin), fault?: CeremonyFault) => {
  const { id, response } = authenticator.create(creation, fault);
  return readRegistration({ id, ...response }, party);
};
const assertWith = (authenticator: ReturnType<typeof createAuthenticator>, fault?: CeremonyFault) => {
  const { id, response } = authenticator.get(request, fault);
  return readAssertion({ id, ...response }, party);
};
const rejects = (work: () => unknown, reason: RegExp) =>
  assert.throws(
    work,
    (error: unknown) => error instanceof Problem && error.status === 400 && reason.test(error.message),
  );

describe('WebAuthn', () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
    test(`the signature of a registered ${algorithm} key is verified, and that of another key is not`, () => {
      const authenticator = createAuthenticator(origin, algorithm);
      const { challenge, credentialId, key, signCount, isBackedUp } = register(authenticator);
      assert.deepEqual([challenge, credentialId, signCount, isBackedUp], ['AAAA', authenticator.id, 0, false]);
      const assertion = assertWith(authenticator);
      assert.deepEqual([assertion.challenge, assertion.userHandle, assertion.signCount], ['BBBB', 'dXNlcg', 1]);
      assert.equal(assertion.isSignedBy(key), true);
      assert.equal(assertion.isSignedBy(register(createAuthenticator(origin, algorithm)).key), false);
      for (const other of ['ES256', 'EdDSA', 'RS256'] as const)
        if (other !== algorithm)
          assert.equal(assertion.isSignedBy(register(createAuthenticator(origin, other)).key), false);
    });

  test('a changed client datum, authenticator datum or signature is not verified', () => {
    const authenticator = createAuthenticator(origin);
    const { key } = register(authenticator);
    const { id, response } = authenticator.get(request);
    const other = authenticator.get({ ...request, challenge: 'CCCC' }).response;
    for (const name of ['clientDataJSON', 'authenticatorData', 'signature'] as const)
      assert.equal(readAssertion({ id, ...response, [name]: other[name] }, party).isSignedBy(key), false, name);
    for (const signature of ['AAAA', response.signature.slice(0, 40)])
      assert.equal(readAssertion({ id, ...response, signature }, party).isSignedBy(key), false);
  });

  test('backed-up passkeys and extensions are read', () => {
    assert.equal(register(undefined, { withFlags: 24 }).isBackedUp, true);
    assert.equal(register(undefined, { withFlags: 128, surplus: Buffer.from([0xa1, 0x61, 0x61, 0xf5]) }).signCount, 0);
  });

  test('a faulty registration is rejected with the reason', () => {
    const faults: [CeremonyFault, RegExp][] = [
      [{ origin: 'https://evil.example' }, /its origin is not https:\/\/gw\.example\.org/],
      [{ origin: `${origin}.evil.example` }, /its origin is not/],
      [{ rpId: 'evil.example' }, /not for the relying party example\.org/],
      [{ type: 'webauthn.get' }, /its type is not webauthn\.create/],
      [{ crossOrigin: true }, /frame of another site/],
      [{ withoutFlags: 4 }, /the user was not verified/],
      [{ withoutFlags: 1 }, /the user was not present/],
      [{ withFlags: 16 }, /backup flags/],
      [{ withoutFlags: 64 }, /surplus bytes/],
      [{ surplus: Buffer.from([0]) }, /surplus bytes/],
      [{ withFlags: 128 }, /truncated/],
      [{ coseKey: Buffer.from([0xa0]) }, /unsupported algorithm/],
      [{ coseKey: Buffer.from([0x80]) }, /no map/],
      [{ coseKey: Buffer.from([0xbf, 0xff]) }, /indefinite length/],
    ];
    for (const [fault, reason] of faults) rejects(() => register(undefined, fault), reason);
    const authenticator = createAuthenticator(origin);
    const { response } = authenticator.create(creation);
    rejects(() => readRegistration({ id: 'AAAA', ...response }, party), /not that of the credential/);
    rejects(() => readRegistration({ id: 'AAAA', ...response, attestationObject: 'oA' }, party), /no authData/);
    rejects(() => readRegistration({ id: 'AAAA', ...response, clientDataJSON: 'AAAA' }, party), /not JSON/);
    rejects(() => readRegistration({ id: 'AAAA', ...response, clientDataJSON: 'bnVsbA' }, party), /its type/);
  });

  test('a point that is not on its curve is rejected', () => {
    const coordinate = Buffer.concat([Buffer.from([0x58, 32]), Buffer.alloc(32, 1)]);
    const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
    const coseKey = Buffer.concat([head, Buffer.from([0x21]), coordinate, Buffer.from([0x22]), coordinate]);
    rejects(() => register(undefined, { coseKey }), /public key is invalid/);
  });
});
