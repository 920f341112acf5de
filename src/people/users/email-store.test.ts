import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('accounts of an e-mail address', app => {
  test('an account is found in its own organisation, or in all, the oldest first', async () => {
    const { users } = app().application.installation.services;
    const email = `${createPublicId()}@example.org`;
    const { orgId: otherId } = await app().stranger();
    const ownId = app().credentials.organisation_id;
    for (const org_id of [otherId, ownId]) {
      const user = { email_address: email, first_name: 'A', last_name: 'B', user_permissions: { apis: 'read' } };
      const { body, text } = await app().ask('POST', '/admin/users', { body: { ...user, org_id } });
      assert.equal(body.Status, 'OK', text);
    }
    const organisationsOf = async (orgId?: string) =>
      (await users.findByEmail(email, orgId)).map(({ org_id }) => org_id);
    assert.deepEqual(await organisationsOf(ownId), [ownId]);
    assert.deepEqual(await organisationsOf(otherId), [otherId]);
    assert.deepEqual(await organisationsOf(createPublicId()), []);
    assert.deepEqual(await organisationsOf(), [otherId, ownId]);
  });
});
