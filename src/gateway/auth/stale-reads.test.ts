import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keyDigest } from '#access/keys/key-row.ts';
import { tokenDigest } from '#access/oauth/token-store.ts';
import type { AccessStore } from '#access/reader.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import { createLog } from '#base/log.ts';
import { readSettings } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { createOrganisationLimitCache } from '../limits/organisation-limit-cache.ts';
import { createCertificateCache } from './certificate-cache.ts';
import { createKeyCache } from './key-cache.ts';
import { createOauthTokenCache } from './oauth/token-cache.ts';

const orgId = '5e9d9544a1dcd60001d0ed20';
const vault = createVault(createDataKey());
const settings = readSettings({});
const log = createLog({ level: 'silent', format: 'json' });
const rights = { org_id: orgId, access_rights: { a: { api_id: 'a', versions: [] } } };

/** A store whose reads of one kind the test completes; it counts them. */
function slowStore(kind: keyof AccessStore, others: Partial<AccessStore> = {}) {
  const reads: PromiseWithResolvers<unknown[]>[] = [];
  const read = () => {
    reads.push(Promise.withResolvers());
    return reads.at(-1)!.promise;
  };
  return { reads, store: { ...others, [kind]: read } as Partial<AccessStore> as AccessStore };
}

const clock = { ms: 1000, now: () => clock.ms };
const sessionsWith = (store: AccessStore) => createKeyCache({ store, vault, settings, clock, log });

interface Cache {
  readonly find: (name?: string) => unknown;
  readonly change: (changes: readonly ConfigChange[] | undefined) => void;
  readonly changes: readonly ConfigChange[];
  /** What evicts the one thing, where `changes` are of another. */
  readonly own?: readonly ConfigChange[];
  readonly reads: PromiseWithResolvers<unknown[]>[];
  readonly row: (name?: string) => unknown;
}

const keyRow = (digest: string, kind = 'token', body: object = rights) => ({
  id: '1',
  org_id: orgId,
  kind,
  key_hash: 'hash',
  sealed: '',
  body: JSON.stringify(body),
  digest,
  created_at: 0,
});

/** Every cache of client credentials, each with one lookup. */
const caches: Readonly<Record<string, () => Cache>> = {
  keys() {
    const { reads, store } = slowStore('keys');
    const keyCache = sessionsWith(store);
    const digest = (name: string) => keyDigest(vault, `${orgId}${name}`);
    return {
      find: (name = 'slow') => keyCache.find(orgId, name),
      change: keyCache.invalidate,
      changes: [{ topic: 'keys', id: digest('slow') }],
      reads,
      row: (name = 'slow') => keyRow(digest(name)),
    };
  },
  policies() {
    const { reads, store } = slowStore('policies');
    const keyCache = sessionsWith(store);
    return {
      find: (name = 'gold') => keyCache.policies(orgId, [name]),
      change: keyCache.invalidate,
      changes: [{ topic: 'policies', id: `${orgId}/silver` }],
      own: [{ topic: 'policies', id: `${orgId}/gold` }],
      reads,
      row: (name = 'gold') => ({ id: name, _id: name, ...rights }),
    };
  },
  'OAuth clients'() {
    const { reads, store } = slowStore('oauthClients');
    const tokens = createOauthTokenCache({ store, sessions: sessionsWith(store), vault, settings, clock, log });
    return {
      find: (name = 'client') => tokens.client('api', name),
      change: tokens.invalidate,
      changes: [{ topic: 'oauth', id: '' }],
      reads,
      row: () => ({ body: '{}' }),
    };
  },
  'OAuth access tokens'() {
    const { reads, store } = slowStore('oauthTokens');
    const tokens = createOauthTokenCache({ store, sessions: sessionsWith(store), vault, settings, clock, log });
    return {
      find: (name = 'token') => tokens.find(orgId, name),
      change: tokens.invalidate,
      changes: [{ topic: 'oauth', id: tokenDigest(vault, 'token') }],
      reads,
      row: () => ({ org_id: orgId, client_id: 'client', expires_at: 1e15, body: JSON.stringify(rights) }),
    };
  },
  certificates() {
    const { reads, store } = slowStore('certificates');
    const certificates = createCertificateCache(store, vault);
    const body = { fingerprint: 'f', isCa: true, certificatesPem: makeAuthority().certPem };
    return {
      find: (name = 'c') => certificates.find(orgId, name),
      change: certificates.invalidate,
      changes: [{ topic: 'certificates', id: 'c' }],
      reads,
      row: (name = 'c') => ({ id: name, org_id: orgId, body: JSON.stringify(body) }),
    };
  },
  'limits of organisations'() {
    const { reads, store } = slowStore('keys');
    const organisations = createOrganisationLimitCache(store, vault);
    const row = (name = orgId) => ({
      ...keyRow(keyDigest(vault, name), 'organisation', { rate: 1, per: 1 }),
      org_id: name,
    });
    return {
      find: (name = orgId) => organisations.find(name),
      change: organisations.invalidate,
      changes: [{ topic: 'keys', id: row().digest }],
      reads,
      row,
    };
  },
};

describe('caches and concurrent changes', () => {
  for (const [what, open] of Object.entries(caches)) {
    test(`${what}: a read that a change overtakes is not cached`, async () => {
      const { find, change, changes, reads, row } = open();
      const first = find();
      change(changes);
      // Only the read that began before the change ends: a later one would hide what it stored.
      reads[0]!.resolve([row()]);
      await first;
      void find();
      assert.equal(reads.length, 2, 'the store is asked again');
    });

    test(`${what}: a change of it, its topic or everything invalidates it; another does not`, async () => {
      const { find, change, changes, own = changes, reads, row } = open();
      const read = async () => {
        const found = find();
        reads.at(-1)!.resolve([row()]);
        await found;
      };
      await read();
      const wholeTopic = changes.map(({ topic }) => ({ topic, id: '' }));
      let asked = 1;
      for (const [changed, isEvicted] of [
        [own, true],
        [[{ topic: 'apis', id: '' }], false],
        [wholeTopic, true],
        [[], false],
        [undefined, true],
      ] as const) {
        change(changed);
        await read();
        asked += isEvicted ? 1 : 0;
        assert.equal(reads.length, asked, JSON.stringify(changed));
      }
    });

    test(`${what}: a read without a concurrent change is cached`, async () => {
      const { find, reads, row } = open();
      const first = find();
      reads[0]!.resolve([row()]);
      assert.ok(await first);
      await find();
      assert.equal(reads.length, 1);
    });

    test(`${what}: many are cached at the same time`, async () => {
      const { find, reads, row } = open();
      const names = Array.from({ length: 20 }, (_, index) => `name-${index}`);
      for (const name of names) {
        const found = find(name);
        reads.at(-1)!.resolve([row(name)]);
        assert.ok(await found);
      }
      for (const name of names) void find(name);
      assert.equal(reads.length, names.length);
    });
  }

  test('a wrong access token is looked up once in two seconds, and at once after a change', async () => {
    const { reads, store } = slowStore('oauthTokens');
    const tokens = createOauthTokenCache({ store, sessions: sessionsWith(store), vault, settings, clock, log });
    const guess = async () => {
      const found = tokens.find(orgId, 'guess');
      reads.at(-1)?.resolve([]);
      assert.equal(await found, undefined);
      return reads.length;
    };
    assert.deepEqual([await guess(), await guess()], [1, 1]);
    clock.ms += 1999;
    assert.equal(await guess(), 1);
    clock.ms += 1;
    assert.deepEqual([await guess(), await guess()], [2, 2]);
    tokens.invalidate([{ topic: 'oauth', id: '' }]);
    assert.equal(await guess(), 3);
  });
});
