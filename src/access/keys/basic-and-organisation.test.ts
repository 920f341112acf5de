import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyPassword } from '#base/passwords.ts';
import { type Answer, onEveryEngine, type TestApp } from '../../../tests/support/app.ts';

const rights = (...ids: string[]) => ({ access_rights: Object.fromEntries(ids.map(id => [id, { api_id: id }])) });

async function tenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const admin = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, body === undefined ? {} : { body });
  return { orgId, ask, admin };
}

function expectError(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.body.Message, message);
}

/** The password as it is kept, read the way a gateway reads it. */
async function readPassword(app: TestApp, orgId: string, name: string): Promise<string> {
  const stored = await app.application.installation.services.keys.findByCredential(orgId, name);
  assert.equal(stored?.kind, 'basic');
  return stored.key.basic_auth_data?.password ?? '';
}

onEveryEngine('basic-auth users', app => {
  const user = (password: string, more: object = {}) => ({ basic_auth_data: { password, user: 'ignored' }, ...more });

  test('the first write creates the user, the next updates it; the password is stored hashed and never returned', async () => {
    const { ask, orgId } = await tenant(app());
    const path = '/api/apis/keys/basic/ann';
    const made = await ask('POST', path, user('first password', { ...rights('a1'), rate: 5, per: 1 }));
    assert.equal(made.status, 200, made.text);
    assert.deepEqual(Object.keys(made.body).sort(), ['api_model', 'data', 'key_hash', 'key_id']);
    assert.equal(made.body.key_id, `${orgId}ann`);
    assert.deepEqual(made.body.data.basic_auth_data, { hash_type: 'scrypt', password: '', user: 'ann' });
    assert.equal(made.body.data.rate, 5);
    assert.ok(await verifyPassword('first password', await readPassword(app(), orgId, 'ann')));
    const same = await ask('POST', path, { alias: 'Ann', ...rights('a1') });
    assert.deepEqual([same.body.key_id, same.body.data.alias, same.body.data.rate], [`${orgId}ann`, 'Ann', 0]);
    assert.ok(await verifyPassword('first password', await readPassword(app(), orgId, 'ann')));
    const next = await ask('POST', path, user('second password'));
    assert.ok(!next.text.includes('second password') && !next.text.includes('scrypt$'));
    assert.ok(await verifyPassword('second password', await readPassword(app(), orgId, 'ann')));
  });

  test('a user without rights can be created, read, changed and removed by name', async () => {
    const { ask, orgId } = await tenant(app());
    const path = '/api/apis/keys/basic/bob';
    expectError(await ask('GET', path), 404, /Could not retrieve/);
    expectError(await ask('PUT', path, user('password')), 404, /Could not retrieve/);
    expectError(await ask('DELETE', path), 404, /Could not retrieve/);
    assert.equal((await ask('POST', path, user('password'))).status, 200);
    assert.equal((await ask('GET', path)).body.key_id, `${orgId}bob`);
    const changed = await ask('PUT', path, { alias: 'Bob' });
    assert.equal(changed.body.data.alias, 'Bob');
    assert.ok(await verifyPassword('password', await readPassword(app(), orgId, 'bob')));
    expectError(await (await tenant(app())).ask('GET', path), 404, /Could not retrieve/);
    assert.equal((await ask('DELETE', path)).body.Message, 'Key deleted successfully');
    expectError(await ask('GET', path), 404, /Could not retrieve/);
  });

  test('a password change survives a concurrent change of the key', async () => {
    const { ask, orgId } = await tenant(app());
    const path = '/api/apis/keys/basic/dora';
    await ask('POST', path, user('old password'));
    const renamed = Array.from({ length: 5 }, (_, n) => ask('PUT', path, { alias: `Dora ${n}` }));
    await Promise.all([...renamed, ask('PUT', path, user('new password'))]);
    assert.ok(await verifyPassword('new password', await readPassword(app(), orgId, 'dora')));
  });

  test('an unusable name or password is refused with its path', async () => {
    const { ask } = await tenant(app());
    const post = (name: string, body: unknown) => ask('POST', `/api/apis/keys/basic/${name}`, body);
    expectError(await post('ann', {}), 400, /^basic_auth_data\.password: is required$/);
    expectError(await post('ann', user('')), 400, /^basic_auth_data\.password: is required$/);
    expectError(await post('ann', { basic_auth_data: { password: 1 } }), 400, /^basic_auth_data\.password: /);
    expectError(await post('a%3Ab', user('password')), 400, /^username: must not contain a colon$/);
    expectError(await post('ab', user('password')), 400, /at least 3 characters/);
    expectError(await post('ann', user('x'.repeat(1100))), 400, /at most 1024 bytes/);
    expectError(await post('ann', user('password', { apply_policies: ['none'] })), 400, /^apply_policies\[0\]: /);
    await ask('POST', '/api/keys/taken', rights('a1'));
    expectError(await post('taken', user('password')), 409, /already exists/);
  });

  test('POST /api/keys?basic_auth creates a user; name and password are required', async () => {
    const { ask, orgId } = await tenant(app());
    const post = (basic_auth_data: object) => ask('POST', '/api/keys?basic_auth=true', { basic_auth_data });
    expectError(await post({}), 400, /^basic_auth_data\.user: is required; basic_auth_data\.password: is required$/);
    assert.equal((await post({ user: 'carl', password: 'password' })).body.key_id, `${orgId}carl`);
    expectError(await post({ user: 'carl', password: 'password' }), 409, /already exists/);
    assert.ok(await verifyPassword('password', await readPassword(app(), orgId, 'carl')));
  });
});

onEveryEngine('organisation keys', app => {
  test('an organisation key has the organisation id; operator and organisation read every member', async () => {
    const { ask, admin, orgId } = await tenant(app());
    const made = await admin('POST', '/admin/org/keys', {
      org_id: orgId,
      rate: 100,
      per: 60,
      quota_max: -1,
      tags: ['t'],
    });
    assert.equal(made.status, 200, made.text);
    assert.deepEqual(Object.keys(made.body).sort(), ['api_model', 'data', 'key_hash', 'key_id']);
    assert.equal(Object.keys(made.body.data).length, 36);
    assert.equal(made.body.key_id, orgId);
    assert.equal(made.body.data.org_id, orgId);
    assert.deepEqual((await admin('GET', `/admin/org/keys/${orgId}`)).body, made.body);
    assert.deepEqual((await ask('GET', '/api/keys/detailed')).body, { keys: [made.body], pages: 1 });
    assert.equal((await ask('GET', '/api/keys/detailed?q=zzz')).body.keys.length, 0);
  });

  test('a second write replaces the first; an update keeps the organisation', async () => {
    const { ask, admin, orgId } = await tenant(app());
    await admin('POST', '/admin/org/keys', { org_id: orgId, rate: 1, per: 1, certificate: 'x', alias: 'first' });
    const again = await admin('POST', '/admin/org/keys', { org_id: orgId, rate: 2, per: 1 });
    assert.deepEqual([again.body.key_id, again.body.data.rate, again.body.data.alias], [orgId, 2, '']);
    assert.equal((await ask('GET', '/api/keys/detailed')).body.keys.length, 1);
    const put = await admin('PUT', `/admin/org/keys/${orgId}`, { rate: 3, per: 1 });
    assert.deepEqual(put.body, { Status: 'OK', Message: 'Key updated', Meta: null });
    assert.equal((await admin('GET', `/admin/org/keys/${orgId}`)).body.data.rate, 3);
    expectError(await admin('PUT', `/admin/org/keys/${orgId}`, { org_id: 'x' }), 400, /^org_id: is .* cannot change/);
    expectError(await admin('PUT', '/admin/org/keys/none', {}), 404, /Could not retrieve/);
    assert.equal((await admin('DELETE', `/admin/org/keys/${orgId}`)).body.Message, 'Key deleted successfully');
    for (const method of ['GET', 'DELETE'])
      expectError(await admin(method, `/admin/org/keys/${orgId}`), 404, /Could not retrieve/);
  });

  test('without org_id the key gets an id in the default organisation', async () => {
    const { admin } = await tenant(app());
    const made = await admin('POST', '/admin/org/keys', {});
    assert.equal(made.status, 200, made.text);
    assert.match(made.body.key_id, /^[0-9a-f]{56}$/);
    assert.equal(made.body.data.org_id, app().credentials.organisation_id);
    assert.deepEqual((await admin('GET', `/admin/org/keys/${made.body.key_id}`)).body, made.body);
  });

  test('the list has all organisation keys, newest first, and no other keys', async () => {
    const mine: string[] = [];
    for (let n = 0; n < 11; n++) {
      const { admin, orgId } = await tenant(app());
      await admin('POST', '/admin/org/keys', { org_id: orgId });
      mine.unshift(orgId);
    }
    const { ask, admin } = await tenant(app());
    await ask('POST', '/api/keys', rights('a1'));
    const { body } = await admin('GET', '/admin/org/keys');
    assert.deepEqual(body.data.keys, mine.slice(0, 10));
    assert.ok(body.pages >= 2);
    const all = (await admin('GET', '/admin/org/keys?p=-1')).body;
    assert.deepEqual([all.data.keys.slice(0, 11), all.pages], [mine, 1]);
  });

  test('bounds and policies are checked; an unknown organisation is refused', async () => {
    const { ask, admin, orgId } = await tenant(app());
    const post = (key: object) => admin('POST', '/admin/org/keys', { org_id: orgId, ...key });
    expectError(await post({ smoothing: { step: 0 } }), 400, /^smoothing\.step: must be at least 1/);
    expectError(await post({ apply_policies: ['none'] }), 400, /^apply_policies\[0\]: there is no policy none$/);
    expectError(await post({ org_id: 'nowhere' }), 400, /^org_id: there is no organisation nowhere$/);
    expectError(await post({ rate: 'x' }), 400, /^rate: /);
    await ask('POST', '/api/portal/policies', { id: 'p', name: 'P', ...rights('a1') });
    const made = await post({ apply_policies: ['p'], smoothing: { enabled: true, delay: 1, step: 1, threshold: 1 } });
    assert.deepEqual(made.body.data.apply_policies, ['p']);
  });

  test('an organisation cannot change its own limits, and their id is no credential', async () => {
    const { ask, admin, orgId } = await tenant(app());
    await admin('POST', '/admin/org/keys', { org_id: orgId, rate: 1, per: 1 });
    assert.equal((await ask('GET', `/api/keys/${orgId}`)).body.data.rate, 1);
    expectError(await ask('PUT', `/api/keys/${orgId}`, rights('a1')), 403, /set by the operator/);
    expectError(await ask('DELETE', `/api/keys/${orgId}`), 403, /set by the operator/);
    const { keys } = app().application.installation.services;
    assert.equal(await keys.findByCredential(orgId, orgId), undefined);
    const generated = (await admin('POST', '/admin/org/keys', {})).body;
    assert.equal(await keys.findByCredential(generated.data.org_id, generated.key_id), undefined);
  });
});
