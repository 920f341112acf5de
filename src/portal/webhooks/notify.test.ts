import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addApp, addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { isSigned, type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';
import { noResponse } from '../no-response.ts';
import { portalEvents } from './schema.ts';

let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
after(() => receiver?.close());

/** Paths of all members of a body. */
const listMembers = (body: Record<string, unknown>): string[] =>
  Object.entries(body).flatMap(([name, value]) =>
    name === 'Message' ? Object.keys(value as object).map(it => `Message.${it}`) : [name],
  );

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

onEveryEngine('portal webhook events', app => {
  const emit = () => requestPortal(app(), 'POST', '/portal-api/organisations', { Name: `o-${createPublicId()}` });
  const rotate = (ID: string) => requestPortal(app(), 'PUT', `/portal-api/webhooks/${ID}/rotate-secret`);
  const readOperatorSecret = async () => (await requestPortal(app(), 'GET', '/admin/hooks/secret')).secret;
  const createHook = async (...Events: string[]) => {
    const path = `/${createPublicId()}`;
    const hook = { Name: 'crm', URL: receiver.url + path, Method: 'POST', Timeout: 5, Events };
    const { ID, Secret: secret } = await requestPortal(app(), 'POST', '/portal-api/webhooks', hook, 201);
    await requestPortal(app(), 'POST', `/portal-api/webhooks/${ID}/headers`, { Name: 'X-Own', Value: 'mine' }, 201);
    return {
      ID,
      secret,
      calls: (count: number) => receiver.take(path, count),
      /** Name and message of each, in order; times are checked here and left out. */
      takeEvents: async (count: number) =>
        (await receiver.take(path, count)).map(({ body }) => {
          const { Event, Message, Timestamp } = JSON.parse(body);
          const { CreatedAt, ...message } = Message;
          assert.match(Timestamp, rfc3339);
          assert.match(CreatedAt, rfc3339);
          return [Event, message];
        }),
      remove: () => requestPortal(app(), 'DELETE', `/portal-api/webhooks/${ID}`),
    };
  };

  test('creating a user, an app or an organisation sends a signed event with the headers of the webhook', async () => {
    const { takeEvents, calls, remove, secret } = await createHook(
      'UserRegistered',
      'ApplicationRegistered',
      'OrganisationRegistered',
    );
    const user = await addDeveloper(app());
    const application = await addApp(app(), { UserID: user.ID });
    const organisation = await requestPortal(app(), 'POST', '/portal-api/organisations', {
      Name: `o-${createPublicId()}`,
    });
    const who = { ID: user.ID, Email: user.Email, First: 'Dev', Last: 'El', OrgID: user.OrganisationID };
    const more = { Provider: 'password', Status: 'active', ByUser: 0, CustomAttributes: [] };
    assert.deepEqual(await takeEvents(3), [
      ['UserRegistered', { ...who, ...more }],
      ['ApplicationRegistered', { ID: application.ID, Name: application.Name, UserID: user.ID }],
      ['OrganisationRegistered', { ID: organisation.ID, Name: organisation.Name }],
    ]);
    const [first] = await calls(3);
    assert.equal(first!.headers['x-own'], 'mine');
    assert.ok(isSigned(first!, secret));
    assert.ok(!isSigned(first!, await readOperatorSecret()));
    const id = String(first!.headers['x-gw-delivery']);
    await eventually(async () =>
      assert.equal((await requestPortal(app(), 'GET', `/admin/deliveries/${id}`)).state, 'delivered'),
    );
    await remove();
  });

  test('a rotated secret signs beside the former one for a day, then alone', async () => {
    const { ID, secret: first, calls, remove } = await createHook('OrganisationRegistered');
    const { Secret: second, OldSecretValidUntil } = await rotate(ID);
    const { SecretChangedAt, ...read } = await requestPortal(app(), 'GET', `/portal-api/webhooks/${ID}`);
    assert.deepEqual([read.OldSecretValidUntil, read.Secret], [OldSecretValidUntil, undefined]);
    assert.ok(SecretChangedAt < OldSecretValidUntil);
    await emit();
    const [during] = await calls(1);
    assert.deepEqual([isSigned(during!, first), isSigned(during!, second)], [true, true]);
    const { db } = app().application.installation.records;
    const own = db.updateTable('hook_secrets').where('hook', '=', `inline-portal-${ID}`);
    await own.set(({ eb }) => ({ changed_at: eb('changed_at', '-', 86_400_001) })).execute();
    await emit();
    const [, later] = await calls(2);
    assert.deepEqual([isSigned(later!, first), isSigned(later!, second)], [false, true]);
    await remove();
    assert.deepEqual(
      await db.selectFrom('hook_secrets').selectAll().where('hook', '=', `inline-portal-${ID}`).execute(),
      [],
    );
  });

  test('a webhook from before secrets of webhooks is signed with that of the operator until its first rotation', async () => {
    const { ID, calls, remove } = await createHook('OrganisationRegistered');
    const { services, records } = app().application.installation;
    await services.portalWebhooks.change(Number(ID), ({ SecretChangedAt: _at, ...it }) => it);
    await records.db.deleteFrom('hook_secrets').where('hook', '=', `inline-portal-${ID}`).execute();
    assert.equal((await requestPortal(app(), 'GET', `/portal-api/webhooks/${ID}`)).SecretChangedAt, '');
    const shared = await readOperatorSecret();
    await emit();
    assert.ok(isSigned((await calls(1))[0]!, shared));
    const { Secret } = await rotate(ID);
    await emit();
    const [, during] = await calls(2);
    assert.deepEqual([isSigned(during!, shared), isSigned(during!, Secret)], [true, true]);
    assert.equal(await readOperatorSecret(), shared);
    await remove();
  });

  test('waiting deliveries of a deleted webhook are not sent', async () => {
    const { ID, remove } = await createHook('OrganisationRegistered');
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    try {
      await emit();
      const listed = () => requestPortal(app(), 'GET', `/portal-api/webhooks/${ID}/deliveries?state=waiting`);
      await eventually(async () => assert.ok((await listed())[0]?.Attempts > 0));
      await remove();
    } finally {
      receiver.answer = undefined;
    }
    const { db } = app().application.installation.records;
    const left = db.selectFrom('deliveries').select('id').where('hook', '=', `inline-portal-${ID}`);
    assert.deepEqual(await left.execute(), []);
  });

  test('activation and deactivation of a user send events, other changes of the user do not', async () => {
    const { takeEvents, remove } = await createHook('UserAccountActivated', 'UserAccountDeactivated');
    const { ID } = await addDeveloper(app());
    for (const body of [{ First: 'Silent' }, { Active: false }, { Active: false }, { Active: true }])
      await requestPortal(app(), 'PUT', `/portal-api/users/${ID}`, body);
    const events = (await takeEvents(2)).map(([event, message]) => [event, message.ID, message.Status]);
    assert.deepEqual(events, [
      ['UserAccountDeactivated', ID, 'inactive'],
      ['UserAccountActivated', ID, 'active'],
    ]);
    await remove();
  });

  test('an access request sends events when created, approved or rejected, and for its credential', async () => {
    const request = ['AccessRequestCreated', 'AccessRequestApproved', 'AccessRequestRejected'];
    const { takeEvents, remove } = await createHook(...request, 'CredentialRegistered');
    const { app: owner, plan, product, requestId } = await addAccessRequest(app());
    const pending = await addAccessRequest(app(), { pending: true });
    await requestPortal(app(), 'PUT', `/portal-api/access_requests/${pending.requestId}/reject`);
    const [created, issued, approved, asked, rejected] = (await takeEvents(5)) as [string, Record<string, unknown>][];
    const about = { ID: requestId, AppID: owner.ID, ByUser: owner.UserID };
    const what = { ProductIDs: [product.ID], PlanID: plan.ID };
    assert.deepEqual(created, ['AccessRequestCreated', { ...about, Status: 'pending', ...what }]);
    assert.deepEqual(approved, ['AccessRequestApproved', { ...about, Status: 'approved', ...what }]);
    const { ID, ...credential } = issued![1];
    assert.ok(Number(ID) > 0);
    assert.equal(issued![0], 'CredentialRegistered');
    assert.deepEqual(credential, { ByUser: owner.UserID, AccessRequestID: requestId, AppID: owner.ID });
    assert.deepEqual([asked![0], asked![1].Status], ['AccessRequestCreated', 'pending']);
    assert.deepEqual([rejected![0], rejected![1].ID], ['AccessRequestRejected', pending.requestId]);
    await remove();
  });

  test('a webhook receives only events it is subscribed to', async () => {
    const [deaf, all] = [await createHook('PasswordReset'), await createHook('UserRegistered')];
    await addDeveloper(app());
    await all.takeEvents(1);
    assert.deepEqual(await deaf.takeEvents(0), []);
    await deaf.remove();
    await all.remove();
  });

  test('a test sends the method, headers and signature of the webhook with sample data of any event, and no delivery', async () => {
    const path = `/${createPublicId()}`;
    const hook = { Name: 'crm', URL: receiver.url + path, Method: 'PUT', Events: [] };
    const { ID, Secret } = await requestPortal(app(), 'POST', '/portal-api/webhooks', hook, 201);
    await requestPortal(app(), 'POST', `/portal-api/webhooks/${ID}/headers`, { Name: 'X-Own', Value: 'mine' }, 201);
    const samples = await requestPortal(app(), 'GET', '/portal-api/webhook-events');
    assert.deepEqual(
      samples.map((it: { Event: string }) => it.Event),
      [...portalEvents],
    );
    const send = (event: string) => app().ask('PUT', `/portal-api/webhooks/${ID}/test?event=${event}`);
    for (const event of portalEvents) {
      const { status, body, text } = await send(event);
      assert.deepEqual([status, body.Delivered, body.Status, body.Error], [200, true, 200, ''], text);
      const call = receiver.at(path).at(-1)!;
      assert.deepEqual([call.method, call.headers['x-own'], call.headers['x-gw-test']], ['PUT', 'mine', 'true']);
      assert.ok(isSigned(call, Secret), event);
      assert.equal(call.body, body.Body);
      assert.equal(JSON.parse(call.body).Event, event);
      const { Sample } = samples.find((it: { Event: string }) => it.Event === event);
      assert.deepEqual(listMembers(Sample), listMembers(JSON.parse(call.body)), event);
    }
    const statusOf = async (event: string) => JSON.parse((await send(event)).body.Body).Message.Status;
    assert.equal(await statusOf('PlanChangeApproved'), 'approved');
    assert.equal(await statusOf('PlanChanged'), 'published');
    assert.deepEqual((await app().ask('GET', `/portal-api/webhooks/${ID}/deliveries`)).body, []);
    assert.equal((await send('NoEvent')).status, 422);
  });

  test('a failed test is a result, and tests at once beyond the bound are refused', async () => {
    const closed = await startReceiver();
    await closed.close();
    const create = (URL: string, more: object = {}) =>
      requestPortal(app(), 'POST', '/portal-api/webhooks', { Name: 'crm', URL, Method: 'POST', ...more }, 201);
    const test = async (ID: string) => app().ask('PUT', `/portal-api/webhooks/${ID}/test`);
    const unreachable = await test((await create(closed.url)).ID);
    // Stored before the address was refused; a call of 0.0.0.0 would reach the receiver.
    const forbidden = await create(receiver.url);
    const URL = receiver.url.replace('127.0.0.1', '0.0.0.0');
    await app().application.installation.services.portalWebhooks.change(Number(forbidden.ID), it => ({ ...it, URL }));
    receiver.answer = () => undefined;
    const silent = await test((await create(receiver.url, { Timeout: 1 })).ID);
    receiver.answer = undefined;
    for (const { status, body } of [unreachable, silent, await test(forbidden.ID)]) {
      assert.deepEqual([status, body.Delivered, body.Status, body.DurationMs], [200, false, 0, 0]);
      assert.equal(body.Error, noResponse);
    }
    const { ID } = await create(`${receiver.url}/${createPublicId()}`);
    const open: (() => void)[] = [];
    receiver.answer = (_request, response) => void open.push(() => response.end());
    const running = Array.from({ length: 4 }, () => test(ID));
    await eventually(() => assert.equal(open.length, 4));
    const refused = await test(ID);
    receiver.answer = undefined;
    for (const end of open) end();
    assert.equal(refused.status, 429, refused.text);
    for (const { body } of await Promise.all(running)) assert.equal(body.Delivered, true);
  });

  test('deliveries of a webhook are listed with their attempts, and a dead one is retried', async () => {
    const path = `/${createPublicId()}`;
    const hook = { Name: 'crm', URL: receiver.url + path, Method: 'POST', Events: ['OrganisationRegistered'] };
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/webhooks', hook, 201);
    const { ID: other } = await requestPortal(app(), 'POST', '/portal-api/webhooks', { ...hook, Events: [] }, 201);
    const list = (query = '') => requestPortal(app(), 'GET', `/portal-api/webhooks/${ID}/deliveries${query}`);
    await emit();
    await eventually(async () => assert.equal((await list('?state=delivered')).length, 1));
    const [sent] = await list();
    assert.deepEqual([sent.Event, sent.Attempts, sent.Status, sent.Error], ['OrganisationRegistered', 1, 200, '']);
    const one = `/portal-api/webhooks/${ID}/deliveries/${sent.ID}`;
    const detail = await requestPortal(app(), 'GET', one);
    assert.equal(detail.Target, `POST ${receiver.url}${path}`);
    assert.deepEqual([JSON.parse(detail.Body).Event, detail.Log.length], ['OrganisationRegistered', 1]);
    const early = await app().ask('PUT', `${one}/retry`);
    assert.deepEqual(
      [early.status, early.body.errors],
      [409, ['Only a dead letter can be retried; this delivery is delivered']],
    );
    const { db } = app().application.installation.records;
    await db.updateTable('deliveries').set({ state: 'dead' }).where('public_id', '=', sent.ID).execute();
    assert.equal((await list('?state=dead')).length, 1);
    await requestPortal(app(), 'PUT', `${one}/retry`);
    await receiver.take(path, 2);
    await eventually(async () => assert.equal((await requestPortal(app(), 'GET', one)).Log.length, 2));
    for (const [method, tail, status] of [
      ['GET', '/deliveries', 404],
      ['GET', `/deliveries/${sent.ID}`, 404],
      ['PUT', `/deliveries/${sent.ID}/retry`, 422],
      ['PUT', '/test', 422],
    ] as const)
      assert.equal((await app().ask(method, `/portal-api/webhooks/0${tail}`)).status, status, tail);
    assert.equal((await app().ask('GET', `/portal-api/webhooks/${other}/deliveries/${sent.ID}`)).status, 404);
    assert.equal((await app().ask('PUT', `/portal-api/webhooks/${other}/deliveries/${sent.ID}/retry`)).status, 422);
    await requestPortal(app(), 'DELETE', `/portal-api/webhooks/${ID}`);
  });
});
