import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { openBench, orgId } from '../../../tests/support/step-harness.ts';
import { createCertificateCache } from './certificate-cache.ts';

test('certificate cache: prefetch loads all pages of referenced certificates', async () => {
  const bench = await openBench();
  try {
    const client_certificates: string[] = [];
    for (let n = 0; n < 5; n++)
      client_certificates.push(await bench.certificate(makeAuthority(`authority ${n}`).certPem));
    const definition = { api_id: 'a', org_id: orgId, use_mutual_tls_auth: true, client_certificates };
    const certificates = createCertificateCache(bench.store, bench.vault, 2);
    const before = bench.queries();
    await certificates.prefetch([classicToModel(definition as unknown as ClassicDefinition)]);
    assert.equal(bench.queries() - before, 3, 'three pages');
    for (const id of client_certificates) assert.equal(certificates.get(orgId, id)?.id, id);
  } finally {
    await bench.close();
  }
});

test('certificate cache: referenced certificates go with a change of theirs, of the topic or of everything', async () => {
  const bench = await openBench();
  try {
    const [one, other] = [makeAuthority('one').certPem, makeAuthority('other').certPem];
    const client_certificates = [await bench.certificate(one), await bench.certificate(other)];
    const definition = { api_id: 'a', org_id: orgId, use_mutual_tls_auth: true, client_certificates };
    const certificates = createCertificateCache(bench.store, bench.vault);
    const listCached = () => client_certificates.filter(id => certificates.get(orgId, id));
    for (const [changes, left] of [
      [[{ topic: 'keys', id: '' }], client_certificates],
      [[{ topic: 'certificates', id: client_certificates[0]! }], client_certificates.slice(1)],
      [[{ topic: 'certificates', id: '' }], []],
      [undefined, []],
    ] as const) {
      await certificates.prefetch([classicToModel(definition as unknown as ClassicDefinition)]);
      assert.deepEqual(listCached(), client_certificates);
      certificates.invalidate(changes);
      assert.deepEqual(listCached(), left, JSON.stringify(changes));
    }
  } finally {
    await bench.close();
  }
});
