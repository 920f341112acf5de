import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

type Permissions = Record<string, string>;

onEveryEngine('privilege escalation', app => {
  const person = () => ({ email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B' });
  const addUser = async (user_permissions: Permissions) => {
    const write = { ...person(), active: true, user_permissions };
    const { body, text } = await app().ask('POST', '/admin/users', { body: write });
    assert.equal(body.Status, 'OK', text);
    return { id: body.Meta.id as string, credential: body.Message as string, write };
  };
  const ask = (method: string, path: string, credential: string, body?: unknown) =>
    app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) });

  test('an administrator with a denial can neither lift it nor create an administrator without it', async () => {
    const denied = await addUser({ IsAdmin: 'admin', apis: 'deny' });
    const own = { ...denied.write, user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await ask('PUT', `/api/users/${denied.id}`, denied.credential, own)).status, 403);
    const puppet = { ...person(), user_permissions: { IsAdmin: 'admin' } };
    assert.equal((await ask('POST', '/api/users', denied.credential, puppet)).status, 403);
    const group = { name: 'G', user_permissions: { apis: 'read' } };
    assert.equal((await ask('POST', '/api/usergroups', denied.credential, group)).status, 403);
    const equal = { ...person(), user_permissions: { IsAdmin: 'admin', apis: 'deny' } };
    assert.equal((await ask('POST', '/api/users', denied.credential, equal)).status, 200);
  });

  test('a group is not lowered by a caller who holds less than its users, by an update or a restore', async () => {
    const low = { name: 'Staff', user_permissions: { hooks: 'read' } };
    const { Meta: groupId } = (await app().ask('POST', '/api/usergroups', { body: low })).body;
    const high = { name: 'Staff', user_permissions: { hooks: 'write', keys: 'write' } };
    assert.equal((await app().ask('PUT', `/api/usergroups/${groupId}`, { body: high })).status, 200);
    const clerk = await addUser({ user_groups: 'write', hooks: 'write' });
    const path = `/api/usergroups/${groupId}`;
    const empty = await ask('PUT', path, clerk.credential, low);
    assert.equal(empty.status, 200, 'a group without users');
    assert.equal((await app().ask('PUT', path, { body: high })).status, 200);
    const member = { ...person(), active: true, group_id: groupId, user_permissions: { hooks: 'read' } };
    const { Meta } = (await app().ask('POST', '/admin/users', { body: member })).body;
    const writes = () => [
      ask('PUT', path, clerk.credential, low),
      ask('PUT', path, clerk.credential, { ...high, active: false }),
      ask('POST', `/api/revisions/usergroups/${groupId}/1/restore`, clerk.credential),
    ];
    for (const { status, body } of await Promise.all(writes()))
      assert.deepEqual(
        [status, body.Message],
        [403, 'access denied: users of this group have permissions that you do not have'],
      );
    assert.deepEqual((await app().ask('GET', path)).body.user_permissions, high.user_permissions);
    const renamed = await ask('PUT', path, clerk.credential, { ...high, name: 'Team' });
    assert.equal(renamed.status, 200, 'nothing is taken');
    const inactive = { ...member, active: false };
    assert.equal((await app().ask('PUT', `/admin/users/${Meta.id}`, { body: inactive })).status, 200);
    assert.equal((await ask('PUT', path, clerk.credential, low)).status, 200, 'users without access lose nothing');
  });

  test('ResetPassword is granted only by users who hold it, and preserved by updates', async () => {
    const plain = await addUser({ IsAdmin: 'admin' });
    const puppet = { ...person(), user_permissions: { IsAdmin: 'admin', ResetPassword: 'admin' } };
    const refused = await ask('POST', '/api/users', plain.credential, puppet);
    assert.deepEqual(
      [refused.status, refused.body.Message],
      [403, 'access denied: you cannot grant ResetPassword: admin, which you do not have'],
    );
    assert.equal((await app().ask('POST', '/api/users', { body: puppet })).status, 200);
    const raised = { ...plain.write, user_permissions: puppet.user_permissions };
    assert.equal((await ask('PUT', `/api/users/${plain.id}`, plain.credential, raised)).status, 200);
    const { user_permissions } = (await app().ask('GET', `/admin/users/${plain.id}`)).body;
    assert.deepEqual(user_permissions, { IsAdmin: 'admin' });
  });

  test('only administrators change the e-mail address of another user, and only of users who hold no more', async () => {
    const clerk = await addUser({ users: 'write', apis: 'write' });
    const other = await addUser({ apis: 'read' });
    const moved = { ...other.write, email_address: `${createPublicId()}@example.org` };
    const path = `/api/users/${other.id}`;
    const refused = await ask('PUT', path, clerk.credential, moved);
    assert.equal(refused.status, 403);
    assert.match(refused.body.Message, /only the user itself or an administrator may change an e-mail address/);
    assert.equal((await ask('PUT', path, clerk.credential, { ...other.write, first_name: 'New' })).status, 200);
    const own = { ...clerk.write, email_address: `${createPublicId()}@example.org` };
    assert.equal((await ask('PUT', `/api/users/${clerk.id}`, clerk.credential, own)).status, 200);
    assert.equal((await app().ask('PUT', path, { body: moved })).status, 200);
    const denied = await addUser({ IsAdmin: 'admin', keys: 'deny' });
    const full = await addUser({ IsAdmin: 'admin' });
    const taken = { ...full.write, email_address: `${createPublicId()}@example.org` };
    const outranked = await ask('PUT', `/api/users/${full.id}`, denied.credential, taken);
    assert.deepEqual(
      [outranked.status, outranked.body.Message],
      [403, 'access denied: this user has permissions that you do not have'],
    );
  });

  test('access keys of others need access_keys, and all permissions of the other user', async () => {
    const weak = await addUser({ hooks: 'read' });
    const strong = await addUser({ hooks: 'write' });
    const keyOf = async ({ id }: { id: string }, credential: string) =>
      (await ask('GET', `/api/users/${id}`, credential)).body.access_key;
    const renew = ({ id }: { id: string }, credential: string) =>
      ask('PUT', `/api/users/${id}/actions/key/reset`, credential);

    const reader = await addUser({ users: 'write', hooks: 'read', access_keys: 'read' });
    assert.equal(await keyOf(weak, reader.credential), weak.credential);
    assert.equal(await keyOf(strong, reader.credential), '');
    const refused = await renew(weak, reader.credential);
    assert.deepEqual(
      [refused.status, refused.body.Message],
      [403, 'access denied: you need access_keys:write; ask your administrator for it'],
    );
    const writer = await addUser({ users: 'write', hooks: 'read', access_keys: 'write' });
    assert.equal((await renew(strong, writer.credential)).status, 403);
    assert.equal((await renew(weak, writer.credential)).status, 200);
    assert.equal((await renew({ id: 'unknown' }, writer.credential)).status, 404);
    assert.equal((await ask('GET', '/api/users/me', weak.credential)).status, 401);
    const denied = await addUser({ IsAdmin: 'admin', access_keys: 'deny' });
    assert.equal(await keyOf(strong, denied.credential), '');
    assert.equal((await renew(strong, denied.credential)).status, 403);
    const { users } = (await ask('GET', '/api/users?p=-1', reader.credential)).body;
    const shown = users.filter((user: { access_key: string }) => user.access_key !== '');
    assert.ok(shown.every((user: { id: string }) => user.id !== strong.id && user.id !== denied.id));
  });

  test('access keys of owners of APIs that are hidden from the caller are neither shown nor renewed', async () => {
    const permissions = { apis: 'read', users: 'write', access_keys: 'write' };
    const [owner, member, other] = [await addUser(permissions), await addUser(permissions), await addUser(permissions)];
    const group = await app().ask('POST', '/api/usergroups', { body: { name: 'G', user_permissions: permissions } });
    const joined = { ...member.write, group_id: group.body.Meta };
    assert.equal((await app().ask('PUT', `/api/users/${member.id}`, { body: joined })).status, 200);
    const addApi = async (owners: object) => {
      const proxy = { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:9/' };
      const body = { api_definition: { name: 'Owned', proxy }, ...owners };
      const { status, text } = await app().ask('POST', '/api/apis', { body });
      assert.equal(status, 200, text);
    };
    const keyOf = async ({ id }: { id: string }, credential: string) =>
      (await ask('GET', `/api/users/${id}`, credential)).body.access_key;
    assert.equal(await keyOf(owner, other.credential), owner.credential);
    await addApi({ user_owners: [owner.id] });
    await addApi({ user_group_owners: [group.body.Meta] });
    for (const hidden of [owner, member]) {
      assert.equal(await keyOf(hidden, other.credential), '');
      const refused = await ask('PUT', `/api/users/${hidden.id}/actions/key/reset`, other.credential);
      assert.deepEqual(
        [refused.status, refused.body.Message],
        [403, 'access denied: this user owns APIs that you cannot see'],
      );
      assert.equal(await keyOf(hidden, app().credentials.admin_access_key), hidden.credential);
      assert.equal((await ask('PUT', `/api/users/${hidden.id}/actions/key/reset`, hidden.credential)).status, 200);
    }
    assert.equal(await keyOf(other, (await addUser(permissions)).credential), other.credential);
  });

  test('a user narrowed by owned_analytics can neither drop it nor act as a user without it', async () => {
    const narrow = { analytics: 'read', owned_analytics: 'read', users: 'write', access_keys: 'write' };
    const clerk = await addUser(narrow);
    const message = 'access denied: you cannot grant analytics: read, which you do not have';
    for (const more of [{ owned_analytics: 'deny' }, { owned_analytics: undefined }]) {
      const write = { ...clerk.write, user_permissions: { ...narrow, ...more } };
      const own = await ask('PUT', `/api/users/${clerk.id}`, clerk.credential, write);
      assert.deepEqual([own.status, own.body.Message], [403, message]);
      const puppet = await ask('POST', '/api/users', clerk.credential, { ...write, ...person() });
      assert.deepEqual([puppet.status, puppet.body.Message], [403, message]);
    }
    const wide = await addUser({ analytics: 'read' });
    assert.equal((await ask('PUT', `/api/users/${wide.id}/actions/key/reset`, clerk.credential)).status, 403);
    const equal = { ...person(), user_permissions: narrow };
    assert.equal((await ask('POST', '/api/users', clerk.credential, equal)).status, 200);
  });

  test('a password of a user who holds more cannot be set', async () => {
    const denied = await addUser({ IsAdmin: 'admin', ResetPassword: 'admin', keys: 'deny' });
    const full = await addUser({ IsAdmin: 'admin' });
    const equal = await addUser({ IsAdmin: 'admin', keys: 'deny' });
    const set = ({ id }: { id: string }) =>
      ask('POST', `/api/users/${id}/actions/reset`, denied.credential, { new_password: 'a new password' });
    assert.equal((await set(full)).status, 403);
    assert.equal((await set(equal)).status, 200);
  });

  test('unknown permissions and levels are refused on both surfaces, with the closest name', async () => {
    for (const [path, credential] of [
      ['/api/users', app().credentials.admin_access_key],
      ['/admin/users', app().credentials.admin_secret],
    ] as const) {
      const send = (user_permissions: Permissions) => ask('POST', path, credential, { ...person(), user_permissions });
      const unknown = await send({ polices: 'read' });
      assert.equal(unknown.status, 400);
      assert.equal(unknown.body.Message, 'user_permissions.polices: no such permission; did you mean policies?');
      const level = await send({ IsAdmin: 'write' });
      assert.deepEqual([level.status, level.body.Message], [400, 'user_permissions.IsAdmin: must be admin or deny']);
    }
  });
});
