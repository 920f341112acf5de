import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeAuthority, makeCertificate, makeServerCertificate } from '../../../tests/support/certificates.ts';
import { maxCertificates, maxUploadBytes, parsePem } from './pem.ts';

const orgId = '65f0c1d2a3b4c5d6e7f80910';
const nowMs = Date.parse('2026-06-01T12:00:00Z');
const read = (text: string) => parsePem(text, { orgId, nowMs });
const refuses = (text: string, code: string, message?: RegExp) =>
  assert.throws(() => read(text), { code: `certificates.${code}`, ...(message && { message }) });

const authority = makeAuthority('Acme Root', { organization: 'Acme' });
const leaf = makeServerCertificate(authority, {
  cn: 'api.example.com',
  dnsNames: ['api.example.com', '*.example.com'],
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2027-01-01T00:00:00Z'),
});

test('a certificate is described by its leaf, and named by organisation and fingerprint', () => {
  const found = read(leaf.certPem);
  assert.equal(found.fingerprint, new X509Certificate(leaf.certPem).fingerprint256.replaceAll(':', '').toLowerCase());
  assert.equal(found.id, orgId + leaf.fingerprint);
  assert.deepEqual(found.dnsNames, ['api.example.com', '*.example.com']);
  assert.equal(found.notBefore, '2026-01-01T00:00:00Z');
  assert.equal(found.notAfter, '2027-01-01T00:00:00Z');
  assert.equal(found.subjectCn, 'api.example.com');
  assert.equal(found.issuerCn, 'Acme Root');
  assert.deepEqual(found.issuer.Organization, ['Acme']);
  assert.deepEqual([found.isCa, found.hasPrivate], [false, false]);
  assert.equal('privateKeyPem' in found, false);
  assert.equal(read(authority.certPem).isCa, true);
});

for (const keyType of ['rsa', 'ec', 'ed25519'] as const) {
  test(`a chain with its ${keyType} private key is parsed in any order`, () => {
    const made = makeServerCertificate(authority, { keyType });
    const chain = made.certPem + authority.certPem;
    for (const text of [chain + made.keyPem, made.keyPem + chain, made.certPem + made.keyPem + authority.certPem]) {
      const found = read(text);
      assert.equal(found.hasPrivate, true);
      assert.equal(found.certificatesPem, chain);
      assert.ok(
        new X509Certificate(found.certificatesPem).checkPrivateKey(createPrivateKey(found.privateKeyPem ?? '')),
      );
    }
  });
}

test('private keys in PKCS #1 and SEC 1 form are parsed', () => {
  const rsa = makeServerCertificate(authority, { keyType: 'rsa' });
  const older = createPrivateKey(rsa.keyPem).export({ type: 'pkcs1', format: 'pem' });
  assert.equal(read(rsa.certPem + older).privateKeyPem, rsa.keyPem);
  const sec1 = createPrivateKey(leaf.keyPem).export({ type: 'sec1', format: 'pem' });
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  assert.equal(read(leaf.certPem + parameters + sec1).privateKeyPem, leaf.keyPem);
});

test('a bare public key is named by the SHA-256 of its key info and has no times', () => {
  const found = read(leaf.publicKeyPem);
  assert.match(found.id, new RegExp(`^${orgId}[0-9a-f]{64}$`));
  assert.equal(found.publicKeyPem, leaf.publicKeyPem);
  assert.equal(found.certificatesPem, '');
  assert.equal(found.notAfter, '0001-01-01T00:00:00Z');
  const rsa = makeCertificate({ cn: 'rsa', keyType: 'rsa' });
  const older = createPublicKey(rsa.publicKeyPem).export({ type: 'pkcs1', format: 'pem' }).toString();
  assert.equal(read(older).id, read(rsa.publicKeyPem).id);
});

test('distinguished names keep repeated, multi-valued and unknown attributes and separator characters', () => {
  const subject = [
    [['2.5.4.6', 'DE']],
    [['2.5.4.10', 'Müller, Söhne + "Co" <x>; \\ CN=evil\nO=evil']],
    [
      ['2.5.4.11', 'First'],
      ['2.5.4.11', 'Second + third'],
    ],
    [['2.5.4.8', 'Bayern']],
    [['2.5.4.7', '']],
    [['2.5.4.9', ' 1 Main St ']],
    [['2.5.4.17', '80331']],
    [['2.5.4.5', '0042']],
    [['1.3.6.1.4.1.99999.1', 'odd']],
    [['2.5.4.3', '#first']],
    [['2.5.4.3', '名前']],
  ] as const;
  const found = read(makeCertificate({ cn: 'unused', subject }).certPem).subject;
  assert.deepEqual(found, {
    Country: ['DE'],
    Organization: ['Müller, Söhne + "Co" <x>; \\ CN=evil\nO=evil'],
    OrganizationalUnit: ['First', 'Second + third'],
    Locality: [''],
    Province: ['Bayern'],
    StreetAddress: [' 1 Main St '],
    PostalCode: ['80331'],
    SerialNumber: '0042',
    CommonName: '名前',
    Names: subject.flat().map(([type, Value]) => ({ Type: type.split('.').map(Number), Value })),
    ExtraNames: [],
  });
});

test('a name with a NUL byte is refused', () => {
  refuses(makeCertificate({ cn: 'bank.example\0.evil.example' }).certPem, 'undecodable');
  refuses(makeCertificate({ cn: 'x', dnsNames: ['bank.example\0.evil.example'] }).certPem, 'undecodable');
});

test('an expired certificate is refused, one that starts tomorrow is not', () => {
  const wish = { cn: 'old', notAfter: new Date('2026-05-31T00:00:00Z') };
  refuses(makeCertificate(wish).certPem, 'expired', /^certificate is expired$/);
  const early = {
    cn: 'early',
    notBefore: new Date('2026-06-02T00:00:00Z'),
    notAfter: new Date('2051-01-01T00:00:00Z'),
  };
  assert.equal(read(makeCertificate(early).certPem).notAfter, '2051-01-01T00:00:00Z');
});

test('invalid, truncated, nested or damaged PEM is refused', () => {
  const lines = leaf.certPem.split('\n');
  for (const text of [
    '',
    'not a certificate',
    lines.slice(0, -3).join('\n'),
    lines.slice(1).join('\n'),
    `-----BEGIN CERTIFICATE-----\n${leaf.certPem}`,
    leaf.certPem.replace('END CERTIFICATE', 'END PRIVATE KEY'),
    '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----',
    lines.toSpliced(3, 2).join('\n'),
  ])
    refuses(text, 'undecodable', /^Failed to decode certificate\. It should be PEM encoded\.$/);
});

test('text around the blocks, other line endings and a byte order mark are ignored', () => {
  const text = `\uFEFFBag Attributes\r\n  friendlyName: x\r\n${leaf.certPem.replaceAll('\n', '\r\n')}\r\nmore words`;
  assert.equal(read(text).id, orgId + leaf.fingerprint);
  assert.equal(read(leaf.certPem.replaceAll(/^/gm, '  ')).certificatesPem, leaf.certPem);
});

test('keys and certificates that do not match are refused with a specific code', () => {
  const other = makeServerCertificate(authority);
  refuses(leaf.certPem + leaf.keyPem + other.keyPem, 'several_private_keys', /^Found multiple private keys$/);
  refuses(leaf.publicKeyPem + leaf.certPem, 'public_key_combined', /^Public keys can't be combined with certificates$/);
  refuses(leaf.publicKeyPem + leaf.keyPem, 'public_key_combined');
  refuses(leaf.publicKeyPem + other.publicKeyPem, 'several_public_keys');
  refuses(leaf.keyPem, 'private_key_alone');
  refuses(leaf.certPem + other.keyPem, 'private_key_foreign');
  refuses(authority.certPem + leaf.certPem + leaf.keyPem, 'leaf_not_first', /certificate 2 of the chain/);
  refuses(leaf.certPem + leaf.keyPem.replace(/\n.{8}/, '\nAAAAAAAA'), 'private_key_unreadable');
  refuses('-----BEGIN OPENSSH KEY-----\nAAAA\n-----END OPENSSH KEY-----', 'unknown_block', /OPENSSH/);
  refuses('-----BEGIN CONSTRUCTOR-----\nAAAA\n-----END CONSTRUCTOR-----', 'unknown_block');
});

test('an encrypted private key is refused with advice, in both formats', () => {
  const key = createPrivateKey(makeCertificate({ cn: 'x', keyType: 'rsa' }).keyPem);
  const lock = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
  for (const type of ['pkcs8', 'pkcs1'] as const)
    refuses(leaf.certPem + key.export({ type, ...lock }), 'private_key_encrypted', /upload it decrypted/);
});

test('an upload is bounded in bytes and in certificates', () => {
  refuses(leaf.certPem + ' '.repeat(maxUploadBytes), 'too_large');
  assert.equal(read(leaf.certPem + authority.certPem.repeat(maxCertificates - 1)).subjectCn, 'api.example.com');
  refuses(leaf.certPem + authority.certPem.repeat(maxCertificates), 'too_many');
});

test('no error of an upload contains the private key', () => {
  const canary = leaf.keyPem.split('\n')[1] ?? '';
  assert.throws(
    () => read(authority.certPem + leaf.keyPem),
    (error: Error) => !`${error.stack}${JSON.stringify(error)}${error.cause}`.includes(canary),
  );
});
