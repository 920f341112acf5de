import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { isSigned, type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';

onEveryEngine(
  "Deliveries of the operator's webhooks",
  app => {
    let receiver: Receiver;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.close());

    const listDead = async () => (await app().ask('GET', '/admin/deliveries?state=dead')).body.deliveries;

    test('a dead letter is listed, retried once, and signed with the old and the new secret', async () => {
      const path = `/${createPublicId()}`;
      const hook = {
        Name: 'crm',
        URL: receiver.url + path,
        Method: 'POST',
        Timeout: 5,
        Events: ['OrganisationRegistered'],
      };
      const created = await app().ask('POST', '/portal-api/webhooks', { body: hook });
      assert.equal(created.status, 201, created.text);
      // As of an earlier version: without a secret of its own it is signed with that of the operator.
      const { db } = app().application.installation.records;
      await db.deleteFrom('hook_secrets').where('hook', '=', `inline-portal-${created.body.ID}`).execute();
      receiver.answer = (_request, response) => void response.writeHead(500).end();
      await app().ask('POST', '/portal-api/organisations', { body: { Name: `o-${createPublicId()}` } });
      const [letter] = await eventually(async () => {
        const found = await listDead();
        assert.equal(found.length, 1);
        return found;
      });
      const createdAt = Math.floor(Date.parse(letter.created_at) / 1000);
      const count = async (range: string) =>
        (await app().ask('GET', `/admin/deliveries?${range}`)).body.deliveries.length;
      assert.deepEqual(
        [
          await count(`start=${createdAt}&end=${createdAt}`),
          await count(`start=${createdAt + 1}`),
          await count(`end=${createdAt - 1}`),
        ],
        [1, 0, 0],
      );
      const { secret: old } = (await app().ask('GET', '/admin/hooks/secret')).body;
      const { secret } = (await app().ask('POST', '/admin/hooks/secret')).body;
      assert.notEqual(secret, old);
      receiver.answer = undefined;
      const before = receiver.requests.length;
      const retried = await app().ask('POST', `/admin/deliveries/${letter.id}/retry`);
      assert.deepEqual([retried.status, retried.body.Message], [200, 'Delivery will be tried again'], retried.text);
      await eventually(async () => {
        assert.equal((await app().ask('GET', `/admin/deliveries/${letter.id}`)).body.state, 'delivered');
      });
      const call = receiver.requests[before]!;
      assert.ok(isSigned(call, secret) && isSigned(call, old));
      assert.deepEqual(await listDead(), []);
      assert.equal((await app().ask('POST', `/admin/deliveries/${letter.id}/retry`)).status, 409);
      assert.equal((await app().ask('POST', '/admin/deliveries/unknown/retry')).status, 404);
    });
  },
  { settings: { 'events.max_attempts': '1' } },
);
