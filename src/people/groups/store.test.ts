import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { createGroupStore } from './store.ts';

onEveryEngine('user group store', app => {
  test('an organisation has at most the given number of groups', async () => {
    const store = createGroupStore(app().application.installation.records, 2);
    const [full, other] = [createPublicId(), createPublicId()];
    const insert = (orgId: string) =>
      store.insert({
        id: createPublicId(),
        org_id: orgId,
        name: 'G',
        description: '',
        active: true,
        password_max_days: 0,
        user_permissions: { apis: 'read' },
        created_at_ms: 1,
      });
    await insert(full);
    await insert(full);
    await assert.rejects(insert(full), /limit reached: user groups 2/);
    assert.equal((await store.all(full)).length, 2);
    await insert(other);
  });
});
