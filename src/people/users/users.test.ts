import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('users', app => {
  const three = (email: string) => ({ email_address: email, first_name: 'Ann', last_name: 'Lee' });

  test('a user created with three members is inactive and has every member', async () => {
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

  test('an inactive user is rejected until activated', async () => {
    const { body } = await app().ask('POST', '/admin/users', { body: three('sleepy@example.org') });
    const asUser = { credential: body.Message as string };
    assert.equal((await app().ask('GET', '/api/users', asUser)).status, 401);
    await app().ask('PUT', `/admin/users/${body.Meta.id}`, { body: { active: true } });
    assert.equal((await app().ask('GET', '/api/users', asUser)).status, 200);
  });

  test('the access key is accepted bare and after Bearer', async () => {
    const { admin_access_key: key } = app().credentials;
    assert.equal((await app().ask('GET', '/api/users', { credential: key })).status, 200);
    assert.equal((await app().ask('GET', '/api/users', { credential: `Bearer ${key}` })).status, 200);
  });

  test('an e-mail address is unique in an organisation, not across organisations', async () => {
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

  test('search matches part of the address, is paged, and excludes other organisations', async () => {
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

  test('a user of another organisation is not found', async () => {
    const { userId } = await app().stranger();
    assert.equal((await app().ask('GET', `/api/users/${userId}`)).status, 404);
    assert.equal((await app().ask('DELETE', `/api/users/${userId}`)).status, 404);
    assert.equal((await app().ask('PUT', `/api/users/${userId}/actions/key/reset`)).status, 404);
    const reset = { body: { new_password: 'long enough' } };
    assert.equal((await app().ask('POST', `/api/users/${userId}/actions/reset`, reset)).status, 404);
  });

  test('a reset access key invalidates the old one at once', async () => {
    const { accessKey, userId } = await app().stranger();
    const reset = await app().ask('PUT', `/api/users/${userId}/actions/key/reset`, { credential: accessKey });
    assert.equal(reset.status, 200);
    assert.equal((await app().ask('GET', '/api/users/me', { credential: accessKey })).status, 401);
    const fresh = (await app().ask('GET', `/admin/users/${userId}`)).body.access_key;
    assert.equal(reset.body.access_key, fresh);
    assert.equal((await app().ask('GET', '/api/users/me', { credential: fresh })).body.id, userId);
  });

  test('users:write alone cannot create an administrator, also not oneself', async () => {
    const write = { ...three('clerk@example.org'), active: true, user_permissions: { users: 'write' } };
    const { body } = await app().ask('POST', '/admin/users', { body: write });
    const clerk = { credential: body.Message as string };
    const promote = { ...three('evil@example.org'), user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await app().ask('POST', '/api/users', { ...clerk, body: promote })).status, 403);
    const self = { ...write, user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await app().ask('PUT', `/api/users/${body.Meta.id}`, { ...clerk, body: self })).status, 403);
    assert.equal((await app().ask('GET', `/api/users/${body.Meta.id}`)).body.user_permissions.IsAdmin, undefined);
  });

  const member = async (email: string, user_permissions: Record<string, string>) => {
    const body = { ...three(email), active: true, user_permissions };
    const { body: made } = await app().ask('POST', '/admin/users', { body });
    return { id: made.Meta.id as string, credential: made.Message as string, body };
  };

  test('an access key is visible to administrators and its owner only', async () => {
    const { credential, id } = await member('looker@example.org', { users: 'read' });
    const lists = ['/api/users?p=-1', '/api/users/search?q=@', '/api/users/search?email_address=@'];
    for (const path of lists) {
      const { users } = (await app().ask('GET', path, { credential })).body;
      assert.ok(users.length > 1);
      for (const user of users) assert.equal(user.access_key === '', user.id !== id, user.email_address);
    }
    const { users } = (await app().ask('GET', '/api/users?p=-1')).body;
    assert.ok(users.every((user: { access_key: string }) => user.access_key !== ''));
    const { id: other } = await member('looked-at@example.org', { apis: 'read' });
    assert.equal((await app().ask('GET', `/api/users/${other}`, { credential })).body.access_key, '');
  });

  test('a user cannot grant permissions it does not hold, also not to itself', async () => {
    const clerk = await member('granter@example.org', { users: 'write', keys: 'read' });
    const { credential } = clerk;
    const grant = (email: string, user_permissions: Record<string, string>) =>
      app().ask('POST', '/api/users', { credential, body: { ...three(email), user_permissions } });
    assert.equal((await grant('g1@example.org', { keys: 'read', users: 'write', apis: 'deny' })).status, 200);
    const refused = await grant('g2@example.org', { keys: 'write' });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.Message, 'access denied: you cannot grant keys: write, which you do not have');
    assert.equal((await grant('g3@example.org', { constructor: 'read' })).status, 403);
    const change = (id: string, body: object) => app().ask('PUT', `/api/users/${id}`, { credential, body });
    assert.equal((await change(clerk.id, { ...clerk.body, user_permissions: { users: 'admin' } })).status, 200);
    assert.equal((await change(clerk.id, { ...clerk.body, user_permissions: { apis: 'read' } })).status, 403);
    const richer = await member('richer@example.org', { apis: 'write' });
    assert.equal((await change(richer.id, { ...richer.body, first_name: 'Rich' })).status, 200);
    assert.equal((await app().ask('GET', `/api/users/${richer.id}`)).body.user_permissions.apis, 'write');
  });

  test('a user may read itself and renew its own key; others need the permission', async () => {
    const { id, credential } = await member('alone@example.org', { system: 'read' });
    assert.equal((await app().ask('GET', `/api/users/${id}`, { credential })).body.id, id);
    const other = (await member('other@example.org', { system: 'read' })).id;
    assert.equal((await app().ask('GET', `/api/users/${other}`, { credential })).status, 403);
    const renew = (user: string, as: string) =>
      app().ask('PUT', `/api/users/${user}/actions/key/reset`, { credential: as });
    assert.equal((await renew(other, credential)).status, 403);
    const denied = await member('denied@example.org', { IsAdmin: 'admin', users: 'deny' });
    assert.equal((await renew(other, denied.credential)).status, 403);
    assert.equal((await renew(denied.id, denied.credential)).status, 200);
  });

  test('two administrators who delete each other concurrently leave one', async () => {
    const { orgId, accessKey, userId } = await app().stranger();
    const second = { ...three('second@example.org'), active: true, org_id: orgId };
    const { body } = await app().ask('POST', '/admin/users', { body: second });
    await Promise.all([
      app().ask('DELETE', `/api/users/${body.Meta.id}`, { credential: accessKey }),
      app().ask('PUT', `/api/users/${userId}/actions/revoke`, { credential: body.Message }),
    ]);
    const left = await Promise.all(
      [accessKey, body.Message].map(it => app().ask('GET', '/api/users', { credential: it })),
    );
    assert.deepEqual(left.map(answer => answer.status).sort(), [200, 401]);
  });

  test('the last administrator cannot be deleted, demoted or revoked', async () => {
    const { accessKey, userId } = await app().stranger();
    const own = { credential: accessKey };
    assert.equal((await app().ask('DELETE', `/api/users/${userId}`, own)).status, 409);
    assert.equal((await app().ask('PUT', `/api/users/${userId}/actions/revoke`, own)).status, 409);
    const demoted = { ...three('x@example.org'), user_permissions: { users: 'write' } };
    assert.equal((await app().ask('PUT', `/api/users/${userId}`, { ...own, body: demoted })).status, 409);
  });

  test('changing one’s own password requires the current one', async () => {
    const { accessKey, userId } = await app().stranger();
    const set = (body: object) =>
      app().ask('POST', `/api/users/${userId}/actions/reset`, { credential: accessKey, body });
    assert.equal((await set({ new_password: 'first password' })).status, 200);
    assert.equal((await set({ new_password: 'second password' })).status, 403);
    assert.equal((await set({ current_password: 'first password', new_password: 'short' })).status, 400);
    assert.equal((await set({ current_password: 'first password', new_password: 'second password' })).status, 200);
  });
});
