import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeCertificate } from '../../../../tests/support/certificates.ts';
import { type SamlTestProvider, samlEntityId, startSamlProvider } from '../../../../tests/support/saml.ts';
import { SignOnRefusal } from '../problems.ts';
import { readSaml } from '../profiles/provider-configs.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { checkAssertion, readAssertedUser, readClaims } from './assertion.ts';
import { parseMetadata } from './metadata.ts';
import { buildRequestUrl } from './request.ts';
import { readSignedAssertion } from './response.ts';
import { loadXmlLibraries } from './xml-libraries.ts';

const entityId = 'https://dashboard.example/tib/auth/p/saml/metadata';
const redirectUrl = 'https://dashboard.example/tib/auth/p/saml/callback';
const requestId = '_request';

let provider: SamlTestProvider;
before(async () => {
  provider = await startSamlProvider();
  provider.user = { id: 'ann', attributes: { email: 'ann@example.org' } };
});
after(() => provider?.close());

async function readMetadata() {
  return parseMetadata(await (await fetch(provider.metadataUrl)).text());
}

async function respond(options: Record<string, unknown> = {}): Promise<string> {
  provider.options = options;
  const nowMs = Date.now();
  const request = { id: requestId, entityId, redirectUrl, forcesAuthentication: false, nowMs };
  return provider.respond(buildRequestUrl(await readMetadata(), request));
}

const expected = (more: object = {}) => ({ issuer: samlEntityId, entityId, redirectUrl, nowMs: Date.now(), ...more });
const verify = async (xml: string) => readSignedAssertion(xml, [provider.certPem]);
const refuses = (xml: string, message: RegExp) =>
  assert.rejects(verify(xml), error => error instanceof SignOnRefusal && message.test(error.message), `${message}`);

const assertionOf = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0];
const signatureOf = (xml: string) => /<(?:ds:)?Signature[\s\S]*<\/(?:ds:)?Signature>/.exec(xml)![0];

describe('SAML responses', () => {
  test('a signed assertion is read as the signature covers it', async () => {
    for (const options of [{}, { signAssertion: false, signResponse: true }, { signResponse: true }]) {
      const assertion = await verify(await respond(options));
      const { inResponseTo, expiresAtMs, id } = checkAssertion(assertion, expected());
      assert.equal(inResponseTo, requestId);
      assert.ok(expiresAtMs > Date.now() && id !== '');
    }
  });

  test('an unsigned, changed or foreign assertion is refused', async () => {
    await refuses(await respond({ signAssertion: false }), /signature missing/);
    const xml = await respond();
    await refuses(xml.replace('ann@example.org', 'eve@example.org'), /signature invalid/);
    await refuses(xml.replace(signatureOf(xml), ''), /signature missing/);
    const other = makeCertificate({ cn: 'Other', keyType: 'rsa' });
    assert.throws(() => readSignedAssertion(xml, [other.certPem]), /signature invalid/);
    assert.throws(() => readSignedAssertion(xml, []), /signature invalid/);
    await refuses(await respond({ cert: other.certPem, key: other.keyPem }), /signature invalid/);
  });

  test('one of several certificates of the provider verifies: key rotation', async () => {
    const next = makeCertificate({ cn: 'Next', keyType: 'rsa' });
    readSignedAssertion(await respond(), [next.certPem, provider.certPem]);
  });

  test('weak algorithms are refused', async () => {
    await refuses(await respond({ signatureAlgorithm: 'rsa-sha1' }), /signature invalid/);
    await refuses(await respond({ digestAlgorithm: 'sha1' }), /signature invalid/);
  });

  test('comments, document types, entities, CDATA and processing instructions are refused', async () => {
    const xml = await respond();
    for (const changed of [
      xml.replace('ann@example.org', 'ann@example.org<!-- -->.evil.example'),
      `<!DOCTYPE r [<!ENTITY e "x">]>${xml}`,
      `<!DOCTYPE r SYSTEM "http://127.0.0.1:1/">${xml}`,
      xml.replace('ann@example.org', '<![CDATA[ann@example.org]]>'),
      xml.replace('ann@example.org', '<?x y?>ann@example.org'),
    ])
      await refuses(changed, /XML has comments, a document type or CDATA/);
    await refuses(xml.replace('ann@example.org', '&unknown;'), /XML malformed/);
    await refuses(xml.slice(0, -20), /XML malformed/);
    await refuses('', /XML malformed/);
    await refuses('<a/>', /Assertion missing or repeated/);
  });

  test('signature wrapping is refused in all of its forms', async () => {
    const xml = await respond();
    const signed = assertionOf(xml);
    const signature = signatureOf(xml);
    const forged = signed
      .replace(signature, '')
      .replace(/ID="[^"]+"/, 'ID="_forged"')
      .replace('ann@example.org', 'eve@example.org');
    const forgedWithSignature = forged.replace(/(<saml:Issuer>[^<]*<\/saml:Issuer>)/, `$1${signature}`);
    const wrapped = (text: string) =>
      text.replace('</saml:Assertion>', `<saml:Advice>${signed}</saml:Advice></saml:Assertion>`);
    const inObject = signature.replace(/<\/((?:ds:)?)Signature>$/, `<$1Object>${signed}</$1Object></$1Signature>`);
    const forms: Record<string, string> = {
      'forged before the signed one': xml.replace(signed, forged + signed),
      'forged after the signed one': xml.replace(signed, signed + forged),
      'signed one inside the forged one': xml.replace(signed, wrapped(forged)),
      'signed one inside, signature outside': xml.replace(signed, wrapped(forgedWithSignature)),
      'signed one in an object of the signature': xml.replace(
        signed,
        forged.replace(/(<saml:Issuer>[^<]*<\/saml:Issuer>)/, `$1${inObject}`),
      ),
      'signed one in extensions': xml.replace(signed, `<samlp:Extensions>${signed}</samlp:Extensions>${forged}`),
      'signature of the signed one on the forged one': xml.replace(signed, forgedWithSignature),
      'response inside a response': `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r">${xml}</samlp:Response>`,
    };
    for (const [about, changed] of Object.entries(forms)) {
      assert.notEqual(changed, xml, about);
      await assert.rejects(verify(changed), SignOnRefusal, about);
    }
  });

  test('what would take long before the signature is verified is refused', async () => {
    const xml = await respond();
    const reference = /<(?:ds:)?Reference[\s\S]*<\/(?:ds:)?Reference>/.exec(xml)![0];
    await refuses(xml.replace(reference, reference.repeat(500)), /more than one reference/);
    const transform = /<(?:ds:)?Transform [^>]*(?:\/>|>\s*<\/(?:ds:)?Transform>)/.exec(xml)![0];
    await refuses(xml.replace(transform, transform.repeat(5)), /transforms exceed 4/);
    const attributes = Array.from({ length: 1000 }, (_none, n) => ` a${n}="b"`).join('');
    await refuses(xml.replace('<saml:Assertion ', `<saml:Assertion${attributes} `), /tag exceeds 4096 characters/);
    await refuses(
      xml.replace('</saml:Assertion>', `${'<x/>'.repeat(30_000)}</saml:Assertion>`),
      /more than 20000 parts/,
    );
    const signature = signatureOf(xml);
    await refuses(xml.replace(signature, signature.repeat(3)), /signatures exceed 2/);
  });

  test('a signature of the right key over another element is refused', async () => {
    const xml = (await respond({ signAssertion: false })).replace(/<samlp:Status>/, '<samlp:Status ID="_status">');
    const { SignedXml } = loadXmlLibraries();
    const signer = new SignedXml({ privateKey: provider.keyPem });
    signer.signatureAlgorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
    signer.canonicalizationAlgorithm = 'http://www.w3.org/2001/10/xml-exc-c14n#';
    signer.addReference({
      xpath: "//*[local-name(.)='Status']",
      digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
      transforms: ['http://www.w3.org/2001/10/xml-exc-c14n#'],
    });
    signer.computeSignature(xml, {
      location: { reference: "//*[local-name(.)='Assertion']/*[local-name(.)='Issuer']", action: 'after' },
    });
    await refuses(signer.getSignedXml(), /covers another element/);
  });

  test('issuer, audience, recipient, request and times are checked', async () => {
    const assertion = (await verify(await respond())) as Record<string, unknown>;
    const refusals: [object, RegExp][] = [
      [{ issuer: 'urn:other' }, /issuer mismatch/],
      [{ entityId: 'urn:other' }, /audience mismatch/],
      [{ redirectUrl: 'https://other.example/' }, /recipient mismatch/],
      [{ nowMs: Date.now() + 7_200_000 }, /NotOnOrAfter in the past/],
      [{ nowMs: Date.now() - 7_200_000 }, /NotBefore in the future|IssueInstant out of range/],
      [{ nowMs: Date.now() + 700_000 }, /IssueInstant out of range/],
    ];
    for (const [more, message] of refusals) assert.throws(() => checkAssertion(assertion, expected(more)), message);
    checkAssertion(assertion, expected({ nowMs: Date.now() - 30_000 }));
    const without = (name: string) => Object.fromEntries(Object.entries(assertion).filter(([key]) => key !== name));
    assert.throws(() => checkAssertion(without('Conditions'), expected()), /Conditions missing/);
    assert.throws(() => checkAssertion(without('Subject'), expected()), /Subject missing/);
    assert.throws(() => checkAssertion(without('AuthnStatement'), expected()), /AuthnStatement missing/);
    const unsolicited = JSON.parse(JSON.stringify(assertion).replace(/"-InResponseTo":"[^"]*",?/, ''));
    assert.throws(() => checkAssertion(unsolicited, expected()), /IdP-initiated/);
  });

  test('attributes with equal names are each read once, and their values are joined', () => {
    const [count, reads] = [4000, { total: 0 }];
    const attributes = Array.from({ length: count }, (_none, n) => ({
      get '-Name'() {
        reads.total++;
        return 'groups';
      },
      AttributeValue: [`group-${n}`, 'staff'],
    }));
    const assertion = { AttributeStatement: { Attribute: attributes } };
    const profile = { CustomUserIDField: '', CustomUserGroupField: 'groups', UserGroupSeparator: '' };
    const { groups } = readAssertedUser(profile as IdentityProfile, readSaml({ IDPMetadata: '<a/>' }), assertion);
    assert.deepEqual([groups.length, groups.at(-2), reads.total], [2 * count, `group-${count - 1}`, count]);
    const { groups: shown, ...others } = readClaims(assertion);
    assert.deepEqual([shown!.slice(0, 2), others, reads.total], [['group-0', 'staff'], {}, 2 * count]);
    assert.ok(shown!.join('').length <= 1000);
  });
});
