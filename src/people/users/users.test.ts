import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/harness.ts';

onEveryEngine('users', app => {
  const three = (email: string) => ({ email_address: email, first_name: 'Ann', last_name: 'Lee' });

  test('three members make a user that is inactive and holds every member of its shape', async () => {
    const { status, body } = await app().ask('POST', '/admin/users', { body: three('Ann@Example.org') });
    assert.equal(status, 200);
    assert.equal(body.Status, 'OK');
    assert.equal(body.Message, body.Meta.access_key);
    assert.equal(body.Meta.active, false);
    assert.equal(body.Meta.email_address, 'ann@example.org');
    assert.deepEqual(Object.keys(body.Meta).sort(), [
      'access_key',
      'active',
      'api_model',
      'created_at',
      'email_address',
      'first_name',
      'group_id',
      'id',
      'last_login_date',
      'last_name',
      'org_id',
      'password_max_days',
      'password_updated',
      'user_permissions',
    ]);
  });

  test('an inactive user is refused until made active', async () => {
    const { body } = await app().ask('POST', '/admin/users', { body: three('sleepy@example.org') });
    const asUser = { credential: body.Message as string };
    assert.equal((await app().ask('GET', '/api/users', asUser)).status, 401);
    await app().ask('PUT', `/admin/users/${body.Meta.id}`, { body: { active: true } });
    assert.equal((await app().ask('GET', '/api/users', asUser)).status, 200);
  });

  test('the access key works bare and behind Bearer', async () => {
    const { admin_access_key: key } = app().credentials;
    assert.equal((await app().ask('GET', '/api/users', { credential: key })).status, 200);
    assert.equal((await app().ask('GET', '/api/users', { credential: `Bearer ${key}` })).status, 200);
  });

  test('the same address twice in an organisation is a conflict, in another one it is not', async () => {
    await app().ask('POST', '/admin/users', { body: three('twice@example.org') });
    const again = await app().ask('POST', '/admin/users', { body: three('TWICE@example.org') });
    assert.equal(again.status, 409);
    assert.equal(again.body.Message, 'User email already exists for this Org');
    const { orgId } = await app().stranger();
    const elsewhere = await app().ask('POST', '/admin/users', {
      body: { ...three('twice@example.org'), org_id: orgId },
    });
    assert.equal(elsewhere.status, 200);
  });

  test('search finds by part of the address, pages, and never looks into another organisation', async () => {
    const { orgId, accessKey } = await app().stranger();
    for (let n = 0; n < 12; n++) {
      await app().ask('POST', '/admin/users', { body: { ...three(`find${n}@here.example`), org_id: orgId } });
    }
    const asked = { credential: accessKey };
    const first = await app().ask('GET', '/api/users/search?q=here.ex', asked);
    assert.equal(first.body.users.length, 10);
    assert.equal(first.body.pages, 2);
    assert.equal((await app().ask('GET', '/api/users/search?email=here.ex&p=2', asked)).body.users.length, 2);
    assert.equal((await app().ask('GET', '/api/users/search?q=here.ex&p=-1', asked)).body.users.length, 12);
    assert.deepEqual((await app().ask('GET', '/api/users/search?q=here.ex')).body.users, []);
    const posted = await app().ask('POST', '/api/users/search', { ...asked, body: { filters: { query: 'find1@' } } });
    assert.deepEqual(
      posted.body.users.map((user: { email_address: string }) => user.email_address),
      ['find1@here.example'],
    );
    assert.equal((await app().ask('GET', '/api/users/search?q=%25', asked)).body.users.length, 0);
  });

  test('a user of another organisation looks absent', async () => {
    const { userId } = await app().stranger();
    assert.equal((await app().ask('GET', `/api/users/${userId}`)).status, 404);
    assert.equal((await app().ask('DELETE', `/api/users/${userId}`)).status, 404);
    assert.equal((await app().ask('PUT', `/api/users/${userId}/actions/key/reset`)).status, 404);
    const reset = { body: { new_password: 'long enough' } };
    assert.equal((await app().ask('POST', `/api/users/${userId}/actions/reset`, reset)).status, 404);
  });

  test('a reset access key replaces the old one at once', async () => {
    const { accessKey, userId } = await app().stranger();
    assert.equal(
      (await app().ask('PUT', `/api/users/${userId}/actions/key/reset`, { credential: accessKey })).status,
      200,
    );
    assert.equal((await app().ask('GET', '/api/users/me', { credential: accessKey })).status, 401);
    const fresh = (await app().ask('GET', `/admin/users/${userId}`)).body.access_key;
    assert.equal((await app().ask('GET', '/api/users/me', { credential: fresh })).body.id, userId);
  });

  test('who may write users cannot make an administrator, of others or of themselves', async () => {
    const write = { ...three('clerk@example.org'), active: true, user_permissions: { users: 'write' } };
    const { body } = await app().ask('POST', '/admin/users', { body: write });
    const clerk = { credential: body.Message as string };
    const promote = { ...three('evil@example.org'), user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await app().ask('POST', '/api/users', { ...clerk, body: promote })).status, 403);
    const self = { ...write, user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await app().ask('PUT', `/api/users/${body.Meta.id}`, { ...clerk, body: self })).status, 403);
    assert.equal((await app().ask('GET', `/api/users/${body.Meta.id}`)).body.user_permissions.IsAdmin, undefined);
  });

  test('the last administrator cannot be removed, demoted or revoked', async () => {
    const { accessKey, userId } = await app().stranger();
    const own = { credential: accessKey };
    assert.equal((await app().ask('DELETE', `/api/users/${userId}`, own)).status, 409);
    assert.equal((await app().ask('PUT', `/api/users/${userId}/actions/revoke`, own)).status, 409);
    const demoted = { ...three('x@example.org'), user_permissions: { users: 'write' } };
    assert.equal((await app().ask('PUT', `/api/users/${userId}`, { ...own, body: demoted })).status, 409);
  });

  test('a password needs the current one to change one’s own', async () => {
    const { accessKey, userId } = await app().stranger();
    const set = (body: object) =>
      app().ask('POST', `/api/users/${userId}/actions/reset`, { credential: accessKey, body });
    assert.equal((await set({ new_password: 'first password' })).status, 200);
    assert.equal((await set({ new_password: 'second password' })).status, 403);
    assert.equal((await set({ current_password: 'first password', new_password: 'short' })).status, 400);
    assert.equal((await set({ current_password: 'first password', new_password: 'second password' })).status, 200);
  });
});
