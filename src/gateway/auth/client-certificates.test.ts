import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type MadeCertificate, makeAuthority, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { type Bench, errorBody, openBench, orgId, type Sent, startMs } from '../../../tests/support/step-harness.ts';
import type { Api } from '../routing/api.ts';

describe('mutual TLS', () => {
  let bench: Bench;
  let api: Api;
  const stranger = makeAuthority('Stranger');
  const authority = makeAuthority();
  const listed = makeClientCertificate(stranger, 'listed');
  before(async () => {
    bench = await openBench();
    const client_certificates = [await bench.certificate(listed.certPem), await bench.certificate(authority.certPem)];
    api = await bench.compile({ use_keyless: true, use_mutual_tls_auth: true, client_certificates });
  });
  after(() => bench.close());
  const shows = ({ certPem }: MadeCertificate): Sent => ({
    peer: { isTls: true, certificate: new X509Certificate(certPem).raw },
  });
  const answer = async (sent: Sent) => {
    const { status, body, events } = await bench.send(api, sent);
    return [status, body, events];
  };

  test('an allowed certificate authenticates, and one issued by an allowed CA', async () => {
    assert.equal((await bench.send(api, shows(listed))).status, 0);
    assert.equal((await bench.send(api, shows(makeClientCertificate(authority)))).status, 0);
  });

  test('without TLS: 403', async () => {
    assert.deepEqual(await answer({}), [403, errorBody('TLS not enabled'), []]);
  });

  test('without a certificate: 403', async () => {
    const sent: Sent = { peer: { isTls: true } };
    assert.deepEqual(await answer(sent), [403, errorBody('Client TLS certificate is required'), []]);
  });

  test('another certificate: 403 with its fingerprint', async () => {
    const imposter = makeClientCertificate(makeAuthority(), 'same name, other key');
    for (const other of [makeClientCertificate(stranger), imposter, listed && makeClientCertificate(listed)])
      assert.deepEqual(await answer(shows(other)), [
        403,
        errorBody(`Certificate with SHA256 ${other.fingerprint} not allowed`),
        [],
      ]);
  });

  test('an expired certificate: 403; one that is not valid yet is not allowed', async () => {
    const old = makeClientCertificate(authority, 'old', { notAfter: new Date(startMs - 1000) });
    assert.deepEqual(await answer(shows(old)), [403, errorBody('Certificate has expired'), []]);
    const early = makeClientCertificate(authority, 'early', { notBefore: new Date(startMs + 1000) });
    assert.equal((await bench.send(api, shows(early))).status, 403);
  });

  test('a connection made to another host: 421', async () => {
    const { peer } = shows(listed);
    const sent: Sent = { peer: { ...peer, serverName: 'other.example' }, host: 'gateway.example' };
    assert.deepEqual(await answer(sent), [421, errorBody('Misdirected Request'), []]);
    assert.equal((await answer({ peer: { ...peer, serverName: 'gateway.example' } }))[0], 0);
  });

  test('an endpoint without auth needs no certificate', async () => {
    const change: Sent['change'] = call => {
      call.skipsAuth = true;
    };
    assert.equal((await bench.send(api, { change })).status, 0);
  });

  test('an API whose allowlist names a missing certificate is unavailable', async () => {
    const missing = orgId + '0'.repeat(64);
    const { unavailableReason: unserved } = await bench.compile({
      use_mutual_tls_auth: true,
      client_certificates: [missing],
    });
    assert.equal(unserved, `the client certificate ${missing} is not in the certificate store`);
  });
});
