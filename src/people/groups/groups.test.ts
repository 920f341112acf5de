import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

type Permissions = Record<string, string>;

onEveryEngine('user groups', app => {
  const person = () => ({ email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B' });
  const addGroup = async (user_permissions: Permissions, more: object = {}) => {
    const { body, text } = await app().ask('POST', '/api/usergroups', {
      body: { name: 'G', user_permissions, ...more },
    });
    assert.equal(body.Status, 'OK', text);
    return body.Meta as string;
  };
  const addUser = async (user_permissions: Permissions, more: object = {}) => {
    const write = { ...person(), active: true, user_permissions, ...more };
    const { body, text } = await app().ask('POST', '/admin/users', { body: write });
    assert.equal(body.Status, 'OK', text);
    return { id: body.Meta.id as string, credential: body.Message as string, write };
  };
  const status = async (method: string, path: string, credential: string, body?: unknown) =>
    (await app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) })).status;

  test('a group is created, read, listed, replaced and deleted', async () => {
    const created = await app().ask('POST', '/api/usergroups', {
      body: { name: 'Readers', description: 'They read', user_permissions: { apis: 'read' }, password_max_days: 30 },
    });
    assert.deepEqual([created.status, created.body.Message], [200, 'User group created']);
    const path = `/api/usergroups/${created.body.Meta}`;
    const read = (await app().ask('GET', path)).body;
    assert.deepEqual(read, {
      id: created.body.Meta,
      org_id: app().credentials.organisation_id,
      name: 'Readers',
      description: 'They read',
      active: true,
      password_max_days: 30,
      user_permissions: { apis: 'read' },
    });
    const listed = (await app().ask('GET', '/api/usergroups')).body;
    assert.deepEqual([listed.pages, listed.groups[0]], [1, { ...read, users_count: 0 }]);
    const replaced = await app().ask('PUT', path, { body: { name: 'Writers', user_permissions: { apis: 'write' } } });
    assert.deepEqual([replaced.status, replaced.body.Message], [200, 'User group updated']);
    assert.deepEqual((await app().ask('GET', path)).body.user_permissions, { apis: 'write' });
    assert.equal((await app().ask('DELETE', path)).body.Message, 'User group deleted');
    for (const method of ['GET', 'DELETE']) assert.equal((await app().ask(method, path)).status, 404);
    const late = await app().ask('PUT', path, { body: { name: 'W', user_permissions: { apis: 'read' } } });
    assert.deepEqual([late.status, late.body.Message], [404, 'User group not found']);
  });

  test('invalid groups are refused with the path, and nothing is stored', async () => {
    const before = (await app().ask('GET', '/api/usergroups?p=-1')).body.groups.length;
    const permissions = (user_permissions: unknown) => ({ name: 'X', user_permissions });
    for (const [body, message] of [
      [{ user_permissions: { apis: 'read' } }, /^name: is required/],
      [permissions({}), /^user_permissions: needs at least one permission/],
      [permissions({ apis: 'all' }), /^user_permissions\.apis: /],
      [permissions({ polices: 'read' }), /^user_permissions\.polices: no such permission; did you mean policies\?$/],
      [permissions({ IsAdmin: 'admin' }), /^user_permissions\.IsAdmin: a user group cannot grant it$/],
      [permissions({ ResetPassword: 'admin' }), /^user_permissions\.ResetPassword: a user group cannot grant it$/],
    ] as const) {
      const answer = await app().ask('POST', '/api/usergroups', { body });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.body.Message, message);
    }
    assert.equal((await app().ask('GET', '/api/usergroups?p=-1')).body.groups.length, before);
  });

  test('groups of another organisation are not found, and cannot be joined', async () => {
    const id = await addGroup({ apis: 'read' });
    const { accessKey, orgId } = await app().stranger();
    const path = `/api/usergroups/${id}`;
    assert.equal(await status('GET', path, accessKey), 404);
    assert.equal(await status('GET', `${path}/users`, accessKey), 404);
    assert.equal(await status('DELETE', path, accessKey), 404);
    assert.equal(await status('PUT', path, accessKey, { name: 'X', user_permissions: { apis: 'read' } }), 404);
    assert.deepEqual((await app().ask('GET', '/api/usergroups', { credential: accessKey })).body.groups, []);
    const joining = { ...person(), user_permissions: { keys: 'read' }, group_id: id };
    const answer = await app().ask('POST', '/api/users', { credential: accessKey, body: joining });
    assert.deepEqual([answer.status, answer.body.Message], [400, `group_id: there is no user group ${id}`]);
    const byOperator = await app().ask('POST', '/admin/users', { body: { ...joining, org_id: orgId } });
    assert.equal(byOperator.status, 400);
  });

  test('permissions of a user with a group are the group’s, at once, and what is denied to the user stays denied', async () => {
    const group = await addGroup({ hooks: 'read', certs: 'read' });
    const user = await addUser({ users: 'write', certs: 'deny' }, { group_id: group });
    assert.equal(await status('GET', '/api/hooks', user.credential), 200);
    assert.equal(await status('GET', '/api/users', user.credential), 403);
    assert.equal(await status('GET', '/api/certs', user.credential), 403);
    const replace = (body: object) => app().ask('PUT', `/api/usergroups/${group}`, { body: { name: 'G', ...body } });
    await replace({ user_permissions: { keys: 'read' } });
    assert.equal(await status('GET', '/api/hooks', user.credential), 403);
    assert.equal(await status('GET', '/api/keys/detailed', user.credential), 200);
    await replace({ user_permissions: { keys: 'read' }, active: false });
    assert.equal(await status('GET', '/api/keys/detailed', user.credential), 403);
    assert.equal(await status('GET', '/api/users/me', user.credential), 200);
    await app().ask('PUT', `/admin/users/${user.id}`, { body: { group_id: '' } });
    assert.equal(await status('GET', '/api/users', user.credential), 200);
  });

  test('an administrator stays one in a group', async () => {
    const group = await addGroup({ hooks: 'read' });
    const { credential } = await addUser({ IsAdmin: 'admin' }, { group_id: group });
    assert.equal(await status('GET', '/api/usergroups', credential), 200);
  });

  test('users of a group are counted and listed; a group with users cannot be deleted', async () => {
    const group = await addGroup({ hooks: 'read' });
    const empty = await addGroup({ hooks: 'read' });
    const user = await addUser({ apis: 'read' }, { group_id: group });
    const path = `/api/usergroups/${group}`;
    const { groups } = (await app().ask('GET', '/api/usergroups?p=-1')).body;
    const counts = new Map(groups.map((it: { id: string; users_count: number }) => [it.id, it.users_count]));
    assert.deepEqual([counts.get(group), counts.get(empty)], [1, 0]);
    const { users, pages } = (await app().ask('GET', `${path}/users`)).body;
    assert.deepEqual([users.map(({ id }: { id: string }) => id), pages], [[user.id], 1]);
    const answer = await app().ask('DELETE', path);
    assert.deepEqual(
      [answer.status, answer.body.Message],
      [409, 'The user group still has users (1): move them first'],
    );
    await app().ask('DELETE', `/api/users/${user.id}`);
    assert.equal((await app().ask('DELETE', path)).status, 200);
  });

  test('a group deleted while a user joins it is either kept or refused to the user', async () => {
    const group = await addGroup({ hooks: 'read' });
    const joining = { ...person(), user_permissions: { keys: 'read' }, group_id: group };
    const [deleted, joined] = await Promise.all([
      app().ask('DELETE', `/api/usergroups/${group}`),
      app().ask('POST', '/api/users', { body: joining }),
    ]);
    assert.ok(['200,400', '409,200'].includes(`${deleted.status},${joined.status}`), `${deleted.text} ${joined.text}`);
  });

  test('an organisation is deleted with its groups', async () => {
    const { accessKey: credential, orgId } = await app().stranger();
    const body = { name: 'G', user_permissions: { apis: 'read' } };
    assert.equal((await app().ask('POST', '/api/usergroups', { credential, body })).status, 200);
    assert.equal((await app().ask('DELETE', `/admin/organisations/${orgId}`)).status, 200);
    const { groups } = app().application.installation.services;
    assert.deepEqual(await groups.all(orgId), []);
  });

  test('a group cannot be given permissions that the actor does not hold, also not by activation', async () => {
    const clerk = await addUser({ user_groups: 'write', users: 'write', hooks: 'read' });
    const write = (user_permissions: Permissions, more = {}) => ({ name: 'G', user_permissions, ...more });
    const create = (body: object) => app().ask('POST', '/api/usergroups', { credential: clerk.credential, body });
    assert.equal((await create(write({ hooks: 'read' }))).status, 200);
    const refused = await create(write({ hooks: 'write' }));
    assert.deepEqual(
      [refused.status, refused.body.Message],
      [403, 'access denied: you cannot grant hooks: write, which you do not have'],
    );
    assert.equal((await create(write({ keys: 'read' }, { active: false }))).status, 403);
    const own = await addGroup({ user_groups: 'write' });
    const member = await addUser({ apis: 'read' }, { group_id: own });
    const raised = write({ user_groups: 'write', apis: 'write' });
    assert.equal(await status('PUT', `/api/usergroups/${own}`, member.credential, raised), 403);
    const richer = await addGroup({ keys: 'write' }, { active: false });
    const path = `/api/usergroups/${richer}`;
    assert.equal(await status('PUT', path, clerk.credential, write({ keys: 'write' })), 403);
    assert.equal(await status('PUT', path, clerk.credential, write({ keys: 'write' }, { active: false })), 200);
    assert.equal(await status('PUT', path, clerk.credential, write({ keys: 'read' }, { active: false })), 200);
  });

  test('a user cannot be put into a group, or taken out of one, for permissions that the actor does not hold', async () => {
    const clerk = await addUser({ users: 'write', hooks: 'read' });
    const change = ({ id, write }: { id: string; write: object }, more: object) =>
      status('PUT', `/api/users/${id}`, clerk.credential, { ...write, ...more });
    const richer = await addGroup({ keys: 'read' });
    const equal = await addGroup({ hooks: 'read' });
    assert.equal(await change(clerk, { group_id: richer }), 403);
    const other = await addUser({ hooks: 'read' });
    assert.equal(await change(other, { group_id: richer }), 403);
    assert.equal(await change(other, { group_id: equal }), 200);
    const invited = { ...person(), user_permissions: { hooks: 'read' }, group_id: richer };
    assert.equal(await status('POST', '/api/users', clerk.credential, invited), 403);
    const narrowed = await addUser({ keys: 'write' }, { group_id: equal });
    assert.equal(await change(narrowed, { group_id: '' }), 403);
    assert.equal(await change(narrowed, { first_name: 'Z' }), 200);
    const asleep = await addUser({ keys: 'write' }, { active: false });
    assert.equal(await change(asleep, { active: true }), 403);
    const denied = await addUser({ keys: 'deny' }, { group_id: richer });
    assert.equal(await change(denied, { user_permissions: { hooks: 'read' } }), 403);
  });

  test('a group that owns APIs which the actor cannot see cannot be joined by it', async () => {
    const group = await addGroup({ apis: 'read' });
    const definition = { name: 'Owned', proxy: { listen_path: '/owned-group/', target_url: 'http://127.0.0.1:9/' } };
    const { body } = await app().ask('POST', '/api/apis', {
      body: { api_definition: definition, user_group_owners: [group] },
    });
    const clerk = await addUser({ users: 'write', apis: 'read' });
    const path = `/api/apis/${body.ID}`;
    assert.equal(await status('GET', path, clerk.credential), 403);
    const joining = { ...clerk.write, group_id: group };
    const answer = await app().ask('PUT', `/api/users/${clerk.id}`, { credential: clerk.credential, body: joining });
    assert.deepEqual(
      [answer.status, answer.body.Message],
      [403, 'access denied: the user group owns APIs that you cannot see'],
    );
    assert.equal((await app().ask('PUT', `/api/users/${clerk.id}`, { body: joining })).status, 200);
    assert.equal(await status('GET', path, clerk.credential), 200);
    await app().ask('PUT', `/api/usergroups/${group}`, {
      body: { name: 'G', user_permissions: { apis: 'read' }, active: false },
    });
    assert.equal(await status('GET', path, clerk.credential), 403);
  });
});
