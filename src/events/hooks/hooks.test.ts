import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';

const least = { method: 'POST', target_path: 'https://hooks.example/in' };

onEveryEngine('webhooks', app => {
  const make = async (body: object = least, credential?: string) => {
    const answer = await app().ask('POST', '/api/hooks', { body, ...(credential ? { credential } : {}) });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.ID as string;
  };
  const read = async (id: string) => (await app().ask('GET', `/api/hooks/${id}`)).body;

  test('a webhook of two members is created with every member and an id', async () => {
    const { status, body } = await app().ask('POST', '/api/hooks', { body: least });
    assert.equal(status, 200);
    const { ID, ...envelope } = body;
    assert.deepEqual(envelope, { Status: 'OK', Message: 'Webhook created', Meta: null });
    const { webhook_id, ...hook } = await read(ID);
    assert.match(webhook_id, /^[0-9a-f]{32}$/);
    assert.deepEqual(hook, {
      ...least,
      api_model: {},
      id: ID,
      org_id: app().credentials.organisation_id,
      name: '',
      template_path: '',
      header_map: {},
      event_timeout: 0,
    });
  });

  test('a webhook that was read can be sent back unchanged', async () => {
    const write = {
      ...least,
      name: 'CRM',
      template_path: 'templates/crm.json',
      header_map: { 'X-Api-Key': 'k', Accept: 'application/json' },
      event_timeout: 30,
      webhook_id: 'crm.hook',
    };
    const id = await make(write);
    const before = await read(id);
    assert.deepEqual(before, { ...write, api_model: {}, id, org_id: app().credentials.organisation_id });
    const { status, body } = await app().ask('PUT', `/api/hooks/${id}`, { body: before });
    assert.equal(status, 200);
    assert.deepEqual(body, { Status: 'OK', Message: 'Hook updated', Meta: null });
    assert.deepEqual(await read(id), before);
  });

  test('an update replaces everything but webhook_id, and cannot move the hook to another organisation', async () => {
    const id = await make({ ...least, name: 'old', header_map: { A: 'b' }, event_timeout: 5, webhook_id: 'stays' });
    const body = { method: 'GET', target_path: 'http://127.0.0.1:9/x?y=1', id: 'other', org_id: 'other' };
    assert.equal((await app().ask('PUT', `/api/hooks/${id}`, { body })).status, 200);
    const after = await read(id);
    assert.deepEqual(
      [after.id, after.name, after.method, after.target_path, after.header_map, after.event_timeout, after.webhook_id],
      [id, '', 'GET', body.target_path, {}, 0, 'stays'],
    );
    assert.equal(after.org_id, app().credentials.organisation_id);
    assert.equal((await app().ask('PUT', `/api/hooks/${id}`, { body: { ...least, webhook_id: 'moved' } })).status, 200);
    assert.equal((await read(id)).webhook_id, 'moved');
  });

  test('a webhook_id is unique in an organisation, on create and on update', async () => {
    await make({ ...least, webhook_id: 'taken' });
    const again = await app().ask('POST', '/api/hooks', { body: { ...least, webhook_id: 'taken' } });
    assert.equal(again.status, 409);
    assert.equal(again.body.Message, 'A webhook with this webhook_id already exists');
    const other = await make();
    const body = { ...least, webhook_id: 'taken' };
    assert.equal((await app().ask('PUT', `/api/hooks/${other}`, { body })).status, 409);
    await make(body, (await app().stranger()).accessKey);
  });

  test('header values are sealed in the database and readable only through the API', async () => {
    const secret = 'hook-header-secret-4711';
    rememberSecrets({ secret });
    const id = await make({ ...least, header_map: { Authorization: secret } });
    const { db } = app().application.installation.records;
    const row = await db.selectFrom('hooks').select('body').where('id', '=', id).executeTakeFirstOrThrow();
    assert.ok(!row.body.includes(secret));
    assert.equal((await read(id)).header_map.Authorization, secret);
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { hooks: 'read' } });
    const masked = { Authorization: '********' };
    const { body: seen } = await app().ask('GET', `/api/hooks/${id}`, { credential });
    assert.deepEqual(seen.header_map, masked);
    for (const path of ['/api/hooks?p=-1', `/api/revisions/hooks/${id}/1`]) {
      const { status, text } = await app().ask('GET', path, { credential });
      assert.deepEqual([status, text.includes(secret), text.includes('********')], [200, false, true], path);
    }
    const kept = { ...least, name: 'kept', header_map: { ...masked, 'X-New': 'n' } };
    assert.equal((await app().ask('PUT', `/api/hooks/${id}`, { body: kept })).status, 200);
    assert.deepEqual((await read(id)).header_map, { Authorization: secret, 'X-New': 'n' });
    for (const [method, path] of [
      ['PUT', `/api/hooks/${id}`],
      ['POST', '/api/hooks'],
    ] as const) {
      const refused = await app().ask(method, path, { body: { ...least, header_map: { Other: '********' } } });
      assert.equal(refused.status, 400);
      assert.match(refused.body.Message, /header_map\.Other: .*masked/);
    }
    const bad = { ...least, header_map: { Authorization: `${secret}\n` } };
    assert.ok(!(await app().ask('POST', '/api/hooks', { body: bad })).text.includes(secret));
  });

  test('webhooks are listed in pages, newest first; unpaged below 1; empty past the end', async () => {
    const { accessKey: credential } = await app().stranger();
    const page = async (query: string) => (await app().ask('GET', `/api/hooks${query}`, { credential })).body;
    assert.deepEqual(await page(''), { hooks: [], pages: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 11; n++) ids.unshift(await make(least, credential));
    const idsOf = ({ hooks }: { hooks: { id: string }[] }) => hooks.map(({ id }) => id);
    const first = await page('');
    assert.equal(first.pages, 2);
    assert.deepEqual(idsOf(first), ids.slice(0, 10));
    assert.deepEqual(idsOf(await page('?p=2')), ids.slice(10));
    assert.deepEqual(idsOf(await page('?p=-1')), ids);
    assert.deepEqual(await page('?p=3'), { hooks: [], pages: 2 });
    assert.equal((await app().ask('GET', '/api/hooks?p=one', { credential })).status, 400);
  });

  test('an invalid member is rejected with its path', async () => {
    const id = await make();
    for (const [wrong, place] of [
      [{ target_path: 'https://x.example' }, 'method'],
      [{ method: 'POST' }, 'target_path'],
      [{ ...least, method: 'TRACE' }, 'method'],
      [{ ...least, method: 'post' }, 'method'],
      [{ ...least, target_path: '/relative' }, 'target_path'],
      [{ ...least, target_path: 'ftp://x.example' }, 'target_path'],
      [{ ...least, target_path: 'http:x.example' }, 'target_path'],
      [{ ...least, target_path: 'http://x.example/\r\nX-Own: 1' }, 'target_path'],
      [{ ...least, target_path: 'http://x.example/a b' }, 'target_path'],
      [{ ...least, target_path: 'http://x.example/ ' }, 'target_path'],
      [{ ...least, target_path: 'https://u:p@x.example' }, 'target_path'],
      [{ ...least, event_timeout: '5' }, 'event_timeout'],
      [{ ...least, event_timeout: 1.5 }, 'event_timeout'],
      [{ ...least, event_timeout: -1 }, 'event_timeout'],
      [{ ...least, header_map: { 'X-A': 1 } }, 'header_map.X-A'],
      [{ ...least, header_map: { 'X-A': 'a\r\nX-B: c' } }, 'header_map.X-A'],
      [{ ...least, header_map: { 'X A': 'a' } }, 'header_map.X A'],
      [{ ...least, header_map: [] }, 'header_map'],
      [{ ...least, name: 7 }, 'name'],
      [{ ...least, template_path: {} }, 'template_path'],
      [{ ...least, template_path: '{"a":"{{.Type"}' }, 'template_path'],
      [{ ...least, webhook_id: '../x' }, 'webhook_id'],
    ] as const) {
      for (const [method, path] of [
        ['POST', '/api/hooks'],
        ['PUT', `/api/hooks/${id}`],
      ] as const) {
        const { status, body } = await app().ask(method, path, { body: wrong });
        assert.equal(status, 400, JSON.stringify(wrong));
        assert.ok(body.Message.startsWith(`${place}: `), body.Message);
      }
    }
  });

  test('an empty body and malformed JSON are rejected as such', async () => {
    const id = await make();
    for (const [body, message] of [
      ['', /^Request body is empty$/],
      ['{"method":', /^Request body malformed/],
      ['[]', /expected object/],
    ] as const) {
      assert.match((await app().ask('POST', '/api/hooks', { body })).body.Message, message);
      const answer = await app().ask('PUT', `/api/hooks/${id}`, { body });
      assert.equal(answer.status, 400);
      assert.match(answer.body.Message, message);
    }
  });

  test('an unknown webhook, a deleted one and one of another organisation are not found', async () => {
    const foreign = await make(least, (await app().stranger()).accessKey);
    const removed = await make();
    const { status, body } = await app().ask('DELETE', `/api/hooks/${removed}`);
    assert.equal(status, 200);
    assert.deepEqual(body, { Status: 'OK', Message: 'Webhook deleted', Meta: null });
    for (const id of [foreign, removed, 'nothing']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await app().ask(method, `/api/hooks/${id}`, method === 'PUT' ? { body: least } : {});
        assert.equal(answer.status, 404, `${method} ${id}`);
        assert.equal(answer.body.Message, 'Webhook not found');
      }
    }
  });

  test('every write marks the APIs as changed, a rejected one does not', async () => {
    const received: string[] = [];
    const stop = app().application.installation.records.onChange(topics => received.push(...topics));
    const id = await make();
    await app().ask('PUT', `/api/hooks/${id}`, { body: least });
    await app().ask('DELETE', `/api/hooks/${id}`);
    await app().ask('DELETE', `/api/hooks/${id}`);
    stop();
    assert.deepEqual(received, ['apis', 'apis', 'apis']);
  });
});
