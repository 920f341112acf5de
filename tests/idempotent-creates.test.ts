import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../src/catalogue.ts';
import { type Asked, onEveryEngine, startApp } from './support/app.ts';
import { makeAuthority } from './support/certificates.ts';

/** Idempotency-Key of creates. */

const withKey = (key: string, asked: Asked): Asked => ({ ...asked, headers: { 'idempotency-key': key } });

onEveryEngine(
  'Idempotent creates',
  app => {
    const post = (path: string, key: string, body: unknown, credential?: string) =>
      app().ask('POST', path, withKey(key, { body, ...(credential !== undefined && { credential }) }));
    const countKeys = async (alias: string) => {
      const { body } = await app().ask('GET', '/api/keys/detailed?p=-1');
      return body.keys.filter((it: { data: { alias?: string } }) => it.data.alias === alias).length;
    };

    test('a repeated create gets the response of the first one, with the new credential, and creates nothing', async () => {
      const [key, alias] = [createPublicId(), createPublicId()];
      const first = await post('/api/keys', key, { alias });
      assert.equal(first.status, 200, first.text);
      assert.equal(first.headers.get('idempotency-replayed'), null);
      const second = await post('/api/keys', key, { alias });
      assert.deepEqual([second.status, second.text], [first.status, first.text]);
      assert.equal(second.headers.get('idempotency-replayed'), 'true');
      assert.equal(await countKeys(alias), 1);
      const { records } = app().application.installation;
      const audited = await records.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(2).execute();
      const [last, earlier] = audited.map(({ body }) => JSON.parse(body).object);
      assert.ok(last !== '' && last === earlier);
    });

    test('the stored response contains no credential in plain text', async () => {
      const key = createPublicId();
      const { body } = await post('/api/keys', key, {});
      const { records } = app().application.installation;
      const rows = JSON.stringify(await records.db.selectFrom('idempotent_responses').selectAll().execute());
      assert.ok(rows.length > 2 && !rows.includes(body.key_id) && !rows.includes(key));
    });

    test('concurrent repetitions create one object and get one response', async () => {
      const [key, alias] = [createPublicId(), createPublicId()];
      const answers = await Promise.all(Array.from({ length: 8 }, () => post('/api/keys', key, { alias })));
      assert.deepEqual(
        [...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length,
        1,
        answers[0]!.text,
      );
      assert.equal(answers.filter(it => it.headers.get('idempotency-replayed') === null).length, 1);
      assert.equal(await countKeys(alias), 1);
    });

    test('another body, query or operation under the same key gets 422', async () => {
      const key = createPublicId();
      const hook = { method: 'POST', target_path: 'http://127.0.0.1:1/hook', name: 'a' };
      assert.equal((await post('/api/hooks', key, hook)).status, 200);
      for (const [path, body] of [
        ['/api/hooks', { ...hook, name: 'b' }],
        ['/api/hooks?a=b', hook],
        ['/api/keys', {}],
      ] as const) {
        const answer = await post(path, key, body);
        assert.equal(answer.status, 422, answer.text);
        assert.match(answer.text, /was used for another request/);
      }
    });

    test('the key of one caller is no key of another', async () => {
      const key = createPublicId();
      const first = await post('/api/keys', key, {});
      const { accessKey } = await app().stranger();
      const second = await post('/api/keys', key, {}, accessKey);
      assert.equal(second.status, 200, second.text);
      assert.notEqual(second.body.key_id, first.body.key_id);
    });

    test('a refused create stores no response: its key is free', async () => {
      const key = createPublicId();
      const name = createPublicId();
      assert.equal((await post('/api/portal/policies', key, { name: '' })).status, 400);
      const created = await post('/api/portal/policies', key, { name });
      assert.equal(created.status, 200, created.text);
      assert.equal((await post('/api/portal/policies', createPublicId(), { name })).status, 409);
    });

    test('a repetition is refused once the caller lacks the permission', async () => {
      const person = {
        first_name: 'A',
        last_name: 'B',
        email_address: `${createPublicId()}@example.org`,
        active: true,
      };
      const permitted = { ...person, user_permissions: { keys: 'write' } };
      const { body } = await app().ask('POST', '/admin/users', { body: permitted });
      const key = createPublicId();
      assert.equal((await post('/api/keys', key, {}, body.Message)).status, 200);
      await app().ask('PUT', `/admin/users/${body.Meta.id}`, { body: { user_permissions: { keys: 'read' } } });
      assert.equal((await post('/api/keys', key, {}, body.Message)).status, 403);
    });

    test('an upload in another multipart form is a repetition', async () => {
      const key = createPublicId();
      const { certPem } = makeAuthority(createPublicId());
      const upload = () => {
        const form = new FormData();
        form.set('file', new Blob([certPem]), 'a.pem');
        return post('/api/certs', key, form);
      };
      const first = await upload();
      assert.equal(first.status, 200, first.text);
      assert.equal((await upload()).text, first.text);
    });

    test('an invalid key, and a key where nothing can be repeated, get 400', async () => {
      for (const key of ['', 'a b', 'x'.repeat(256)]) assert.equal((await post('/api/keys', key, {})).status, 400, key);
      const preview = await post('/api/keys/preview', 'key', {});
      assert.equal(preview.status, 400);
      assert.match(preview.text, /leave out Idempotency-Key/);
    });
  },
  // Keys of tests need no API.
  { settings: { 'keys.allow_master_keys': 'true' } },
);

describe('Retention of idempotency keys', () => {
  test('an expired key creates again, and the oldest keys beyond the bound are removed', async () => {
    let nowMs = Date.now();
    const app = await startApp('sqlite', {
      clock: { now: () => nowMs },
      settings: {
        'keys.allow_master_keys': 'true',
        'management.idempotency_retention_seconds': '60',
        'management.max_idempotency_keys': '2',
      },
    });
    try {
      const create = async (key: string) =>
        (await app.ask('POST', '/api/keys', withKey(key, { body: {} }))).body.key_id;
      const first = await create('a');
      nowMs += 59_000;
      assert.equal(await create('a'), first);
      nowMs += 2000;
      const second = await create('a');
      assert.notEqual(second, first);
      nowMs += 1000;
      await create('b');
      nowMs += 1000;
      await create('c');
      assert.notEqual(await create('a'), second);
      const { records } = app.application.installation;
      assert.equal((await records.db.selectFrom('idempotent_responses').select('digest').execute()).length, 2);
    } finally {
      await app.close();
    }
  });

  test('the creates of the catalogue accept a key, but for those of credentials that are used once', () => {
    const creates = (catalogue as readonly AnyOperation[]).filter(
      it => it.method === 'POST' && it.surface !== 'portal' && /^(?:admin)?(?:create|add)/i.test(it.name),
    );
    const refused = creates.filter(it => !it.isRepeatable && !it.versioned).map(it => it.name);
    assert.deepEqual(refused.sort(), [
      'addPasskey',
      'adminCreateResetLink',
      'adminCreateSignOnNonce',
      'createSignOnNonce',
      'createTotp',
      'createUserResetLink',
    ]);
  });
});
