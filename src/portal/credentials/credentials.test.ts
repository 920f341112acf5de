import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addApp } from '../../../tests/support/portal.ts';
import { eventually } from '../../../tests/support/traffic.ts';

/** Pauses between attempts of a task grow with the time for which its provider was away. */
const maxBackoffWaitMs = 90_000;

onEveryEngine('portal credentials', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const keyStatus = async (key: string) => (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).status;
  const createCredential = async () => {
    const { app: owned, requestId } = await addAccessRequest(app());
    const path = `/apps/${owned.ID}/access-requests/${requestId}`;
    const [credential] = (await ask('GET', `${path}/credentials`)).body;
    return { owned, requestId, path, credential, one: `${path}/credentials/${credential.ID}` };
  };

  test('credentials are returned one by one, in lists and with their request', async () => {
    const { path, one, credential, requestId, owned } = await createCredential();
    assert.deepEqual((await ask('GET', one)).body, credential);
    const brief = (await ask('GET', path)).body;
    assert.deepEqual(brief.Credentials, [credential]);
    assert.deepEqual(Object.keys(brief).sort(), [
      'Catalogue',
      'Client',
      'CreatedAt',
      'Credentials',
      'DeletedAt',
      'Plan',
      'Products',
      'UpdatedAt',
      'User',
    ]);
    const [whole] = (await ask('GET', `/apps/${owned.ID}/access-requests`)).body;
    assert.deepEqual([whole.ID, whole.Status, whole.Credentials], [requestId, 'approved', [credential]]);
    assert.deepEqual((await ask('GET', `${path}/credentials?page=2`)).body, []);
  });

  test('the key of a credential is sealed in the database', async () => {
    const { credential } = await createCredential();
    const { records } = app().application.installation;
    const row = await records.db
      .selectFrom('portal_credentials')
      .selectAll()
      .where('id', '=', credential.ID)
      .executeTakeFirstOrThrow();
    assert.ok(!row.body.includes(credential.Credential));
    assert.ok(row.body.includes(credential.CredentialHash));
  });

  test('concurrent rotations leave one valid key, the returned one', async () => {
    const { owned, one } = await createCredential();
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask('PUT', `${one}/rotate`)));
    assert.ok(answers.some(it => it.status === 200));
    for (const answer of answers) assert.ok([200, 422].includes(answer.status), answer.text);
    const shown = (await ask('GET', one)).body.Credential;
    assert.equal(await keyStatus(shown), 200);
    const { body } = await app().ask('GET', '/api/keys/detailed?p=-1');
    const left = body.keys.filter((it: { data: { tags?: string[] } }) =>
      it.data.tags?.includes(`portal-app-${owned.ID}`),
    );
    assert.deepEqual(
      left.map((it: { key_id: string }) => it.key_id),
      [shown],
    );
  });

  test('removing a credential revokes its key; the request stays approved', async () => {
    const { path, one, credential, requestId } = await createCredential();
    assert.deepEqual((await ask('DELETE', one)).body, { status: 'ok' });
    assert.equal(await keyStatus(credential.Credential), 404);
    assert.deepEqual((await ask('GET', `${path}/credentials`)).body, []);
    assert.equal((await ask('GET', `/access_requests/${requestId}`)).body.Status, 'approved');
    assert.equal((await ask('DELETE', one)).status, 404);
    assert.equal((await ask('GET', one)).status, 422);
    assert.equal((await ask('PUT', `${one}/rotate`)).status, 422);
  });

  test('a credential of an unreachable provider is revoked with force only; its key goes when the provider returns', async () => {
    const { path, one, credential } = await createCredential();
    const { providers } = app().application.installation.services.portal;
    const moveTo = (URL: string) => providers.change(1, it => ({ ...it, MetaData: { ...it.MetaData, URL } }));
    await moveTo('http://127.0.0.1:9');
    try {
      assert.equal((await ask('DELETE', one)).status, 422);
      assert.deepEqual((await ask('GET', `${path}/credentials`)).body, [credential]);
      assert.deepEqual((await ask('DELETE', `${one}?force=true`)).body, { status: 'ok' });
    } finally {
      await moveTo('');
    }
    assert.deepEqual((await ask('GET', `${path}/credentials`)).body, []);
    await eventually(async () => assert.equal(await keyStatus(credential.Credential), 404), maxBackoffWaitMs);
  });

  test('a credential whose key was removed at the provider can be removed and rotated', async () => {
    const { one, credential } = await createCredential();
    const path = `/api/keys/${encodeURIComponent(credential.Credential)}`;
    assert.equal((await app().ask('DELETE', path)).status, 200);
    assert.equal((await ask('PUT', `${one}/rotate`)).status, 200);
    assert.equal((await ask('DELETE', one)).status, 200);
  });

  test('credentials of another app return 404', async () => {
    const { requestId, credential } = await createCredential();
    const other = await addApp(app());
    const path = `/apps/${other.ID}/access-requests/${requestId}`;
    const one = `${path}/credentials/${credential.ID}`;
    assert.equal((await ask('GET', path)).status, 404);
    assert.equal((await ask('DELETE', path)).status, 422);
    assert.equal((await ask('GET', `${path}/credentials`)).status, 404);
    assert.equal((await ask('GET', one)).status, 422);
    assert.equal((await ask('DELETE', one)).status, 404);
    assert.equal((await ask('PUT', `${one}/rotate`)).status, 422);
    assert.equal(await keyStatus(credential.Credential), 200);
  });

  test('a credential removed during rotation leaves no valid key', async () => {
    for (let round = 0; round < 6; round++) {
      const { one, path, credential } = await createCredential();
      const tags = (await app().ask('GET', `/api/keys/${encodeURIComponent(credential.Credential)}`)).body.data.tags;
      const removing = () => (round % 2 === 0 ? ask('DELETE', one) : ask('DELETE', path));
      const answers = await Promise.all([ask('PUT', `${one}/rotate`), ask('PUT', `${one}/rotate`), removing()]);
      for (const { status, text } of answers) assert.ok(status < 500, text);
      const { keys } = (await app().ask('GET', '/api/keys/detailed?p=-1')).body;
      const left = keys.filter((it: { data: { tags: string[] } }) => String(it.data.tags) === String(tags));
      assert.deepEqual(left, []);
    }
  });

  test('a request of an app is removed with its keys', async () => {
    const { path, credential } = await createCredential();
    assert.deepEqual((await ask('DELETE', path)).body, { status: 'ok' });
    assert.equal(await keyStatus(credential.Credential), 404);
    assert.equal((await ask('GET', path)).status, 404);
    assert.equal((await ask('DELETE', path)).status, 422);
  });
});
