import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPublicId } from '#base/ids.ts';
import { checkMembers } from '#base/members.ts';
import { keyArbitrary } from '../../../tests/arbitraries/access.ts';
import { type Answer, onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { expectKeyError, openKeyTenant, rightsTo } from '../../../tests/support/key-tenant.ts';
import { issueKey, revokeKey } from './issue.ts';
import { fullKey, Key } from './schema.ts';

const members = [
  'access_rights',
  'alias',
  'allowance',
  'apply_policies',
  'apply_policy_id',
  'basic_auth_data',
  'certificate',
  'data_expires',
  'date_created',
  'enable_detailed_recording',
  'expires',
  'hmac_enabled',
  'hmac_string',
  'id_extractor_deadline',
  'is_inactive',
  'jwt_data',
  'key_id',
  'last_check',
  'last_updated',
  'max_query_depth',
  'meta_data',
  'monitor',
  'oauth_client_id',
  'oauth_keys',
  'org_id',
  'per',
  'quota_max',
  'quota_remaining',
  'quota_renewal_rate',
  'quota_renews',
  'rate',
  'session_lifetime',
  'smoothing',
  'tags',
  'throttle_interval',
  'throttle_retry_limit',
];

function assertEnvelope(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body).sort(), ['api_model', 'data', 'key_hash', 'key_id']);
  assert.deepEqual(answer.body.api_model, {});
  assert.deepEqual(Object.keys(answer.body.data).sort(), members);
  assert.equal(answer.body.data.key_id, answer.body.key_id);
}

onEveryEngine('keys', app => {
  test('a key is created with rights alone: its id begins with the organisation, and every member is returned', async () => {
    const { ask, orgId } = await openKeyTenant(app());
    const made = await ask('POST', '/api/keys', { ...rightsTo('a1'), rate: 10, per: 1, quota_max: 5, alias: 'Ann' });
    assertEnvelope(made);
    assert.match(made.body.key_id, new RegExp(`^${orgId}[0-9a-f]{32}$`));
    assert.match(made.body.key_hash, /^[0-9a-f]{16}$/);
    assert.equal(made.body.data.org_id, orgId);
    assert.ok(Date.parse(made.body.data.date_created) > 0);
    assert.match(made.body.data.last_updated, /^\d+$/);
    const read = await ask('GET', `/api/keys/${made.body.key_id}`);
    assertEnvelope(read);
    assert.deepEqual(read.body, made.body);
  });

  test('a valid key is read back as sent, except members set by the server', async () => {
    const { ask } = await openKeyTenant(app());
    await fc.assert(
      fc.asyncProperty(keyArbitrary(), async sent => {
        const { basic_auth_data: _password, meta_data, access_rights, ...rest } = sent;
        const unlimited = Object.fromEntries(
          Object.entries(access_rights ?? { a1: {} }).map(([id, right]) => [id, { ...right, limit: null }]),
        );
        // What it names must be there: those have tests of their own.
        const noCertificates = { certificate: '', mtls_static_certificate_bindings: [], rsa_certificate_id: '' };
        const named = { apply_policies: [], apply_policy_id: '', ...noCertificates };
        const key = { ...rest, ...named, access_rights: { a1: {}, ...unlimited }, meta_data: { free: meta_data } };
        const made = await ask('POST', '/api/keys', key);
        assert.equal(made.status, 200, made.text);
        const { data } = (await ask('GET', `/api/keys/${made.body.key_id}`)).body;
        const { key_id, org_id, date_created, last_updated, expires, quota_renews, quota_remaining } = data;
        const set = { key_id, org_id, date_created, last_updated, expires, quota_renews, quota_remaining };
        const hmac = sent.hmac_string ? {} : { hmac_string: data.hmac_string };
        const withoutNull = checkMembers(Key, JSON.parse(JSON.stringify(key))).value as Key;
        assert.deepEqual(data, { ...fullKey(withoutNull), ...set, ...hmac });
      }),
      { numRuns: 40 },
    );
  });

  test('a key needs rights or a policy, unless it is a basic-auth user', async () => {
    const { ask, policy } = await openKeyTenant(app());
    expectKeyError(await ask('POST', '/api/keys', {}), 400, /^access_rights: keys must have at least one/);
    assert.equal((await ask('POST', '/api/keys', { apply_policies: [await policy()] })).status, 200);
    assert.equal((await ask('POST', '/api/keys', { apply_policy_id: await policy() })).status, 200);
  });

  test('unknown or inactive policies of a key are refused with their path', async () => {
    const { ask, policy } = await openKeyTenant(app());
    const theirs = await (await openKeyTenant(app())).policy();
    const known = await policy();
    const make = (key: object) => ask('POST', '/api/keys', key);
    expectKeyError(
      await make({ apply_policies: [known, 'no-x'] }),
      400,
      /^apply_policies\[1\]: there is no policy no-x$/,
    );
    expectKeyError(await make({ apply_policies: [theirs] }), 400, /^apply_policies\[0\]: there is no policy/);
    expectKeyError(await make({ apply_policy_id: 'no-x' }), 400, /^apply_policy_id: there is no policy no-x$/);
    for (const state of ['draft', 'deny']) {
      const closed = await policy({ state });
      expectKeyError(
        await make({ apply_policies: [known, closed] }),
        400,
        new RegExp(`^apply_policies\\[1\\]: .* ${state}`),
      );
    }
    expectKeyError(
      await make({ apply_policies: [await policy({ access_rights: {} })] }),
      400,
      /^apply_policies: key has no/,
    );
  });

  test('a key keeps a policy that became inactive, and gets no other inactive one', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const [own, closed] = [await policy(), await policy({ state: 'draft' })];
    const { key_id } = await make({ apply_policies: [own] });
    const { body } = await ask('GET', `/api/portal/policies/${own}`);
    await ask('PUT', `/api/portal/policies/${own}`, { ...body, state: 'draft' });
    assert.equal((await ask('PUT', `/api/keys/${key_id}`, { apply_policies: [own], alias: 'x' })).status, 200);
    expectKeyError(
      await ask('PUT', `/api/keys/${key_id}`, { apply_policies: [own, closed] }),
      400,
      /^apply_policies\[1\]: /,
    );
  });

  test('a policy sets the lifetime of a new key; preview returns the effective key without storing it', async () => {
    const { ask, make, policy } = await openKeyTenant(app());
    const id = await policy({ key_expires_in: 1000, rate: 7, per: 3 });
    const { data } = await make({ apply_policies: [id] });
    assert.ok(data.expires > Number(data.last_updated));
    const preview = await ask('POST', '/api/keys/preview', { apply_policies: [id] });
    assertEnvelope(preview);
    assert.equal(preview.body.key_id, '');
    assert.deepEqual(Object.keys(preview.body.data.access_rights), ['a1']);
    assert.deepEqual([preview.body.data.rate, preview.body.data.per], [7, 3]);
    assert.equal((await ask('GET', '/api/keys/detailed')).body.keys.length, 1);
  });

  test('a preview with explain=1 names the policy or key behind each effective value', async () => {
    const { ask, policy } = await openKeyTenant(app());
    const slow = await policy({ rate: 1, per: 60, tags: ['slow'] });
    const fast = await policy({ rate: 9, per: 1 });
    const key = { apply_policies: [slow, fast], rate: 4, per: 1, tags: ['own'] };
    const { status, text, body } = await ask('POST', '/api/keys/preview?explain=1', key);
    assert.equal(status, 200, text);
    const find = (pointer: string) => body.explanation.values.find((it: { pointer: string }) => it.pointer === pointer);
    assert.deepEqual(find('/rate'), {
      pointer: '/rate',
      value: 9,
      sources: [{ kind: 'policy', id: fast }],
      overridden: [
        { kind: 'policy', id: slow, value: 1 },
        { kind: 'key', id: '', value: 4 },
      ],
    });
    assert.deepEqual(find('/tags').sources, [
      { kind: 'key', id: '' },
      { kind: 'policy', id: slow },
    ]);
    assert.equal(body.explanation.is_complete, true);
    assert.equal((await ask('POST', '/api/keys/preview', key)).body.explanation, undefined);
  });

  test('a custom key is found by name and by id; a second create is a conflict', async () => {
    const { ask, orgId } = await openKeyTenant(app());
    const made = await ask('POST', '/api/keys/my-key', rightsTo('a1'));
    assertEnvelope(made);
    assert.equal(made.body.key_id, `${orgId}my-key`);
    for (const id of ['my-key', `${orgId}my-key`]) {
      assert.equal((await ask('GET', `/api/keys/${id}`)).body.key_id, `${orgId}my-key`);
    }
    expectKeyError(await ask('POST', '/api/keys/my-key', rightsTo('a1')), 409, /already exists/);
    expectKeyError(await ask('POST', '/api/keys/ab', rightsTo('a1')), 400, /at least 3 characters/);
    expectKeyError(await ask('POST', `/api/keys/${orgId}`, rightsTo('a1')), 400, /at least 3 characters/);
    const token = Buffer.from(JSON.stringify({ org: orgId, id: 'brought', h: 'sha256' })).toString('base64');
    const brought = await ask('POST', `/api/keys/${encodeURIComponent(token)}`, rightsTo('a1'));
    assert.equal(brought.body.key_id, token);
    assert.match(brought.body.key_hash, /^[0-9a-f]{64}$/);
    assert.equal((await ask('GET', '/api/keys/brought')).body.key_id, token);
  });

  test('an update replaces a key; secrets, creation date and organisation stay; suppress_reset keeps the quota period', async () => {
    const { ask, make, orgId } = await openKeyTenant(app());
    const { key_id, data } = await make({ ...rightsTo('a1'), quota_max: 9, quota_renewal_rate: 600, tags: ['t'] });
    const next = { ...rightsTo('a1', 'b2'), quota_max: 4, quota_renewal_rate: 60, org_id: 'elsewhere' };
    const kept = await ask('PUT', `/api/keys/${key_id}?suppress_reset=1`, next);
    assertEnvelope(kept);
    assert.deepEqual(
      [kept.body.data.quota_renews, kept.body.data.last_updated, kept.body.data.org_id, kept.body.data.tags],
      [data.quota_renews, data.last_updated, orgId, []],
    );
    const reset = await ask('PUT', `/api/keys/${key_id}`, next);
    assert.equal(reset.body.data.quota_remaining, 4);
    assert.equal(reset.body.data.date_created, data.date_created);
    assert.deepEqual(Object.keys(reset.body.data.access_rights), ['a1', 'b2']);
    expectKeyError(await ask('PUT', '/api/keys/nobody', next), 404, /^Could not retrieve key detail$/);
    expectKeyError(await ask('PUT', `/api/keys/${key_id}`, {}), 400, /^access_rights: /);
    const bound = { ...next, certificate: 'no-such-certificate' };
    expectKeyError(await ask('PUT', `/api/keys/${key_id}`, bound), 400, /existent certificate/);
  });

  test('a deleted key is not found; keys of other organisations are not found', async () => {
    const { ask, make } = await openKeyTenant(app());
    const { key_id, key_hash } = await make();
    const stranger = await openKeyTenant(app());
    for (const method of ['GET', 'DELETE']) {
      expectKeyError(await stranger.ask(method, `/api/keys/${key_id}`), 404, /Could not retrieve/);
      expectKeyError(await stranger.ask(method, `/api/keys/${key_hash}?hashed=1`), 404, /Could not retrieve/);
    }
    expectKeyError(await stranger.ask('PUT', `/api/keys/${key_id}`, rightsTo('a1')), 404, /Could not retrieve/);
    const gone = await ask('DELETE', `/api/keys/${key_id}`);
    assert.deepEqual(gone.body, { Status: 'OK', Message: 'Key deleted successfully', Meta: null });
    expectKeyError(await ask('GET', `/api/keys/${key_id}`), 404, /Could not retrieve/);
    expectKeyError(await ask('DELETE', `/api/keys/${key_id}`), 404, /Could not retrieve/);
  });

  test('query flags select whether a path holds an id, a hash or a user name', async () => {
    const { ask, make } = await openKeyTenant(app());
    const { key_id, key_hash } = await make();
    await ask('POST', '/api/apis/keys/basic/ann', { basic_auth_data: { password: 'pass word' } });
    await ask('POST', '/api/keys/custom', rightsTo('a1'));
    const status = async (path: string) => (await ask('GET', `/api/keys/${path}`)).status;
    assert.equal(await status(key_hash), 404);
    assert.equal(await status(`${key_hash}?hashed=true`), 200);
    assert.equal(await status(`${key_id}?hashed=true`), 404);
    assert.equal(await status(`${key_hash}?auto_guess=true`), 200);
    assert.equal(await status(`${key_id}?auto_guess=true`), 200);
    assert.equal(await status('ann?username=true'), 200);
    assert.equal(await status('custom?username=true'), 404);
    expectKeyError(await ask('GET', `/api/keys/${key_id}?username=perhaps`), 400, /^username: /);
    assert.equal((await ask('DELETE', `/api/keys/${key_hash}?hashed=1`)).status, 200);
    assert.equal(await status(key_id), 404);
  });

  test('invalid members of a key are refused with their path', async () => {
    const { ask } = await openKeyTenant(app());
    const make = (key: unknown) => ask('POST', '/api/keys', key);
    expectKeyError(await make({ ...rightsTo('a1'), rate: '10' }), 400, /^rate: /);
    expectKeyError(await make({ ...rightsTo('a1'), quota_max: 1.5 }), 400, /^quota_max: /);
    expectKeyError(
      await make({ access_rights: { a1: { allowed_urls: [{ url: 1 }] } } }),
      400,
      /^access_rights\.a1\.allowed_/,
    );
    expectKeyError(
      await make({ ...rightsTo('a1'), smoothing: { delay: 0 } }),
      400,
      /^smoothing\.delay: must be at least 1/,
    );
    expectKeyError(await make({ ...rightsTo('a1'), meta_data: { policies: [1] } }), 400, /^meta_data\.policies: /);
    expectKeyError(await make({ ...rightsTo('x'.repeat(300)) }), 400, /^access_rights: /);
    expectKeyError(
      await make({ ...rightsTo('a1'), apply_policies: Array(101).fill('x') }),
      400,
      /^apply_policies: .* 100/,
    );
    expectKeyError(await make('text'), 400, /malformed/);
  });

  test('an HMAC key gets a secret, sealed at rest', async () => {
    const { ask, make } = await openKeyTenant(app());
    const secrets = { hmac_string: `hmac-${createPublicId()}`, jwt: `jwt-${createPublicId()}` };
    rememberSecrets(secrets);
    const { key_id, data } = await make({ ...rightsTo('a1'), hmac_enabled: true });
    assert.ok(data.hmac_string.length >= 32);
    const given = { ...rightsTo('a1'), hmac_enabled: true, hmac_string: secrets.hmac_string };
    await ask('PUT', `/api/keys/${key_id}`, { ...given, jwt_data: { secret: secrets.jwt } });
    const read = (await ask('GET', `/api/keys/${key_id}`)).body.data;
    assert.deepEqual([read.hmac_string, read.jwt_data.secret], [secrets.hmac_string, secrets.jwt]);
    const { records } = app().application.installation;
    const rows = await records.db.selectFrom('keys').selectAll().execute();
    const kept = JSON.stringify(rows);
    for (const secret of [key_id, ...Object.values(secrets)]) assert.ok(!kept.includes(secret));
  });

  test('issued keys are found by credential until revoked; every change raises the revision', async () => {
    const { orgId, ask } = await openKeyTenant(app());
    const { services, records } = app().application.installation;
    const before = await records.revision();
    const { key_id, key_hash, data } = await issueKey(services, orgId, rightsTo('a1'));
    assert.ok((await records.revision()) > before);
    assert.equal(data.org_id, orgId);
    assert.equal((await ask('GET', `/api/keys/${key_id}`)).body.key_hash, key_hash);
    assert.equal((await services.keys.findByCredential(orgId, key_id))?.keyHash, key_hash);
    assert.equal(await services.keys.findByCredential('another', key_id), undefined);
    assert.equal(await revokeKey(services, 'another', key_id), false);
    assert.equal(await revokeKey(services, orgId, key_id), true);
    assert.equal(await revokeKey(services, orgId, key_id), false);
    assert.equal(await services.keys.findByCredential(orgId, key_id), undefined);
    assert.ok((await records.revision()) > before + 1);
  });

  test('a hash shared by two keys is refused as ambiguous', async () => {
    const { ask, make } = await openKeyTenant(app());
    const { records } = app().application.installation;
    const [one, two] = [await make(), await make()];
    await records.db.updateTable('keys').set({ key_hash: one.key_hash }).where('key_hash', '=', two.key_hash).execute();
    const body = rightsTo('a1');
    for (const path of ['/api/keys', '/api/apis/-/keys'])
      for (const method of ['GET', 'PUT', 'DELETE'])
        expectKeyError(
          await ask(method, `${path}/${one.key_hash}?hashed=1`, method === 'PUT' ? body : undefined),
          409,
          /Several keys have this hash/,
        );
    for (const [method, path, sent] of [
      ['POST', `/api/keys/${one.key_hash}/rotate?hashed=1`, {}],
      ['PATCH', `/api/keys/${one.key_hash}?hashed=1`, { extend_to: 0 }],
    ] as const)
      expectKeyError(await ask(method, path, sent), 409, /Several keys have this hash/);
    for (const [method, path] of [
      ['GET', `/gw/keys/${one.key_hash}?hashed=1`],
      ['PUT', `/gw/keys/${one.key_hash}?hashed=1`],
      ['DELETE', `/gw/keys/${one.key_hash}?hashed=1`],
      ['POST', `/gw/keys/policy/${one.key_hash}`],
    ] as const) {
      const sent = { PUT: { body }, POST: { body: { policy: 'p' } }, GET: {}, DELETE: {} }[method];
      const { status, body: answer } = await app().ask(method, path, sent);
      assert.equal(status, 409, path);
      assert.match(answer.message, /Several keys have this hash/);
    }
  });

  test('the limits of an organisation and a key with an unknown certificate are refused by every operation', async () => {
    const { ask, make, orgId } = await openKeyTenant(app());
    const { key_id } = await make();
    const limits = await app().ask('POST', '/admin/org/keys', { body: { org_id: orgId, rate: 1, per: 1 } });
    assert.equal(limits.status, 200, limits.text);
    for (const path of [`/api/keys/${orgId}`, `/api/apis/-/keys/${orgId}`]) {
      expectKeyError(await ask('PUT', path, rightsTo('a1')), 403, /limits of an organisation/);
      expectKeyError(await ask('DELETE', path), 403, /limits of an organisation/);
    }
    expectKeyError(await ask('POST', `/api/keys/${orgId}/rotate`, {}), 403, /limits of an organisation/);
    expectKeyError(await ask('PATCH', `/api/keys/${orgId}`, { extend_to: 0 }), 403, /limits of an organisation/);
    const user = { ...rightsTo('a1'), basic_auth_data: { password: 'correct horse battery' } };
    assert.equal((await ask('POST', '/api/apis/keys/basic/ann', user)).status, 200);
    const bound = { ...rightsTo('a1'), certificate: 'unknown' };
    for (const [method, path] of [
      ['POST', '/api/keys'],
      ['POST', '/api/keys/named-key'],
      ['POST', '/api/keys/preview'],
      ['PUT', `/api/keys/${key_id}`],
      ['PUT', `/api/apis/-/keys/${key_id}`],
      ['PUT', '/api/apis/keys/basic/ann'],
    ] as const)
      expectKeyError(
        await ask(method, path, bound),
        400,
        /^certificate: Key must be used with an existent certificate$/,
      );
    const { status } = await app().ask('POST', '/gw/keys/other-key', { body: { ...bound, org_id: orgId } });
    assert.equal(status, 400);
  });
});
