import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxWebhookHeaders } from '#events/webhook-shapes.ts';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { portalEvents } from './schema.ts';

const portalTime = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;
const whole = {
  Name: 'crm',
  URL: 'https://crm.example/in',
  Method: 'POST',
  Timeout: 30,
  Events: ['AccessRequestApproved', 'UserRegistered'],
};

onEveryEngine('portal webhooks', app => {
  const make = async (body: object = whole) => {
    const answer = await app().ask('POST', '/portal-api/webhooks', { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const addHeader = (id: string, body: object) => app().ask('POST', `/portal-api/webhooks/${id}/headers`, { body });

  test('a webhook is created with every member and read back the same', async () => {
    const made = await make();
    const { Secret, ...readable } = made;
    const { ID, CreatedAt, UpdatedAt, SecretChangedAt, ...hook } = readable;
    assert.match(ID, /^\d+$/);
    for (const time of [CreatedAt, UpdatedAt, SecretChangedAt]) assert.match(time, portalTime);
    assert.match(Secret, /^whsec_/);
    assert.deepEqual(hook, { ...whole, Headers: [], OldSecretValidUntil: '' });
    assert.deepEqual((await app().ask('GET', `/portal-api/webhooks/${ID}`)).body, readable);
  });

  test('every event is accepted, duplicates are dropped, and integers may be text', async () => {
    const { Events, Timeout, Method } = await make({
      ...whole,
      Method: 'put',
      Timeout: '5',
      Events: [...portalEvents, ...portalEvents],
    });
    assert.equal(portalEvents.length, 30);
    assert.deepEqual([Events, Timeout, Method], [[...portalEvents], 5, 'PUT']);
  });

  test('an update changes sent members, never the headers, and returns the whole webhook', async () => {
    const { ID } = await make({ Name: 'n', URL: 'http://127.0.0.1:9', Method: 'GET' });
    await addHeader(ID, { Name: 'X-A', Value: '1' });
    const before = (await app().ask('GET', `/portal-api/webhooks/${ID}`)).body;
    assert.deepEqual([before.Timeout, before.Events], [10, []]);
    const { status, body } = await app().ask('PUT', `/portal-api/webhooks/${ID}`, {
      body: { ...whole, ID: '77', Headers: [] },
    });
    assert.equal(status, 200);
    const { UpdatedAt, ...rest } = body;
    assert.match(UpdatedAt, portalTime);
    assert.deepEqual(rest, {
      ...whole,
      ID,
      Headers: [{ ID: '1', Name: 'X-A', Value: '1' }],
      CreatedAt: before.CreatedAt,
      SecretChangedAt: before.SecretChangedAt,
      OldSecretValidUntil: '',
    });
    const partial = await app().ask('PUT', `/portal-api/webhooks/${ID}`, { body: { Name: 'renamed' } });
    assert.deepEqual({ ...partial.body, UpdatedAt }, { ...body, Name: 'renamed' });
    const quiet = await app().ask('PUT', `/portal-api/webhooks/${ID}`, { body: { Events: [] } });
    assert.deepEqual(quiet.body.Events, []);
  });

  test('an update needs the token, though it may be sent without one elsewhere', async () => {
    const { ID } = await make();
    const { status } = await app().ask('PUT', `/portal-api/webhooks/${ID}`, { body: whole, credential: null });
    assert.equal(status, 401);
  });

  test('the list is newest first, in pages', async () => {
    const ids = [(await make()).ID, (await make()).ID].reverse();
    const list = async (query: string) =>
      (await app().ask('GET', `/portal-api/webhooks?${query}`)).body.map(({ ID }: { ID: string }) => ID);
    assert.deepEqual(await list('per_page=2'), ids);
    assert.deepEqual(await list('per_page=1&page=2'), ids.slice(1));
    assert.deepEqual(await list('limit=1'), ids.slice(0, 1));
    assert.deepEqual(await list('page=900'), []);
  });

  test('an invalid member is refused with its path and the allowed values', async () => {
    const { ID } = await make();
    for (const [wrong, place] of [
      [{ Name: '' }, 'Name'],
      [{ URL: 'crm.example' }, 'URL'],
      [{ URL: 'javascript:alert(1)' }, 'URL'],
      [{ URL: 'https://crm.example/\r\n' }, 'URL'],
      [{ Method: 'HEAD' }, 'Method'],
      [{ Timeout: 301 }, 'Timeout'],
      [{ Timeout: -1 }, 'Timeout'],
      [{ Timeout: 'soon' }, 'Timeout'],
      [{ Events: 'UserRegistered' }, 'Events'],
      [{ Events: ['UserRegistered', 'AccessRequestEaten'] }, 'Events[1]'],
    ] as const) {
      for (const answer of [
        await app().ask('POST', '/portal-api/webhooks', { body: { ...whole, ...wrong } }),
        await app().ask('PUT', `/portal-api/webhooks/${ID}`, { body: wrong }),
      ]) {
        assert.equal(answer.status, 422, JSON.stringify(wrong));
        assert.ok(answer.body.errors[0].startsWith(`${place}: `), answer.body.errors[0]);
      }
    }
    const { body } = await app().ask('PUT', `/portal-api/webhooks/${ID}`, { body: { Events: ['CredentialRevokd'] } });
    assert.match(body.errors[0], /^Events\[0\]: .*did you mean CredentialRevoked\?/);
    const missing = await app().ask('POST', '/portal-api/webhooks', { body: {} });
    assert.deepEqual(missing.body.errors.map((line: string) => line.split(':')[0]).sort(), ['Method', 'Name', 'URL']);
    for (const broken of ['', '{'])
      assert.equal((await app().ask('POST', '/portal-api/webhooks', { body: broken })).status, 422);
  });

  test('headers are added, read, changed and removed one by one', async () => {
    const { ID } = await make();
    const path = `/portal-api/webhooks/${ID}/headers`;
    const first = await addHeader(ID, { Name: 'X-Api-Key', Value: 'k1' });
    assert.equal(first.status, 201);
    assert.deepEqual(first.body, { ID: '1', Name: 'X-Api-Key', Value: 'k1', WebhookID: ID });
    const second = (await addHeader(ID, { Name: 'Accept', Value: 'text/plain' })).body;
    assert.deepEqual((await app().ask('GET', `${path}/${second.ID}`)).body, second);

    const changed = await app().ask('PUT', `${path}/1`, { body: { Name: 'X-Api-Key', Value: 'k2' } });
    assert.equal(changed.status, 200);
    assert.deepEqual([changed.body.Name, changed.body.Value], ['X-Api-Key', 'k2']);
    const rows = [
      { ID: '1', Name: 'X-Api-Key', Value: 'k2' },
      { ID: '2', Name: 'Accept', Value: 'text/plain' },
    ];
    assert.deepEqual((await app().ask('GET', path)).body, rows);
    assert.deepEqual((await app().ask('GET', `${path}?per_page=1&page=2`)).body, rows.slice(1));
    assert.deepEqual((await app().ask('GET', `/portal-api/webhooks/${ID}`)).body.Headers, rows);

    assert.deepEqual((await app().ask('DELETE', `${path}/2`)).body, { status: 'ok' });
    assert.equal((await app().ask('DELETE', `${path}/2`)).status, 404);
    assert.equal((await addHeader(ID, { Name: 'Accept', Value: 'x' })).body.ID, '3');
  });

  test('a duplicate header name is a conflict, case-insensitively', async () => {
    const { ID } = await make();
    await addHeader(ID, { Name: 'X-One', Value: '1' });
    await addHeader(ID, { Name: 'X-Two', Value: '2' });
    const twin = await addHeader(ID, { Name: 'x-one', Value: '3' });
    assert.equal(twin.status, 409);
    const path = `/portal-api/webhooks/${ID}/headers/2`;
    assert.equal((await app().ask('PUT', path, { body: { Name: 'X-ONE' } })).status, 409);
    assert.equal((await app().ask('PUT', path, { body: { Name: 'x-two' } })).status, 200);
  });

  test('an invalid header, or one over the bound, is refused', async () => {
    const { ID } = await make();
    for (const [wrong, place] of [
      [{ Name: 'X A', Value: '1' }, 'Name'],
      [{ Name: '', Value: '1' }, 'Name'],
      [{ Name: 'X-A', Value: 'a\r\nX-B: c' }, 'Value'],
      [{ Name: 'X-A' }, 'Value'],
      [{ Name: 'X-A', Value: 1 }, 'Value'],
    ] as const) {
      const { status, body } = await addHeader(ID, wrong);
      assert.equal(status, 422);
      assert.ok(body.errors[0].startsWith(`${place}: `), body.errors[0]);
    }
    for (let n = 0; n < maxWebhookHeaders; n++) await addHeader(ID, { Name: `X-${n}`, Value: '' });
    const { status, body } = await addHeader(ID, { Name: 'X-Last', Value: '' });
    assert.equal(status, 422);
    assert.deepEqual(body.errors, [`A webhook can send at most ${maxWebhookHeaders} headers`]);
  });

  test('header values are sealed in the database', async () => {
    const secret = 'portal-hook-secret-4711';
    rememberSecrets({ secret });
    const { ID } = await make();
    await addHeader(ID, { Name: 'Authorization', Value: secret });
    const { db } = app().application.installation.records;
    const row = await db.selectFrom('portal_webhooks').select('body').where('id', '=', Number(ID)).executeTakeFirst();
    assert.ok(!row!.body.includes(secret));
  });

  test('a removed webhook is not found; an unknown one is 404 on read or delete and 422 on write', async () => {
    const { ID } = await make();
    assert.deepEqual((await app().ask('DELETE', `/portal-api/webhooks/${ID}`)).body, { status: 'ok' });
    const header = { Name: 'X-A', Value: '1' };
    for (const id of [ID, '0', 'x']) {
      const path = `/portal-api/webhooks/${id}`;
      for (const [method, tail, body, status] of [
        ['GET', '', undefined, 404],
        ['DELETE', '', undefined, 404],
        ['PUT', '', whole, 422],
        ['PUT', '/rotate-secret', undefined, 422],
        ['GET', '/headers', undefined, 404],
        ['POST', '/headers', header, 422],
        ['GET', '/headers/1', undefined, 404],
        ['PUT', '/headers/1', header, 404],
        ['DELETE', '/headers/1', undefined, 404],
      ] as const) {
        const answer = await app().ask(method, path + tail, body ? { body } : {});
        assert.equal(answer.status, status, `${method} ${path}${tail}`);
        assert.deepEqual(answer.body, { status: 'error', errors: ['Webhook not found'] });
      }
    }
    const { ID: other } = await make();
    const absent = await app().ask('PUT', `/portal-api/webhooks/${other}/headers/9`, { body: header });
    assert.deepEqual([absent.status, absent.body.errors], [404, ['Header not found']]);
  });
});
