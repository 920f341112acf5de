import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, onEveryEngine } from '../../../tests/support/app.ts';
import { makeAuthority, makeCertificate, makeClientCertificate } from '../../../tests/support/certificates.ts';

function expectError({ status, body, text }: Answer, expected: number, message: string | RegExp): void {
  assert.equal(status, expected, text);
  assert.equal(body.status, 'error');
  if (typeof message === 'string') assert.equal(body.message, message);
  else assert.match(body.message, message);
}

onEveryEngine('certificates of the gateway API', app => {
  const ask = (method: string, path: string, body?: string) =>
    app().ask(method, path, body === undefined ? {} : { body });

  test('a certificate is added, listed, read and removed, with the exact response shapes', async () => {
    const { orgId } = await app().stranger();
    const { certPem, keyPem, fingerprint } = makeCertificate({ cn: 'server', dnsNames: ['a.example'] });
    const id = orgId + fingerprint;
    const added = await ask('POST', `/gw/certs?org_id=${orgId}`, certPem + keyPem);
    assert.deepEqual(added.body, { id, status: 'ok', message: 'Certificate added' });
    assert.deepEqual((await ask('GET', `/gw/certs?org_id=${orgId}`)).body, { certs: [id] });
    const { body: detailed } = await ask('GET', `/gw/certs?org_id=${orgId}&mode=detailed`);
    assert.deepEqual(detailed, {
      certs: [
        {
          id,
          has_private: true,
          is_ca: false,
          dns_names: ['a.example'],
          not_before: '2020-01-01T00:00:00Z',
          not_after: '2049-12-31T23:59:59Z',
          issuer_cn: 'server',
          subject_cn: 'server',
        },
      ],
    });
    const full = await ask('GET', `/gw/certs/${id}`);
    assert.deepEqual(Object.keys(full.body).sort(), [
      'dns_names',
      'fingerprint',
      'has_private',
      'id',
      'is_ca',
      'issuer',
      'not_after',
      'not_before',
      'subject',
    ]);
    assert.deepEqual([full.body.fingerprint, full.body.subject.CommonName], [fingerprint, 'server']);
    assert.doesNotMatch(full.text, /PRIVATE/);
    assert.deepEqual((await ask('DELETE', `/gw/certs/${id}`)).body, { status: 'ok', message: 'removed' });
    const unknown = 'Certificate with given SHA256 fingerprint not found';
    expectError(await ask('GET', `/gw/certs/${id}`), 404, unknown);
    expectError(await ask('DELETE', `/gw/certs/${id}`), 404, unknown);
    assert.deepEqual((await ask('GET', `/gw/certs?org_id=${orgId}`)).body, { certs: [] });
  });

  test('several certificates are read as an array, all or none', async () => {
    const authority = makeAuthority();
    const ids: string[] = [];
    for (const cn of ['one', 'two'])
      ids.push((await ask('POST', '/gw/certs', makeClientCertificate(authority, cn).certPem)).body.id);
    const { body } = await ask('GET', `/gw/certs/${ids.join(',')}`);
    assert.deepEqual(
      body.map((it: { subject: { CommonName: string } }) => it.subject.CommonName),
      ['one', 'two'],
    );
    assert.equal((await ask('GET', `/gw/certs/${ids.join(',')},nothing`)).status, 404);
    const { organisation_id } = app().credentials;
    assert.ok(ids.every(id => id.startsWith(organisation_id)));
    const everywhere = (await ask('GET', '/gw/certs')).body.certs;
    for (const id of ids) assert.ok(everywhere.includes(id));
  });

  test('a bare public key is a certificate too', async () => {
    const { publicKeyPem } = makeCertificate({ cn: 'bare' });
    const { body } = await ask('POST', '/gw/certs', publicKeyPem);
    assert.match((await ask('GET', `/gw/certs/${body.id}`)).body.subject.CommonName, /^Public Key: /);
  });

  test('an upload that is not a certificate is refused with the reason', async () => {
    const { certPem, keyPem, publicKeyPem } = makeCertificate({ cn: 'x' });
    const expired = makeCertificate({ cn: 'old', notAfter: new Date('2021-01-01T00:00:00Z') });
    const undecodable = 'Failed to decode certificate. It should be PEM encoded.';
    expectError(await ask('POST', '/gw/certs', ''), 400, /^Malformed request body/);
    expectError(await ask('POST', '/gw/certs'), 400, /^Malformed request body/);
    expectError(await ask('POST', '/gw/certs', 'no certificate'), 400, undecodable);
    expectError(await ask('POST', '/gw/certs', expired.certPem), 400, 'certificate is expired');
    expectError(await ask('POST', '/gw/certs', certPem + keyPem + keyPem), 400, 'Found multiple private keys');
    const combined = "Public keys can't be combined with certificates";
    expectError(await ask('POST', '/gw/certs', certPem + publicKeyPem), 400, combined);
    expectError(await ask('POST', '/gw/certs?org_id=nobody', certPem), 400, 'org_id: there is no organisation nobody');
    const { body } = await ask('POST', '/gw/certs', certPem);
    expectError(await ask('POST', '/gw/certs', certPem), 409, `Certificate with ${body.id} id already exists`);
  });

  test('org_id restricts a delete; of concurrent adds or deletes of one certificate one succeeds', async () => {
    const { orgId } = await app().stranger();
    const { certPem } = makeCertificate({ cn: 'race' });
    const add = () => ask('POST', `/gw/certs?org_id=${orgId}`, certPem);
    const answers = await Promise.all([add(), add(), add()]);
    assert.deepEqual(answers.map(it => it.status).sort(), [200, 409, 409]);
    const { id } = answers.find(it => it.status === 200)!.body;
    const { organisation_id } = app().credentials;
    assert.equal((await ask('DELETE', `/gw/certs/${id}?org_id=${organisation_id}`)).status, 404);
    const gone = await Promise.all([1, 2, 3].map(() => ask('DELETE', `/gw/certs/${id}?org_id=${orgId}`)));
    assert.deepEqual(gone.map(it => it.status).sort(), [200, 404, 404]);
  });
});
