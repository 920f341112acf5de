import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';
import type { ApiSubsets } from './api-subsets.ts';
import { buildNextSnapshot, createEmptySnapshot } from './snapshot.ts';

const tcpPort = 19_999;

/** A definition that is in one subset and in no other. */
const members: Record<keyof ApiSubsets, object> = {
  tcpServices: { protocol: 'tcp', listen_port: tcpPort, proxy: { listen_path: '/', target_url: 'tcp://127.0.0.1:1' } },
  uptimeTested: { uptime_tests: { check_list: [{ url: 'http://127.0.0.1:1/' }] } },
  tlsConfigured: { domain: 'a.example' },
  lifetimeLimited: { session_lifetime: 60 },
  certified: {},
};
const names = Object.keys(members) as (keyof ApiSubsets)[];

describe('Subsets of the APIs of a snapshot', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench({ 'gateway.extra_ports': String(tcpPort) });
    const ssl_ca_certificates = [await bench.certificate(makeAuthority().certPem)];
    const proxy = { listen_path: '/certified/', target_url: 'https://127.0.0.1:1', transport: { ssl_ca_certificates } };
    members.certified = { proxy };
  });
  after(() => bench.close());

  const compile = (id: string, more: object) => bench.compile({ use_keyless: true, id, api_id: id, ...more });

  test('an API is in the subsets of its features, and leaves them with its features', async () => {
    let snapshot = createEmptySnapshot({ prefix: false });
    for (const name of names) {
      const api = await compile(name, members[name]);
      assert.equal(api.unavailableReason, '');
      snapshot = buildNextSnapshot(snapshot, 1, [api], []);
    }
    for (const name of names)
      assert.deepEqual(
        snapshot.subsets[name].map(({ id }) => id),
        [name],
      );
    for (const name of names) {
      snapshot = buildNextSnapshot(snapshot, 2, [await compile(name, {})], []);
      assert.deepEqual(snapshot.subsets[name], []);
    }
  });

  test('a subset is the same list until one of its members changes', async () => {
    const all = await Promise.all(names.map(name => compile(name, members[name])));
    const first = buildNextSnapshot(createEmptySnapshot({ prefix: false }), 1, all, []);
    const plain = await compile('plain', {});
    const second = buildNextSnapshot(buildNextSnapshot(first, 2, [plain], []), 3, [], ['plain']);
    for (const name of names) assert.equal(second.subsets[name], first.subsets[name], name);
    for (const name of names) {
      const next = buildNextSnapshot(first, 2, [await compile(name, members[name])], []);
      for (const other of names) assert.equal(next.subsets[other] === first.subsets[other], other !== name, other);
    }
  });
});
