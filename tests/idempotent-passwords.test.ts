import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp } from './support/app.ts';

test('a create with a password refuses an idempotency key, since hashing is no part of a transaction', async () => {
  const app = await startApp('sqlite', { settings: { 'keys.allow_master_keys': 'true' } });
  try {
    const post = (path: string, body: unknown) =>
      app.ask('POST', path, { body, headers: { 'idempotency-key': createPublicId() } });
    const name = createPublicId();
    const email_address = `${name}@example.org`;
    const plain = { first_name: 'A', last_name: 'B', email_address, active: true, user_permissions: { apis: 'read' } };
    const basic = { alias: name, basic_auth_data: { user: name, password: 'Correct-horse-7' } };
    for (const [path, body] of [
      ['/api/users', { ...plain, password: 'Correct-horse-7' }],
      ['/api/keys?basic_auth=1', basic],
      ['/api/keys', basic],
      [`/api/keys/${name}`, basic],
      [`/api/keys/${name}`, { data: basic }],
      ['/gw/keys', basic],
      ['/gw/keys/create', basic],
      ['/admin/org/keys', basic],
    ] as const) {
      const answer = await post(path, body);
      assert.equal(answer.status, 400, `${path} ${answer.text}`);
      assert.match(answer.text, /A create with a password cannot be repeated/, path);
    }
    const { body } = await app.ask('GET', '/api/keys/detailed?p=-1');
    assert.equal(body.keys.length, 0);
    const created = await post('/api/users', plain);
    assert.equal(created.status, 200, created.text);
  } finally {
    await app.close();
  }
});
