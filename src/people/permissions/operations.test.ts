import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { getCustomPermissions, updateCustomPermissions } from './operations.ts';

onEveryEngine('operations of custom permissions', app => {
  const path = '/api/org/permissions';

  test('custom permissions are empty at first, replaced whole and audited', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const read = async () => (await app().ask('GET', path, { credential })).body.additional_permissions;
    const put = (additional_permissions: object) =>
      app().ask('PUT', path, { credential, body: { additional_permissions } });
    assert.deepEqual(await read(), {});
    assert.equal((await put({ one: 'One' })).status, 200);
    assert.deepEqual(await readLastAudit(app()), ['updateCustomPermissions', orgId, orgId, 200]);
    assert.equal((await put({ two: 'Two' })).status, 200);
    assert.equal((await put({ 'a b': 'A' })).status, 400);
    assert.deepEqual(await readLastAudit(app()), ['updateCustomPermissions', orgId, orgId, 400]);
    assert.deepEqual(await read(), { two: 'Two' });
    assert.equal((await app().ask('GET', path)).body.additional_permissions.two, undefined);
  });

  test('an organisation that was deleted during the request is not found', async () => {
    const { organisations } = app().application.installation.services;
    const call = { actor: { orgId: 'deleted' }, body: { additional_permissions: {} }, audit: () => {} };
    for (const { handle } of [getCustomPermissions, updateCustomPermissions])
      await assert.rejects(async () => handle(call as never, { organisations }), {
        code: 'people.organisation_not_found',
      });
  });
});
