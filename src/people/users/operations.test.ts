import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';

onEveryEngine('operations of users', app => {
  const person = (more: object = {}) => ({
    email_address: `${createPublicId()}@example.org`,
    first_name: 'A',
    last_name: 'B',
    user_permissions: { apis: 'read' },
    ...more,
  });
  const create = async (more: object = {}) => {
    const { body, text } = await app().ask('POST', '/admin/users', { body: person(more) });
    assert.equal(body.Status, 'OK', text);
    return body.Meta as { id: string; email_address: string; org_id: string };
  };
  const put = (id: string, body: object) => app().ask('PUT', `/admin/users/${id}`, { body });
  const orgId = () => app().credentials.organisation_id;

  test('the audit record of a change has the user and its organisation, also where the change is refused', async () => {
    const { id } = await create();
    assert.deepEqual(await readLastAudit(app()), ['adminCreateUser', id, orgId(), 200]);
    const missing = 'f'.repeat(24);
    for (const [action, method, path, body] of [
      ['adminUpdateUser', 'PUT', '/admin/users/ID', { first_name: 'C' }],
      ['allowResetPasswords', 'PUT', '/admin/users/ID/actions/allow_reset_passwords', undefined],
      ['disallowResetPasswords', 'PUT', '/admin/users/ID/actions/disallow_reset_passwords', undefined],
      ['updateUser', 'PUT', '/api/users/ID', person()],
      ['resetAccessKey', 'PUT', '/api/users/ID/actions/key/reset', undefined],
      ['resetPassword', 'POST', '/api/users/ID/actions/reset', { new_password: 'a long enough password 1!' }],
      ['revokeUser', 'PUT', '/api/users/ID/actions/revoke', undefined],
      ['deleteUser', 'DELETE', '/api/users/ID', undefined],
    ] as const) {
      const isOperator = path.startsWith('/admin/');
      for (const [target, organisation, status] of [
        [missing, isOperator ? '' : orgId(), 404],
        [id, orgId(), 200],
      ] as const) {
        await app().ask(method, path.replace('ID', target), body === undefined ? {} : { body });
        assert.deepEqual(await readLastAudit(app()), [action, target, organisation, status]);
      }
    }
    const created = await app().ask('POST', '/api/users', { body: person() });
    assert.deepEqual(await readLastAudit(app()), ['createUser', created.body.Meta, orgId(), 200]);
  });

  test('an update keeps active, group and password age where they are omitted, and sets them to false, none and 0', async () => {
    const group = await app().ask('POST', '/api/usergroups', {
      body: { name: 'G', user_permissions: { apis: 'read' } },
    });
    const { id, email_address } = await create({ active: true, group_id: group.body.Meta, password_max_days: 9 });
    const path = `/api/users/${id}`;
    const read = async () => {
      const { active, group_id, password_max_days, first_name } = (await app().ask('GET', path)).body;
      return { active, group_id, password_max_days, first_name };
    };
    const kept = { active: true, group_id: group.body.Meta, password_max_days: 9 };
    const write = person({ email_address, first_name: 'Z' });
    assert.equal((await app().ask('PUT', path, { body: write })).status, 200);
    assert.deepEqual(await read(), { ...kept, first_name: 'Z' });
    assert.equal((await put(id, { first_name: 'Y' })).status, 200);
    assert.deepEqual(await read(), { ...kept, first_name: 'Y' });
    const cleared = { active: false, group_id: '', password_max_days: 0 };
    assert.equal((await app().ask('PUT', path, { body: { ...write, ...cleared } })).status, 200);
    assert.deepEqual(await read(), { ...cleared, first_name: 'Z' });
    assert.equal((await put(id, { ...kept, first_name: 'X' })).status, 200);
    assert.equal((await put(id, cleared)).status, 200);
    assert.deepEqual(await read(), { ...cleared, first_name: 'X' });
  });

  test('the operator moves a user to an existing organisation only', async () => {
    const { id } = await create();
    const refused = await put(id, { org_id: 'unknown' });
    assert.deepEqual([refused.status, refused.body.Message], [400, 'org_id: there is no organisation unknown']);
    const created = await app().ask('POST', '/admin/users', { body: person({ org_id: 'unknown' }) });
    assert.equal(created.status, 400);
    const { orgId: other } = await app().stranger();
    assert.equal((await put(id, { org_id: other })).status, 200);
    assert.deepEqual(await readLastAudit(app()), ['adminUpdateUser', id, other, 200]);
    assert.equal((await app().ask('GET', `/admin/users/${id}`)).body.org_id, other);
  });

  test('ResetPassword is granted and withdrawn by the operator, with other permissions unchanged', async () => {
    const { id } = await create();
    const set = async (action: string) =>
      (await app().ask('PUT', `/admin/users/${id}/actions/${action}`)).body.Meta.user_permissions;
    assert.deepEqual(await set('allow_reset_passwords'), { apis: 'read', ResetPassword: 'admin' });
    assert.deepEqual(await set('disallow_reset_passwords'), { apis: 'read' });
  });

  test('a password of a new user is stored with its time, and one that breaks the policy is refused', async () => {
    const password = 'a long enough password 1!';
    const { users } = app().application.installation.services;
    const made = await app().ask('POST', '/api/users', { body: person({ password }) });
    const stored = await users.get(orgId(), made.body.Meta);
    assert.equal(stored!.password_updated, stored!.created_at);
    assert.notEqual(stored!.password, '');
    assert.equal((await app().ask('POST', '/api/users', { body: person({ password: 'x' }) })).status, 400);
    const bare = await app().ask('POST', '/api/users', { body: person() });
    assert.equal((await users.get(orgId(), bare.body.Meta))!.password, '');
    assert.equal((await put(made.body.Meta, { password: 'another long password 1!' })).status, 200);
    assert.notEqual((await users.get(orgId(), made.body.Meta))!.password, stored!.password);
  });

  test('a revoked user is inactive and has another access key', async () => {
    const { body } = await app().ask('POST', '/admin/users', { body: person({ active: true }) });
    assert.equal((await app().ask('PUT', `/api/users/${body.Meta.id}/actions/revoke`)).status, 200);
    const { active, access_key } = (await app().ask('GET', `/admin/users/${body.Meta.id}`)).body;
    assert.equal(active, false);
    assert.notEqual(access_key, body.Message);
  });

  test('a user without a permission cannot delete, revoke, deactivate or demote a user who has it', async () => {
    const { id: manager } = await create({ active: true, user_permissions: { users: 'write' } });
    const { body: renewed } = await app().ask('PUT', `/api/users/${manager}/actions/key/reset`);
    const credential = renewed.access_key;
    const administrator = await create({ active: true, user_permissions: { IsAdmin: 'admin' } });
    for (const user_permissions of [{ keys: 'read' }, { users: 'write' }]) {
      const { id, email_address } = await create({ active: true, user_permissions });
      const expected = 'keys' in user_permissions ? 403 : 200;
      const off = { email_address, first_name: 'A', last_name: 'B', active: false, user_permissions };
      for (const [method, path, body] of [
        ['PUT', `/api/users/${id}`, { ...off, active: true, user_permissions: { users: 'read' } }],
        ['PUT', `/api/users/${id}`, off],
        ['PUT', `/api/users/${id}/actions/revoke`, undefined],
        ['DELETE', `/api/users/${id}`, undefined],
      ] as const) {
        const { status, text } = await app().ask(method, path, { credential, ...(body && { body }) });
        assert.equal(status, expected, `${method} ${path}: ${text}`);
      }
      const after = await app().ask('GET', `/api/users/${id}`);
      assert.deepEqual([after.status, after.body.active], expected === 403 ? [200, true] : [404, undefined]);
    }
    const refused = await app().ask('DELETE', `/api/users/${administrator.id}`, { credential });
    assert.equal(refused.status, 403, refused.text);
  });

  test('members out of their bounds are refused on both surfaces', async () => {
    for (const path of ['/api/users', '/admin/users'])
      for (const more of [
        { first_name: '' },
        { last_name: '' },
        { password_max_days: -1 },
        { password_max_days: 36_501 },
        { user_permissions: { '': 'read' } },
      ]) {
        const answer = await app().ask('POST', path, { body: person(more) });
        assert.equal(answer.status, 400, JSON.stringify(more));
        assert.ok(answer.body.Message.startsWith(Object.keys(more)[0]), answer.body.Message);
        assert.doesNotMatch(answer.body.Message, /no such permission/);
      }
    const key = await put((await create()).id, { access_key: 'short' });
    assert.deepEqual([key.status, key.body.Message.startsWith('access_key')], [400, true]);
  });
});
