import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { makeCertificate } from '../../../../tests/support/certificates.ts';
import { readSaml } from '../profiles/provider-configs.ts';
import { createSamlProviders } from './metadata.ts';

const { certPem } = makeCertificate({ cn: 'SAML provider', keyType: 'rsa' });
const certificate = certPem.replaceAll(/-----[^-]+-----|\s/g, '');
const metadata = (entityId: string) =>
  [
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><IDPSSODescriptor>`,
    `<KeyDescriptor><KeyInfo><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
    '<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/"/>',
    '</IDPSSODescriptor></EntityDescriptor>',
  ].join('');

describe('SAML metadata of a profile', () => {
  const findProvider = createSamlProviders({} as OutboundClient, systemClock);
  const find = (IDPMetadata: string) => findProvider('org', readSaml({ IDPMetadata }));

  test('a document is parsed once, and another one by itself', async () => {
    const first = await find(metadata('urn:a'));
    assert.equal(await find(metadata('urn:a')), first);
    assert.equal((await find(metadata('urn:b'))).entityId, 'urn:b');
  });

  test('a document that cannot be used fails each time with its reason', async () => {
    for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(find('<a/>'), /no entity id/);
  });
});
