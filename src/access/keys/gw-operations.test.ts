import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { readSettings } from '#base/settings.ts';
import { type Answer, onEveryEngine, rememberSecrets, type TestApp } from '../../../tests/support/app.ts';
import { makeCertificate } from '../../../tests/support/certificates.ts';
import { displayHash } from './key-row.ts';
import { fullKey } from './schema.ts';

const rights = (apiId = 'orders') => ({ [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'] } });
const members = Object.keys(fullKey({})).sort();

function expectError(answer: Answer, status: number, message: string | RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(Object.keys(answer.body).sort(), ['message', 'status']);
  assert.equal(answer.body.status, 'error');
  if (typeof message === 'string') assert.equal(answer.body.message, message);
  else assert.match(answer.body.message, message);
}

/** What a script does with the keys of one organisation. */
async function desk(app: TestApp) {
  const { orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, body === undefined ? {} : { body });
  const add = async (key: object = {}, path = '/gw/keys') => {
    const made = await ask('POST', path, { org_id: orgId, access_rights: rights(), ...key });
    assert.equal(made.status, 200, made.text);
    rememberSecrets({ key: made.body.key });
    return made.body as { key: string; key_hash: string; action: string };
  };
  const read = async (keyId: string, query = '') => {
    const { status, text, body } = await ask('GET', `/gw/keys/${encodeURIComponent(keyId)}${query}`);
    assert.equal(status, 200, text);
    return body;
  };
  return { orgId, ask, add, read };
}

onEveryEngine('keys of the gateway API', app => {
  test('a key is created, read, replaced and removed, with the exact response shapes', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const made = await add({ alias: 'first' });
    assert.match(made.key, new RegExp(`^${orgId}[0-9a-f]{32}$`));
    assert.deepEqual(made, { key: made.key, status: 'ok', action: 'added', key_hash: made.key_hash });
    assert.match(made.key_hash, /^[0-9a-f]+$/);
    const shown = await read(made.key);
    assert.deepEqual(Object.keys(shown).sort(), members);
    assert.deepEqual([shown.alias, shown.org_id, shown.key_id], ['first', orgId, made.key]);
    const changed = await ask('PUT', `/gw/keys/${made.key}`, { ...shown, alias: 'second' });
    assert.deepEqual(changed.body, { key: made.key, status: 'ok', action: 'modified', key_hash: made.key_hash });
    const next = await read(made.key);
    assert.deepEqual([next.alias, next.date_created], ['second', shown.date_created]);
    assert.deepEqual((await ask('DELETE', `/gw/keys/${made.key}`)).body, {
      key: made.key,
      status: 'ok',
      action: 'deleted',
    });
    expectError(await ask('GET', `/gw/keys/${made.key}`), 404, 'Key not found');
    expectError(await ask('PUT', `/gw/keys/${made.key}`, shown), 404, 'Key is not found');
    expectError(await ask('DELETE', `/gw/keys/${made.key}`), 404, 'There is no such key found');
  });

  test('a key without org_id is of the default organisation; an unknown org_id is refused', async () => {
    const { ask, read } = await desk(app());
    const { body } = await ask('POST', '/gw/keys', { access_rights: rights() });
    assert.equal((await read(body.key)).org_id, app().credentials.organisation_id);
    expectError(
      await ask('POST', '/gw/keys', { org_id: 'nobody', access_rights: rights() }),
      400,
      /^org_id: .* nobody$/,
    );
  });

  test('an invalid key is refused with its path and not stored', async () => {
    const { orgId, ask } = await desk(app());
    const wrong = { org_id: orgId, rate: 'many', tags: [7] };
    expectError(await ask('POST', '/gw/keys', wrong), 400, /rate: expected number.*tags\[0\]: expected string/);
    expectError(await ask('POST', '/gw/keys', { org_id: orgId }), 400, /^access_rights: .*Access Rights record/);
    const unknown = { org_id: orgId, apply_policies: ['nothing'] };
    expectError(await ask('POST', '/gw/keys', unknown), 400, 'apply_policies[0]: there is no policy nothing');
    expectError(
      await ask('POST', '/gw/keys/ab', { org_id: orgId, access_rights: rights() }),
      400,
      /at least 3 characters/,
    );
    expectError(await ask('POST', '/gw/keys', ''), 400, /empty/);
    expectError(await ask('POST', '/gw/keys', '{'), 400, /malformed/);
    assert.deepEqual((await ask('GET', `/gw/keys?filter=${orgId}`)).body, { keys: [] });
  });

  test('a custom key is found by name and by id, and replaced by a second write', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const made = await add({ alias: 'one' }, '/gw/keys/my-own-name');
    assert.equal(made.key, `${orgId}my-own-name`);
    assert.equal((await read('my-own-name', `?org_id=${orgId}`)).alias, 'one');
    expectError(await ask('GET', '/gw/keys/my-own-name'), 404, 'Key not found');
    const again = await add({ alias: 'two' }, '/gw/keys/my-own-name');
    assert.deepEqual([made.action, again], ['added', { ...made, action: 'modified' }]);
    assert.equal((await read(made.key)).alias, 'two');
    assert.equal((await read(made.key_hash, '?hashed=true')).alias, 'two');
    assert.deepEqual((await ask('GET', `/gw/keys?filter=${orgId}`)).body, { keys: [made.key] });
  });

  test('concurrent writes of one name both succeed, and one of them is stored', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const name = createPublicId();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(alias => add({ alias }, `/gw/keys/${name}`)));
    assert.equal(new Set(answers.map(it => it.key)).size, 1);
    assert.equal(answers.filter(it => it.action === 'added').length, 1);
    assert.match((await read(name, `?org_id=${orgId}`)).alias, /^[a-d]$/);
    assert.deepEqual((await ask('GET', `/gw/keys?filter=${orgId}`)).body.keys, [answers[0]!.key]);
  });

  test('a key with a password is a basic-auth user: found by name, password never returned, kept when not sent', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const password = createPublicId();
    rememberSecrets({ password });
    const made = await add({ basic_auth_data: { password } }, '/gw/keys/ann');
    assert.equal(made.key, `${orgId}ann`);
    const readPassword = async () => {
      const { keys } = app().application.installation.services;
      return (await keys.get(orgId, 'ann'))!.key.basic_auth_data!.password;
    };
    const before = await readPassword();
    const shown = await read('ann', `?username=true&org_id=${orgId}`);
    assert.equal(shown.basic_auth_data.password, '');
    const by = `username=true&org_id=${orgId}`;
    const changed = await ask('PUT', `/gw/keys/ann?${by}`, { ...shown, alias: 'Ann' });
    assert.equal(changed.body.key, made.key);
    assert.equal(await readPassword(), before);
    expectError(await ask('GET', `/gw/keys/nobody?${by}`), 404, 'Key not found');
    await add({}, '/gw/keys/not-a-user');
    expectError(await ask('GET', `/gw/keys/not-a-user?${by}`), 404, 'Key not found');
    assert.equal((await ask('DELETE', `/gw/keys/ann?${by}`)).body.action, 'deleted');
    expectError(await ask('DELETE', `/gw/keys/ann?${by}`), 404, 'There is no such key found');
  });

  test('create generates the HMAC secret, whatever was sent', async () => {
    const { ask, add, read, orgId } = await desk(app());
    const sent = 'sent-by-the-caller';
    const made = await add({ hmac_enabled: true, hmac_string: sent }, '/gw/keys/create');
    const { hmac_string } = await read(made.key);
    assert.match(Buffer.from(hmac_string, 'base64').toString(), /^[0-9a-f]{32}$/);
    const kept = await add({ hmac_enabled: true, hmac_string: sent });
    assert.equal((await read(kept.key)).hmac_string, sent);
    const none = 'Failed to create key, keys must have at least one Access Rights record set.';
    expectError(await ask('POST', '/gw/keys/create', { org_id: orgId }), 400, none);
  });

  test('a certificate has one key, with an id derived from it, which stays bound', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const { certPem } = makeCertificate({ cn: 'client' });
    const { body: certificate } = await app().ask('POST', `/gw/certs?org_id=${orgId}`, { body: certPem });
    const made = await add({ certificate: certificate.id }, '/gw/keys/create');
    assert.equal(made.key, certificate.id);
    const again = { org_id: orgId, access_rights: rights(), certificate: certificate.id };
    const taken = `Failed to create key - Key with given certificate already found:${made.key}`;
    expectError(await ask('POST', '/gw/keys/create', again), 409, taken);
    expectError(await ask('POST', '/gw/keys/create', { ...again, certificate: 'none' }), 400, /existent certificate$/);
    const shown = await read(made.key);
    const without = await ask('PUT', `/gw/keys/${made.key}`, { ...shown, certificate: '' });
    expectError(without, 400, /Key cannot be used without a certificate$/);
    const other = await ask('PUT', `/gw/keys/${made.key}`, { ...shown, certificate: 'none' });
    expectError(other, 400, /Key must be used with an existent certificate$/);
  });

  test('a key with an unknown certificate is refused with its path, and changes nothing', async () => {
    const { orgId, ask, add, read } = await desk(app());
    const { certPem } = makeCertificate({ cn: 'client' });
    const uploaded = await ask('POST', `/gw/certs?org_id=${orgId}`, certPem);
    assert.equal(uploaded.status, 200, uploaded.text);
    const id = uploaded.body.id as string;
    const made = await add({ mtls_static_certificate_bindings: [id] });
    const shown = await read(made.key);
    const stranger = await app().stranger();
    const foreign = await app().ask('POST', `/gw/certs?org_id=${stranger.orgId}`, {
      body: makeCertificate({ cn: 'foreign' }).certPem,
    });
    for (const [wrong, place] of [
      [{ mtls_static_certificate_bindings: [id, 'none'] }, /mtls_static_certificate_bindings\[1\]: there is no such/],
      [
        { mtls_static_certificate_bindings: [foreign.body.id] },
        /mtls_static_certificate_bindings\[0\]: there is no such/,
      ],
      [{ rsa_certificate_id: 'none' }, /rsa_certificate_id: there is no such/],
    ] as const) {
      expectError(await ask('POST', '/gw/keys', { org_id: orgId, access_rights: rights(), ...wrong }), 400, place);
      expectError(await ask('PUT', `/gw/keys/${made.key}`, { ...shown, ...wrong }), 400, place);
      assert.deepEqual((await read(made.key)).mtls_static_certificate_bindings, [id]);
    }
    expectError(
      await ask('POST', '/gw/keys', { org_id: orgId, access_rights: rights(), certificate: 'none' }),
      400,
      /existent/,
    );
    // What the key named before stays, also after the certificate was removed.
    assert.equal((await ask('DELETE', `/gw/certs/${id}`)).status, 200);
    assert.equal((await ask('PUT', `/gw/keys/${made.key}`, { ...shown, alias: 'kept' })).status, 200);
  });

  test('a preview returns the key with its policies applied and stores nothing', async () => {
    const { orgId, ask } = await desk(app());
    await ask('POST', '/gw/policies', { id: 'ten', org_id: orgId, rate: 10, per: 60, access_rights: rights() });
    const { status, body } = await ask('POST', '/gw/keys/preview', { org_id: orgId, apply_policies: ['ten'] });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), members);
    assert.deepEqual([body.rate, Object.keys(body.access_rights)], [10, ['orders']]);
    assert.deepEqual((await ask('GET', `/gw/keys?filter=${orgId}`)).body, { keys: [] });
  });

  test('lists filter by organisation, id prefix and API', async () => {
    const { orgId, ask, add } = await desk(app());
    const { add: addElsewhere } = await desk(app());
    const apiId = createPublicId();
    await ask('POST', '/gw/policies', { id: 'p', org_id: orgId, access_rights: rights(apiId) });
    const own = await add({ access_rights: rights(apiId) });
    const governed = await add({ access_rights: {}, apply_policies: ['p'] }, '/gw/keys/zoe');
    const other = await add();
    const elsewhere = await addElsewhere({ access_rights: rights(apiId) });
    const listKeys = async (query: string) => (await ask('GET', `/gw/keys${query}`)).body.keys as string[];
    assert.deepEqual(await listKeys(`?filter=${orgId}`), [other.key, governed.key, own.key]);
    assert.deepEqual(await listKeys(`?filter=${orgId}zo`), [governed.key]);
    assert.deepEqual(await listKeys(`?filter=${orgId}&api_id=${apiId}`), [governed.key, own.key]);
    assert.deepEqual(await listKeys(`?api_id=${apiId}`), [elsewhere.key, governed.key, own.key]);
    assert.deepEqual(await listKeys('?api_id=nothing'), []);
    assert.deepEqual(await listKeys('?filter=nothing'), []);
    const all = await listKeys('');
    for (const { key } of [own, governed, other, elsewhere]) assert.ok(all.includes(key));
    assert.ok(!(await listKeys('')).some(id => id === orgId));
  });

  test('policies are set by key hash without losing concurrent changes', async () => {
    const { orgId, ask, add, read } = await desk(app());
    for (const id of ['a', 'b']) await ask('POST', '/gw/policies', { id, org_id: orgId, access_rights: rights() });
    const made = await add({ access_rights: {}, apply_policies: ['a'], alias: 'before' });
    const path = `/gw/keys/policy/${made.key_hash}`;
    const answer = await ask('POST', path, { policy: 'b' });
    assert.deepEqual(answer.body, { key: made.key_hash, status: 'ok', action: 'updated', key_hash: made.key_hash });
    assert.deepEqual((await read(made.key)).apply_policies, ['b']);
    assert.equal((await ask('POST', path, { apply_policies: ['a', 'b'] })).status, 200);
    assert.deepEqual((await read(made.key)).apply_policies, ['a', 'b']);
    for (const round of ['1', '2', '3', '4', '5']) {
      const change = { ...(await read(made.key)), alias: round };
      await Promise.all([ask('PUT', `/gw/keys/${made.key}`, change), ask('POST', path, { policy: 'b' })]);
      assert.equal((await read(made.key)).alias, round);
    }
    expectError(await ask('POST', path, {}), 400, /^Couldn't decode instruction/);
    expectError(await ask('POST', path, { policy: 'none' }), 400, 'apply_policies[0]: there is no policy none');
    expectError(await ask('POST', '/gw/keys/policy/0000', { policy: 'b' }), 404, 'Key not found');
  });

  test('organisation limits are not found as a key by hash, for any operation', async () => {
    const { orgId, ask } = await desk(app());
    await ask('POST', '/gw/policies', { id: `p-${orgId}`, org_id: orgId, access_rights: rights(), quota_max: 1 });
    const path = `/gw/org/keys/${orgId}`;
    assert.equal((await ask('POST', path, { quota_max: 100, quota_renewal_rate: 60 })).status, 200);
    const { body: before } = await ask('GET', path);
    const hash = displayHash(orgId, readSettings({}));
    expectError(await ask('POST', `/gw/keys/policy/${hash}`, { policy: `p-${orgId}` }), 404, 'Key not found');
    for (const [method, body] of [['GET'], ['PUT', { quota_max: 1 }], ['DELETE']] as const)
      assert.equal((await ask(method, `/gw/keys/${hash}?hashed=true`, body)).status, 404, method);
    assert.deepEqual((await ask('GET', path)).body, before);
  });

  test('suppress_reset keeps the quota period; without it a new one starts', async () => {
    const { ask, add, read } = await desk(app());
    const made = await add({ quota_max: 5, quota_renewal_rate: 3600 });
    const shown = await read(made.key);
    assert.ok(shown.quota_renews > 0 && shown.quota_remaining === 5);
    const longer = { ...shown, quota_renewal_rate: 7200 };
    await ask('PUT', `/gw/keys/${made.key}?suppress_reset=1`, longer);
    const kept = await read(made.key);
    assert.deepEqual([kept.quota_renews, kept.last_updated], [shown.quota_renews, shown.last_updated]);
    await ask('PUT', `/gw/keys/${made.key}`, longer);
    assert.ok((await read(made.key)).quota_renews > shown.quota_renews);
  });

  test('concurrent writes lose nothing, and lists are consistent', async () => {
    const { orgId, ask, add } = await desk(app());
    const made = await Promise.all(Array.from({ length: 12 }, () => add()));
    const gone = made.slice(0, 4).map(({ key }) => ask('DELETE', `/gw/keys/${key}`));
    const during = ask('GET', `/gw/keys?filter=${orgId}`);
    assert.deepEqual(
      (await Promise.all(gone)).map(it => it.status),
      [200, 200, 200, 200],
    );
    assert.ok((await during).body.keys.length >= 8);
    const left = (await ask('GET', `/gw/keys?filter=${orgId}`)).body.keys;
    assert.deepEqual(new Set(left), new Set(made.slice(4).map(({ key }) => key)));
  });
});

const lines: string[] = [];

onEveryEngine(
  'keys of the gateway API with hashed storage',
  app => {
    test('lists return hashes, which name the keys in paths', async () => {
      const { orgId, ask, add, read } = await desk(app());
      const made = await add({ alias: 'hidden' });
      assert.deepEqual((await ask('GET', `/gw/keys?filter=${orgId}`)).body, { keys: [made.key_hash] });
      assert.equal((await read(made.key)).alias, 'hidden');
      assert.equal((await read(made.key_hash)).alias, 'hidden');
      const shown = await read(made.key_hash, '?hashed=true');
      const changed = await ask('PUT', `/gw/keys/${made.key_hash}?hashed=true`, { ...shown, alias: 'seen' });
      assert.deepEqual(changed.body, { ...changed.body, key: made.key_hash, key_hash: made.key_hash });
      assert.equal((await ask('DELETE', `/gw/keys/${made.key_hash}?hashed=true`)).body.action, 'deleted');
      expectError(await ask('GET', `/gw/keys/${made.key}`), 404, 'Key not found');
    });

    test('rights to an unknown API are stored, and the log has a warning without the key', async () => {
      const { orgId, ask, add, read } = await desk(app());
      const { key, key_hash } = await add();
      const changed = await ask('PUT', `/gw/keys/${key}`, { org_id: orgId, access_rights: rights('other') });
      assert.equal(changed.status, 200, changed.text);
      assert.deepEqual(Object.keys((await read(key)).access_rights), ['other']);
      const logged = lines.filter(line => line.includes(key_hash)).map(line => JSON.parse(line));
      const expected = ['orders', 'other'].map(api => [`access_rights.${api}: there is no such API`]);
      assert.deepEqual(
        logged.filter(({ msg }) => msg === 'key stored with warnings').map(it => it.warnings),
        expected,
      );
      assert.ok(!lines.some(line => line.includes(key)));
    });

    test('the id of a basic-auth user is not returned', async () => {
      const { add } = await desk(app());
      const made = await add({ basic_auth_data: { password: createPublicId() } }, '/gw/keys/ben');
      assert.equal(made.key, '');
      assert.match(made.key_hash, /^[0-9a-f]+$/);
    });
  },
  { settings: { 'keys.at_rest': 'hashed' }, onLog: line => void lines.push(line) },
);
