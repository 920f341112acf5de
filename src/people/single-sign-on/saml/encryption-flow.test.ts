import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { makeCertificate } from '../../../../tests/support/certificates.ts';
import { type CookieJar, dashboardUrl, openSignedOnBrowser } from '../../../../tests/support/oidc.ts';
import { type SamlTestProvider, startSamlProvider } from '../../../../tests/support/saml.ts';
import { encryptAssertion } from '../../../../tests/support/saml-encryption.ts';
import { createSamlFlow } from '../../../../tests/support/saml-flow.ts';
import { mask } from '../profiles/secrets.ts';

const own = makeCertificate({ cn: 'Service provider', keyType: 'rsa' });
const keys = { SPCertificate: own.certPem, SPPrivateKey: own.keyPem };
rememberSecrets({ privateKey: own.keyPem.split('\n')[2]! });

let provider: SamlTestProvider;
before(async () => {
  provider = await startSamlProvider();
  provider.user = { id: 'ann', attributes: { email: 'ann@example.org' } };
});
after(() => provider?.close());

const encrypting = { encryptionCert: own.certPem, encryptionPublicKey: own.publicKeyPem };
const settings = { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' };

/** Response with its assertion encrypted by RSA 1.5. */
const encryptRsa15 = (encoded: string) => {
  const xml = Buffer.from(encoded, 'base64').toString();
  const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0];
  const encrypted = encryptAssertion(assertion, { publicKey: own.publicKeyPem, transport: 'rsa-1_5' });
  return Buffer.from(xml.replace(assertion, encrypted)).toString('base64');
};

onEveryEngine(
  'Single sign-on with encrypted SAML assertions',
  app => {
    const { createProfile, createProfileOf, toLogin, begin, post, signOn } = createSamlFlow(app, () => provider);

    test('a user signs on by an encrypted assertion, and not without the key of the profile', async () => {
      provider.options = encrypting;
      const { jar, response } = await signOn(await createProfile({}, keys));
      assert.equal(response.status, 303);
      assert.equal((await openSignedOnBrowser(app(), jar)).session.user.email_address, 'ann@example.org');
      const keyless = await createProfile();
      assert.equal((await post(keyless, await begin(keyless, new Map()))).status, 403);
    });

    test('an encrypted assertion is accepted once', async () => {
      provider.options = encrypting;
      const login = await createProfile({}, keys);
      const encoded = await begin(login, new Map());
      assert.equal((await post(login, encoded)).status, 303);
      assert.equal((await post(login, encoded)).status, 403);
    });

    test('the key is masked in responses and revisions, and sealed in the database; the certificate is shown', async () => {
      const id = await createProfileOf({ IDPMetadataURL: provider.metadataUrl, ...keys });
      const { body, text } = await app().ask('GET', `/api/sso/profiles/${id}`);
      assert.deepEqual([body.ProviderConfig.SPPrivateKey, body.ProviderConfig.SPCertificate], [mask, own.certPem]);
      assert.ok(!text.includes('PRIVATE KEY'));
      const { records, services } = app().application.installation;
      const rows = await records.db.selectFrom('identity_profiles').selectAll().execute();
      assert.ok(rows.length > 0 && !JSON.stringify(rows).includes('PRIVATE KEY'));
      assert.equal((await services.identityProfiles.get(body.OrgID, id))!.ProviderConfig.SPPrivateKey, own.keyPem);
      const kept = await app().ask('PUT', `/api/sso/profiles/${id}`, { body });
      assert.equal(kept.status, 200, kept.text);
      provider.options = encrypting;
      assert.equal((await signOn(toLogin(id))).response.status, 303);
      const moved = { ...body, ProviderConfig: { ...body.ProviderConfig, IDPMetadataURL: 'https://other.example/' } };
      const refused = await app().ask('PUT', `/api/sso/profiles/${id}`, { body: moved });
      assert.match(refused.body.Message, /SPPrivateKey: must be sent again when IDPMetadataURL changes/);
    });

    test('a key that cannot be used is refused with the reason', async () => {
      const other = makeCertificate({ cn: 'Other', keyType: 'rsa' });
      const curve = makeCertificate({ cn: 'Curve', keyType: 'ec' });
      const forms: [object, RegExp][] = [
        [{ SPCertificate: own.certPem }, /SPPrivateKey: must be a private key in PEM/],
        [{ SPPrivateKey: own.keyPem }, /SPPrivateKey: needs one certificate in PEM/],
        [{ ...keys, SPCertificate: own.certPem + other.certPem }, /needs one certificate/],
        [{ ...keys, SPPrivateKey: 'text' }, /must be a private key in PEM/],
        [{ ...keys, SPCertificate: other.certPem }, /is not the key of SPCertificate/],
        [{ SPCertificate: curve.certPem, SPPrivateKey: curve.keyPem }, /must be an RSA key of 2048 to 4096 bits/],
        [{ SPPrivateKeys: own.keyPem }, /"SPPrivateKeys"; did you mean SPPrivateKey\?/],
      ];
      for (const [config, message] of forms) {
        const ProviderConfig = { IDPMetadataURL: provider.metadataUrl, ...config };
        const body = { Name: 'SAML', ProviderName: 'SAMLProvider', ProviderConfig };
        const refused = await app().ask('POST', '/api/sso/profiles', { body });
        assert.equal(refused.status, 400, refused.text);
        assert.match(refused.body.Message, message);
      }
    });

    test('the metadata of this side publishes the certificate for encryption', async () => {
      const certificate = own.certPem.replaceAll(/-----[^-]+-----|\s/g, '');
      const metadata = await (await fetch(`${await createProfile({}, keys)}/metadata`)).text();
      const descriptor = /<KeyDescriptor use="encryption">[\s\S]*?<\/KeyDescriptor>/.exec(metadata)![0];
      assert.ok(descriptor.includes(`<X509Certificate>${certificate}</X509Certificate>`));
      assert.ok(descriptor.includes('<EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>'));
      assert.doesNotMatch(await (await fetch(`${await createProfile()}/metadata`)).text(), /KeyDescriptor/);
    });

    test('RSA 1.5 is refused without sso.allow_saml_rsa15', async () => {
      provider.options = {};
      const login = await createProfile({}, keys);
      assert.equal((await post(login, encryptRsa15(await begin(login, new Map())))).status, 403);
    });
  },
  { settings },
);

onEveryEngine(
  'The setting sso.allow_saml_rsa15',
  app => {
    const { createProfile, begin, post } = createSamlFlow(app, () => provider);

    test('accepts an assertion whose key is encrypted with RSA 1.5', async () => {
      provider.options = {};
      const login = await createProfile({}, keys);
      const jar: CookieJar = new Map();
      assert.equal((await post(login, encryptRsa15(await begin(login, jar)))).status, 303);
    });
  },
  { settings: { ...settings, 'sso.allow_saml_rsa15': 'true' } },
);
