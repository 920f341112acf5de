import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { requestPortal } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient } from '../../../tests/support/site-client.ts';

interface Listed {
  readonly action: string;
  readonly object: string;
  readonly surface: string;
  readonly user: string;
}

onEveryEngine('audit records of the portal', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const list = (query: string): Promise<Listed[]> => ok('GET', `/audit-logs?${query}`);

  test('changes and sign-ins of the portal are listed newest first; those of the dashboard are not', async () => {
    const tag = await ok('POST', '/tags', { Name: `t-${createPublicId()}` }, 201);
    await app().ask('POST', '/api/usergroups', { body: { name: createPublicId(), user_permissions: {} } });
    const developer = await addSiteDeveloper(app());
    await createSiteClient(app()).signIn(developer.Email);
    const records = await list('per_page=1000');
    assert.deepEqual([...new Set(records.map(({ surface }) => surface))], ['portal']);
    assert.equal(records[0]!.user, developer.Email);
    assert.ok(records.some(({ action, object }) => action === 'createTag' && object === String(tag.ID)));
    assert.ok(!records.some(({ action }) => action === 'createUserGroup'));
    assert.equal((await list('limit=1')).length, 1);
  });

  test('records are found by user, action, object, path and day', async () => {
    const { ID } = await ok('POST', '/tags', { Name: `t-${createPublicId()}` }, 201);
    await ok('DELETE', `/tags/${ID}`);
    const found = await list(`object=${ID}&action=deleteTag`);
    assert.deepEqual(
      found.map(({ action, object }) => [action, object]),
      [['deleteTag', String(ID)]],
    );
    assert.equal((await list(`url=/portal-api/tags/${ID}`)).length, 1);
    for (const none of ['user=none@example.org', `object=${ID}%25`, 'object=%22', 'to_date=2000-01-01'])
      assert.deepEqual(await list(none), [], none);
    for (const bad of ['from_date=yesterday', 'status=ok', 'users=x', 'per_page=0'])
      assert.equal((await app().ask('GET', `/portal-api/audit-logs?${bad}`)).status, 422, bad);
  });

  test('the export has all records of the filters as CSV and JSON', async () => {
    const { ID } = await ok('POST', '/tags', { Name: `t-${createPublicId()}` }, 201);
    const path = `/portal-api/audit-logs/export?object=${ID}&action=createTag`;
    const json = await app().ask('GET', `${path}&type=json`);
    assert.equal(json.body.audit_logs.length, 1);
    const csv = await app().ask('GET', path);
    assert.match(csv.headers.get('content-type')!, /^text\/csv/);
    assert.equal(csv.text.split('\r\n').length, 3);
    assert.equal((await app().ask('GET', `${path}&type=xml`)).status, 422);
  });
});
