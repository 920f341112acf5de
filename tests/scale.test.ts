import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CompiledQuery, sql } from 'kysely';
import { buildScan } from '#access/keys/scan-store.ts';
import { buildListQueries, selectKeyRows } from '#access/keys/search-store.ts';
import type { PolicySearch } from '#access/policies/store.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';

/** What still holds with a hundred thousand keys and ten thousand policies: every list uses an index. */

const keyCount = 100_000;
const policyCount = 10_000;
const apiCount = 200;
const organisations = 20;
const rowsAtOnce = 2500;

const number = (n: number) => String(n).padStart(8, '0');

/** The first organisation is the one of the test's users; it has as many objects as the others. */
async function fill(app: TestApp, orgId: string): Promise<void> {
  const { records, services } = app.application.installation;
  const orgOf = (n: number) => (n % organisations === 0 ? orgId : `org-${n % organisations}`);
  const apiOf = (n: number) => `api-${Math.floor(n / organisations) % apiCount}`;
  const insert = async <Row>(table: string, count: number, rowOf: (n: number) => Row) => {
    for (let at = 0; at < count; at += rowsAtOnce) {
      const rows = Array.from({ length: Math.min(rowsAtOnce, count - at) }, (_, n) => rowOf(at + n));
      await records.db
        .insertInto(table as never)
        .values(rows as never)
        .execute();
    }
  };
  await records.write(async () => {
    await insert('keys', keyCount, n => ({
      id: `k${number(n)}`,
      org_id: orgOf(n),
      created_at: 1_700_000_000_000 + n,
      digest: number(n),
      key_hash: number(n),
      kind: 'token',
      sealed: orgOf(n) === orgId ? services.vault.seal(`${orgId}${number(n)}`, 'key') : '',
      body: JSON.stringify({ org_id: orgOf(n), alias: `Key ${n}`, access_rights: { [apiOf(n)]: {} } }),
    }));
    await insert('key_apis', keyCount, n => ({ org_id: orgOf(n), api_id: apiOf(n), key: `k${number(n)}` }));
    await insert('key_policies', keyCount / 10, n => ({
      org_id: orgOf(n),
      policy_id: `policy-${n % policyCount}`,
      key: `k${number(n)}`,
    }));
    await insert('policies', policyCount, n => ({
      id: `p${number(n)}`,
      org_id: orgOf(n),
      created_at: 1_700_000_000_000 + n,
      policy_id: `policy-${n}`,
      name: `Policy ${n}`,
      name_fold: `policy ${n}`,
      state: ['active', 'draft', 'deny'][n % 3],
      auth_type: ['authToken', 'jwt', 'oauth', 'other'][n % 4],
      body: JSON.stringify({ _id: `p${number(n)}`, id: `policy-${n}`, org_id: orgOf(n), name: `Policy ${n}` }),
    }));
    await insert('policy_apis', policyCount, n => ({ org_id: orgOf(n), api_id: apiOf(n), policy: `p${number(n)}` }));
  });
  await sql`analyze`.execute(records.db);
}

/** A table read from its first row to its last is the one thing a plan may not hold. */
const reads = {
  sqlite: /^SCAN (?!\w+ USING)(keys|policies|key_apis|key_policies|policy_apis)\b/m,
  postgres: /Seq Scan on (keys|policies|key_apis|key_policies|policy_apis)\b/,
};

onEveryEngine('Scale: 100,000 keys and 10,000 policies', (app, engine) => {
  let orgId = '';
  let accessKey = '';
  const plan = async (name: string, query: { compile(): CompiledQuery }) => {
    const text = await app().application.installation.records.explain(query.compile());
    assert.doesNotMatch(text, reads[engine], `${name}:\n${text}`);
  };
  const ask = (path: string) => app().ask('GET', path, { credential: accessKey });

  test('all rows are stored', async () => {
    ({ orgId, accessKey } = await app().stranger());
    await fill(app(), orgId);
    assert.equal(await app().application.installation.services.keys.count(orgId), keyCount / organisations);
  });

  test('keys are listed, counted, found and iterated by an index', async () => {
    const { records } = app().application.installation;
    const whole = await records.explain(selectKeyRows(records).where('body', '=', 'x').compile());
    assert.match(whole, reads[engine], 'a plan without an index is known for one');
    const all = buildListQueries(records, orgId);
    const ofApi = buildListQueries(records, orgId, { apiId: 'api-7' });
    await plan('a page of keys', all.rows.limit(10).offset(20));
    await plan('the count of keys', all.counted);
    await plan('a page of the keys of an API', ofApi.rows.limit(10));
    await plan('the count of the keys of an API', ofApi.counted);
    await plan('a key by its id', selectKeyRows(records).where('digest', 'in', ['a', 'b']));
    await plan('a key by its hash', selectKeyRows(records).where('org_id', '=', orgId).where('key_hash', '=', 'x'));
    await plan('a step of a search', buildScan(records, orgId, undefined, { created_at: 1_700_000_050_000, id: 'k' }));
  });

  test('policies are listed, found and sorted by an index, with every filter', async () => {
    const { policies } = app().application.installation.services;
    const asked: PolicySearch[] = [
      {},
      { q: 'policy 12' },
      { policyIds: ['policy-20', 'p00000040'] },
      { states: ['draft'] },
      { apiIds: ['api-1', 'api-2'] },
      { authType: 'jwt' },
      { sort: 'date_created' },
      { sort: 'name' },
      { sort: 'state' },
      { q: 'policy', states: ['active'], apiIds: ['api-1'], authType: 'jwt', sort: 'name' },
    ];
    for (const search of asked) await plan(JSON.stringify(search), policies.searchQuery(orgId, search).limit(10));
  });

  test('a key is found by a part of its id among all keys of its organisation', async () => {
    const last = number(keyCount - organisations);
    const { body } = await ask(`/api/keys/detailed?q=${last}`);
    assert.deepEqual([body.pages, body.keys.map((key: { key_id: string }) => key.key_id)], [1, [`${orgId}${last}`]]);
    const some = (await ask('/api/keys/detailed?q=0000&p=2')).body;
    assert.equal(some.keys.length, 10);
    assert.ok(some.pages > 2);
  });

  test('the last page and the unpaged list are complete', async () => {
    const first = (await ask('/api/keys/detailed')).body;
    assert.equal(first.pages, keyCount / organisations / 10);
    const last = (await ask(`/api/keys/detailed?p=${first.pages}`)).body;
    assert.equal(last.keys.at(-1).key_id, `${orgId}${number(0)}`);
    assert.equal((await ask('/api/keys/detailed?p=-1')).body.keys.length, keyCount / organisations);
    assert.equal((await ask('/api/portal/policies/search?p=-1')).body.Data.length, policyCount / organisations);
    const ofApi = (await ask('/api/apis/api-7/keys?p=-1')).body.data.keys;
    assert.equal(ofApi.length, keyCount / organisations / apiCount);
  });
});
