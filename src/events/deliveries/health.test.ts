import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { eventHandlerList } from '#definition/facets/event-handlers.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';

onEveryEngine(
  'Health of webhooks',
  app => {
    let receiver: Receiver;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.close());

    const makeHook = async (more: object = {}) => {
      const body = { method: 'POST', target_path: `${receiver.url}/${createPublicId()}`, ...more };
      return (await app().ask('POST', '/api/hooks', { body })).body.ID as string;
    };
    const read = async (id: string) => (await app().ask('GET', `/api/hooks/${id}/health`)).body;
    /** Emits an event to a stored webhook. */
    const emit = (id: string, orgId = app().credentials.organisation_id) => {
      const { events, clock } = app().application.installation.services;
      const handlers = { AuthFailure: [{ handler_name: 'eh_web_hook_handler', handler_meta: { id } }] };
      const detail = { message: 'm' };
      const decoded = eventHandlerList.classic.decode(handlers);
      events.emit({ event: 'AuthFailure', atMs: clock.now(), orgId, apiId: 'a', detail }, decoded);
    };

    test('a webhook without deliveries is unused', async () => {
      const id = await makeHook();
      assert.deepEqual(await read(id), {
        hook_id: id,
        state: 'unused',
        pending: 0,
        delivered: 0,
        failed: 0,
        delivered_24h: 0,
        failed_24h: 0,
        last_success_at: null,
        last_error: null,
        next_attempt_at: null,
      });
    });

    test('successes and failed attempts are counted, with the last error and the next attempt', async () => {
      const id = await makeHook();
      emit(id);
      const delivered = await eventually(async () => {
        const health = await read(id);
        assert.equal(health.delivered, 1);
        return health;
      });
      assert.deepEqual([delivered.state, delivered.delivered_24h, delivered.last_error], ['ok', 1, null]);
      assert.ok(Date.parse(delivered.last_success_at) > 0);
      receiver.answer = (_request, response) => void response.writeHead(503).end();
      emit(id);
      const retrying = await eventually(async () => {
        const health = await read(id);
        assert.equal(health.state, 'retrying');
        // Set after the result of the attempt is stored.
        assert.ok(Date.parse(health.next_attempt_at) > Date.parse(health.last_error.at));
        return health;
      });
      assert.deepEqual([retrying.pending, retrying.failed], [1, 0]);
      assert.deepEqual([retrying.last_error.status, retrying.last_error.message], [503, 'it answered 503']);
      receiver.answer = undefined;
    });

    test('a webhook whose last delivery is a dead letter is failing until one succeeds', async () => {
      const id = await makeHook({ template_path: 'missing/file.json' });
      emit(id);
      const failing = await eventually(async () => {
        const health = await read(id);
        assert.equal(health.failed, 1);
        return health;
      });
      assert.deepEqual(
        [failing.state, failing.pending, failing.failed_24h, failing.next_attempt_at],
        ['failing', 0, 1, null],
      );
      assert.match(failing.last_error.message, /^the payload could not be built/);
      assert.equal((await app().ask('POST', `/api/hooks/${id}/retry`)).status, 200);
      await eventually(async () => {
        const { state, failed, last_error } = await read(id);
        assert.deepEqual([state, failed, last_error], ['ok', 0, null]);
      });
    });

    test('the list has the health of each webhook of its page, as the webhook has it, and none of others', async () => {
      const dead = await makeHook({ template_path: 'missing/file.json' });
      const unused = await makeHook();
      emit(dead);
      await eventually(async () => assert.equal((await read(dead)).state, 'failing'));
      const list = async (asked = {}) => (await app().ask('GET', '/api/hooks/health?p=-1', asked)).body.hooks;
      const found = new Map((await list()).map((it: { hook_id: string }) => [it.hook_id, it]));
      for (const id of [dead, unused]) assert.deepEqual(found.get(id), await read(id));
      const { accessKey: credential } = await app().stranger();
      assert.deepEqual(await list({ credential }), []);
    });

    test('the health of an unknown webhook and of one of another organisation is not found', async () => {
      const { accessKey: credential } = await app().stranger();
      const id = await makeHook();
      assert.equal((await app().ask('GET', `/api/hooks/${id}/health`, { credential })).status, 404);
      assert.equal((await app().ask('GET', '/api/hooks/unknown/health')).status, 404);
    });
  },
  { settings: { 'events.retry_interval_ms': '600000' } },
);
