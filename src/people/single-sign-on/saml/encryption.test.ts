import assert from 'node:assert/strict';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { makeCertificate } from '../../../../tests/support/certificates.ts';
import { type SamlTestProvider, startSamlProvider } from '../../../../tests/support/saml.ts';
import { contentNames, type EncryptionWish, encryptAssertion } from '../../../../tests/support/saml-encryption.ts';
import { SignOnRefusal } from '../problems.ts';
import { listChildren, readElementText } from './elements.ts';
import { parseMetadata } from './metadata.ts';
import { buildRequestUrl } from './request.ts';
import { readSignedAssertion } from './response.ts';

const entityId = 'https://dashboard.example/tib/auth/p/saml/metadata';
const redirectUrl = 'https://dashboard.example/tib/auth/p/saml/callback';
const own = makeCertificate({ cn: 'Service provider', keyType: 'rsa' });
const privateKey = createPrivateKey(own.keyPem);

let provider: SamlTestProvider;
before(async () => {
  provider = await startSamlProvider();
  provider.user = { id: 'ann', attributes: { email: 'ann@example.org' } };
});
after(() => provider?.close());

/** Response of the provider; `encryptionAlgorithm` of samlp encrypts its assertion. */
async function respond(options: Record<string, unknown> = {}): Promise<string> {
  provider.options = options;
  const request = { id: '_request', entityId, redirectUrl, forcesAuthentication: false, nowMs: Date.now() };
  const metadata = parseMetadata(await (await fetch(provider.metadataUrl)).text());
  return provider.respond(buildRequestUrl(metadata, request));
}

const encrypting = (encryptionAlgorithm?: string) => ({
  encryptionCert: own.certPem,
  encryptionPublicKey: own.publicKeyPem,
  disallowEncryptionWithInsecureAlgorithm: false,
  warnOnInsecureEncryptionAlgorithm: false,
  ...(encryptionAlgorithm && { encryptionAlgorithm }),
});

const assertionOf = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0];
/** The response with its assertion encrypted by the test. */
const encrypt = (xml: string, wish: Partial<EncryptionWish> = {}, change = (assertion: string) => assertion) =>
  xml.replace(assertionOf(xml), encryptAssertion(change(assertionOf(xml)), { publicKey: own.publicKeyPem, ...wish }));

const read = (xml: string, acceptsRsa15 = false) =>
  readSignedAssertion(xml, [provider.certPem], { privateKey, acceptsRsa15 });
const nameOf = (assertion: unknown) =>
  readElementText(listChildren(listChildren(assertion, 'Subject')[0], 'NameID')[0]);
const refuses = (xml: string, message: RegExp, about = '') =>
  assert.throws(
    () => read(xml),
    error => error instanceof SignOnRefusal && message.test(error.message),
    about,
  );

describe('SAML encrypted assertions', () => {
  test('assertions that the provider encrypts are read, signed inside or by the response', async () => {
    const algorithms = [
      'http://www.w3.org/2009/xmlenc11#aes256-gcm',
      'http://www.w3.org/2009/xmlenc11#aes128-gcm',
      'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
      'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
    ];
    const signatures = [{}, { signAssertion: false, signResponse: true }, { signResponse: true }];
    for (const algorithm of algorithms)
      for (const signature of signatures) {
        const xml = await respond({ ...encrypting(algorithm), ...signature });
        assert.ok(xml.includes('EncryptedAssertion') && !xml.includes('ann@example.org'), algorithm);
        assert.equal(nameOf(read(xml)), 'ann', `${algorithm} ${JSON.stringify(signature)}`);
      }
  });

  test('every accepted combination of content and key encryption is read', async () => {
    const xml = await respond();
    for (const content of contentNames) assert.equal(nameOf(read(encrypt(xml, { content }))), 'ann', content);
    for (const hash of ['sha1', 'sha256', 'sha512'] as const)
      assert.equal(nameOf(read(encrypt(xml, { transport: 'rsa-oaep', hash }))), 'ann', hash);
    assert.equal(nameOf(read(encrypt(xml, { keyBeside: true }))), 'ann');
    assert.equal(nameOf(read(encrypt(xml, { transport: 'rsa-oaep', methodMembers: '' }))), 'ann', 'defaults');
  });

  test('RSA 1.5 is refused, and read where the setting accepts it', async () => {
    const xml = encrypt(await respond(), { transport: 'rsa-1_5' });
    refuses(xml, /RSA 1\.5 refused/);
    assert.equal(nameOf(read(xml, true)), 'ann');
    const wrong = encrypt(await respond(), { transport: 'rsa-1_5', contentKey: randomBytes(32) }).replace(
      /(<xenc:CipherValue>)[^<]+/,
      `$1${randomBytes(255).toString('base64')}`,
    );
    assert.throws(() => read(wrong, true), /assertion cannot be decrypted/);
  });

  test('an encrypted assertion without a signature inside or around it is refused', async () => {
    refuses(await respond({ ...encrypting(), signAssertion: false }), /signature missing/);
    const xml = await respond();
    const forged = encrypt(xml, {}, it => it.replace('ann@example.org', 'eve@example.org'));
    refuses(forged, /signature invalid/);
    const stripped = encrypt(xml, {}, it => it.replace(/<(?:ds:)?Signature[\s\S]*<\/(?:ds:)?Signature>/, ''));
    refuses(stripped, /signature missing/);
  });

  test('a ciphertext that the signed response does not cover is refused, also with a valid assertion', async () => {
    const signed = await respond({ ...encrypting(), signResponse: true });
    const other = encryptAssertion(assertionOf(await respond()), { publicKey: own.publicKeyPem });
    const swapped = signed.replace(/<saml:EncryptedAssertion[\s\S]*<\/saml:EncryptedAssertion>/, other);
    assert.notEqual(swapped, signed);
    refuses(swapped, /signature invalid/);
  });

  test('signature wrapping with an encrypted assertion is refused in all of its forms', async () => {
    const xml = await respond();
    const signed = assertionOf(xml);
    const encrypted = encryptAssertion(signed, { publicKey: own.publicKeyPem });
    const forged = signed
      .replace(/<(?:ds:)?Signature[\s\S]*<\/(?:ds:)?Signature>/, '')
      .replace(/ID="[^"]+"/, 'ID="_forged"')
      .replace('ann@example.org', 'eve@example.org');
    const inside = (text: string) => xml.replace(signed, encryptAssertion(text, { publicKey: own.publicKeyPem }));
    const forms: Record<string, string> = {
      'forged beside the encrypted one': xml.replace(signed, forged + encrypted),
      'two encrypted ones': xml.replace(signed, encrypted + encrypted),
      'encrypted one in extensions': xml.replace(signed, `<samlp:Extensions>${encrypted}</samlp:Extensions>`),
      'signed one inside a forged one': inside(
        forged.replace('</saml:Assertion>', `<saml:Advice>${signed}</saml:Advice></saml:Assertion>`),
      ),
      'two assertions inside': inside(forged + signed),
      'encrypted one inside an encrypted one': inside(encrypted),
      'a whole response inside': inside(xml),
      'comment inside': inside(signed.replace('ann@example.org', 'ann@example.org<!-- -->.evil.example')),
      'document type inside': inside(`<!DOCTYPE a [<!ENTITY e "x">]>${signed}`),
    };
    for (const [about, changed] of Object.entries(forms)) {
      assert.notEqual(changed, xml, about);
      assert.throws(() => read(changed), SignOnRefusal, about);
    }
  });

  test('wrong key, padding, length and text of a ciphertext have one reason: no padding oracle', async () => {
    const xml = await respond();
    const reason = /^assertion cannot be decrypted$/;
    const stranger = makeCertificate({ cn: 'Other', keyType: 'rsa' });
    refuses(encrypt(xml, { publicKey: stranger.publicKeyPem }), reason, 'encrypted to another key');
    refuses(
      encrypt(xml, { contentKey: randomBytes(16), content: 'aes128-gcm' }).replace('#aes128-gcm', '#aes256-gcm'),
      reason,
      'key length',
    );
    for (const lastByte of [0, 17, 255])
      refuses(
        encrypt(xml, {
          content: 'aes256-cbc',
          changePadded: padded => Buffer.concat([padded.subarray(0, -1), Buffer.from([lastByte])]),
        }),
        reason,
        `padding ${lastByte}`,
      );
    for (const content of contentNames) {
      const whole = encrypt(xml, { content });
      const [, value] = /<xenc:CipherValue>([^<]+)<\/xenc:CipherValue><\/xenc:CipherData><\/xenc:EncryptedData>/.exec(
        whole,
      )!;
      for (const bytes of [1, 16, 28, 33])
        refuses(whole.replace(value!, randomBytes(bytes).toString('base64')), reason, `${content} ${bytes} bytes`);
      const changed = Buffer.from(value!, 'base64');
      changed[20]! ^= 1;
      assert.throws(() => read(whole.replace(value!, changed.toString('base64'))), SignOnRefusal, content);
    }
    refuses(
      encrypt(xml, {}, () => 'no XML'),
      reason,
      'no XML',
    );
    refuses(
      encrypt(xml, {}, () => '<a/>'),
      reason,
      'another element',
    );
  });

  test('other algorithms, references to ciphertext and repeated parts are refused', async () => {
    const xml = encrypt(await respond());
    const key = /<xenc:EncryptedKey>[\s\S]*<\/xenc:EncryptedKey>/.exec(xml)![0];
    const forms: [string, RegExp][] = [
      [xml.replace('xmlenc11#aes256-gcm', 'xmlenc#tripledes-cbc'), /content encryption algorithm refused/],
      [xml.replace('#rsa-oaep-mgf1p', '#kw-aes256'), /key transport algorithm refused/],
      [xml.replace('xmldsig#sha1"', 'xmldsig#md5"'), /must be of one hash/],
      [xml.replace('http://www.w3.org/2000/09/xmldsig#sha1"', 'http://www.w3.org/2001/04/xmlenc#sha256"'), /one hash/],
      [xml.replace(key, key + key), /EncryptedKey missing or repeated/],
      [xml.replace(key, ''), /EncryptedKey missing or repeated/],
      [xml.replace(/<ds:DigestMethod[^>]*>/, '<xenc:OAEPparams>YQ==</xenc:OAEPparams>'), /OAEPparams refused/],
      [
        xml.replaceAll(
          /<xenc:CipherValue>[^<]+<\/xenc:CipherValue>/g,
          '<xenc:CipherReference URI="http://127.0.0.1:1/"/>',
        ),
        /CipherValue missing/,
      ],
      [xml.replaceAll(/<xenc:CipherValue>/g, '<xenc:CipherValue>%'), /not base64/],
    ];
    for (const [changed, message] of forms) {
      assert.notEqual(changed, xml, `${message}`);
      refuses(changed, message, `${message}`);
    }
    assert.throws(() => readSignedAssertion(xml, [provider.certPem]), /no SPPrivateKey/);
  });
});
