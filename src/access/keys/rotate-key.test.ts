import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { expectKeyError, openKeyTenant, rightsTo } from '../../../tests/support/key-tenant.ts';

onEveryEngine('key rotation', app => {
  test('a rotated key has the rights of the old one, which ends after the grace period or at once', async () => {
    const { ask, make, policy, orgId } = await openKeyTenant(app());
    const gold = await policy();
    const sent = { apply_policies: [gold], alias: 'Mobile', tags: ['t'], meta_data: { a: 1 }, hmac_enabled: true };
    const old = await make(sent);
    const before = Math.floor(app().application.installation.services.clock.now() / 1000);
    const { status, body, text } = await ask('POST', `/api/keys/${old.key_id}/rotate`, { grace_seconds: 900 });
    assert.equal(status, 200, text);
    rememberSecrets({ key: body.key_id });
    assert.notEqual(body.key_id, old.key_id);
    assert.match(body.key_id, /^[0-9a-f]{56}$/);
    const { alias, tags, meta_data, apply_policies, hmac_string, expires } = body.data;
    assert.deepEqual([alias, tags, meta_data, apply_policies, expires], ['Mobile', ['t'], { a: 1 }, [gold], 0]);
    assert.ok(hmac_string !== '' && hmac_string !== old.data.hmac_string);
    assert.equal(body.replaced.key_hash, old.key_hash);
    assert.ok(body.replaced.expires >= before + 900 && body.replaced.expires <= before + 1800);
    assert.equal((await ask('GET', `/api/keys/${old.key_id}`)).body.data.expires, body.replaced.expires);
    const again = await ask('POST', `/api/keys/${old.key_id}/rotate`, { grace_seconds: 86_400 });
    assert.equal(again.body.replaced.expires, body.replaced.expires, 'the grace period is never prolonged');
    const removed = await ask('POST', `/api/keys/${body.key_hash}/rotate?hashed=1`, {});
    assert.deepEqual([removed.status, removed.body.replaced.expires], [200, 0]);
    expectKeyError(await ask('GET', `/api/keys/${body.key_id}`), 404, /Could not retrieve/);
    expectKeyError(await ask('POST', '/api/keys/unknown-key/rotate', {}), 404, /Could not retrieve/);
    assert.equal((await ask('POST', `/api/keys/${old.key_id}/rotate`, { grace_seconds: -1 })).status, 400);
    const limit = await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { max_keys: 1 } });
    assert.equal(limit.status, 200, limit.text);
    expectKeyError(await ask('POST', `/api/keys/${old.key_id}/rotate`, {}), 403, /^limit reached: max_keys 1$/);
    assert.equal((await ask('GET', `/api/keys/${old.key_id}`)).status, 200, 'nothing has changed');
  });

  test('keys without an id of their own and expired keys cannot be rotated', async () => {
    const { ask, make } = await openKeyTenant(app());
    const user = { ...rightsTo('a1'), basic_auth_data: { password: 'correct horse battery' } };
    assert.equal((await ask('POST', '/api/apis/keys/basic/ann', user)).status, 200);
    expectKeyError(await ask('POST', '/api/keys/ann/rotate', {}), 400, /cannot be rotated: .* basic-auth user/);
    const { key_id, key_hash } = await make({ ...rightsTo('a1'), expires: 4_000_000_000 });
    const { records } = app().application.installation;
    const { body } = await records.db
      .selectFrom('keys')
      .select('body')
      .where('key_hash', '=', key_hash)
      .executeTakeFirstOrThrow();
    const expired = body.replace('"expires":4000000000', '"expires":1000000000');
    await records.db.updateTable('keys').set({ body: expired }).where('key_hash', '=', key_hash).execute();
    expectKeyError(await ask('POST', `/api/keys/${key_id}/rotate`, {}), 400, /cannot be rotated: it has expired/);
  });
});
