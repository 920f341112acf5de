import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { usersSdl } from './support/graphql-upstream.ts';
import { testRedis } from './support/services/engines.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import { type Echo, startEcho } from './support/websocket-echo.ts';

type Message = Record<string, unknown> & { payload?: unknown };

for (const engine of ['process', 'redis'] as const)
  describe(`GraphQL operations over WebSocket, counters of ${engine}`, () => {
    let app: TestApp;
    let echo: Echo;
    before(async () => {
      const settings = engine === 'redis' ? { 'redis.url': await testRedis(), 'redis.timeout_ms': '5000' } : {};
      [app, echo] = await Promise.all([startApp('sqlite', { settings }), startEcho()]);
    });
    after(async () => {
      await app?.close();
      await echo?.close();
    });

    async function publishGraph(more: Record<string, unknown> = {}) {
      const definition = openApi(
        { url: `ws://127.0.0.1:${echo.port}` },
        { graphql: { enabled: true, schema: usersSdl }, use_keyless: false, use_standard_auth: true, ...more },
      );
      return { apiId: definition.api_id, url: (await publish(app, definition)).replace('http', 'ws') };
    }
    async function createKey(apiId: string, more: object = {}): Promise<string> {
      const body = { access_rights: { [apiId]: { api_id: apiId } }, ...more };
      const made = await app.ask('POST', '/gw/keys?wait=applied', { body });
      assert.equal(made.status, 200, made.text);
      return made.body.key;
    }
    async function openSocket(url: string, authorization: string, protocol = 'graphql-transport-ws') {
      const socket = new WebSocket(url, { protocols: [protocol], headers: { authorization } } as never);
      const messages: Message[] = [];
      socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
      await once(socket, 'open');
      let id = 0;
      /** Sends an operation, and returns the message that follows it: its echo, or an error. */
      const run = async (query = 'subscription { renamed { id } }'): Promise<Message> => {
        const count = messages.length;
        const type = protocol === 'graphql-ws' ? 'start' : 'subscribe';
        socket.send(JSON.stringify({ id: String(id++), type, payload: { query } }));
        await eventually(() => assert.equal(messages.length, count + 1));
        return messages.at(-1)!;
      };
      return { socket, messages, run };
    }
    const closed = async (socket: WebSocket) =>
      ((await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })) as [CloseEvent])[0].code;

    test('each operation counts against the rate limit of its key, as the upgrade does', async () => {
      const { apiId, url } = await publishGraph();
      const key = await createKey(apiId, { rate: 3, per: 3600 });
      const { socket, run } = await openSocket(url, key);
      assert.deepEqual([(await run()).type, (await run()).type], ['subscribe', 'subscribe']);
      assert.deepEqual(await run(), {
        id: '2',
        type: 'error',
        payload: [{ message: 'Rate Limit Exceeded', extensions: { code: 'rate_exceeded' } }],
      });
      socket.close();
      await once(socket, 'close');
      const refused = new WebSocket(url, { protocols: ['graphql-ws'], headers: { authorization: key } } as never);
      await once(refused, 'error');
    });

    test('each operation counts against the quota of its key, also those that are refused or answered here', async () => {
      const { apiId, url } = await publishGraph();
      const key = await createKey(apiId, { quota_max: 4, quota_renewal_rate: 3600, quota_remaining: 4 });
      const { socket, messages, run } = await openSocket(url, key, 'graphql-ws');
      assert.match(JSON.stringify(await run('{ missing }')), /not defined/);
      socket.send(JSON.stringify({ id: 'meta', type: 'start', payload: { query: '{ __typename }' } }));
      await eventually(() => assert.equal(messages.length, 3));
      assert.equal((await run()).type, 'start');
      const { payload } = await run();
      assert.deepEqual(payload, { message: 'Quota exceeded', extensions: { code: 'quota_exceeded' } });
      socket.close();
      await once(socket, 'close');
    });

    test('operations of all keys count against the rate limit of the API', async () => {
      const { apiId, url } = await publishGraph({ global_rate_limit: { rate: 4, per: 3600 } });
      const [first, second] = [
        await openSocket(url, await createKey(apiId)),
        await openSocket(url, await createKey(apiId)),
      ];
      assert.deepEqual([(await first.run()).type, (await second.run()).type], ['subscribe', 'subscribe']);
      assert.match(JSON.stringify(await first.run()), /"code":"api_rate_exceeded"/);
      for (const { socket } of [first, second]) {
        socket.close();
        await once(socket, 'close');
      }
    });

    test('operations that are sent together are counted and forwarded in their order', async () => {
      const { apiId, url } = await publishGraph();
      const { socket, messages } = await openSocket(url, await createKey(apiId, { rate: 1000, per: 3600 }));
      const payload = { query: 'subscription { renamed { id } }' };
      for (let id = 0; id < 50; id++) socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload }));
      await eventually(() => assert.equal(messages.length, 50));
      assert.deepEqual(
        messages.map(it => it.id),
        Array.from({ length: 50 }, (_none, id) => String(id)),
      );
      socket.close();
      await once(socket, 'close');
    });

    test('a key that is deleted, deactivated or loses its access ends its sockets, and no others', async () => {
      const { apiId, url } = await publishGraph();
      const other = await publishGraph();
      const survivor = await openSocket(url, await createKey(apiId));
      const changes: Record<string, (key: string) => Promise<{ status: number; text: string }>> = {
        deleted: key => app.ask('DELETE', `/gw/keys/${key}?wait=applied`),
        deactivated: key =>
          app.ask('PUT', `/gw/keys/${key}?wait=applied`, {
            body: { access_rights: { [apiId]: { api_id: apiId } }, is_inactive: true },
          }),
        'without access': key =>
          app.ask('PUT', `/gw/keys/${key}?wait=applied`, {
            body: { access_rights: { [other.apiId]: { api_id: other.apiId } } },
          }),
      };
      for (const [about, change] of Object.entries(changes)) {
        const key = await createKey(apiId);
        const { socket, run } = await openSocket(url, key);
        assert.equal((await run()).type, 'subscribe', about);
        const ended = closed(socket);
        const changed = await change(key);
        assert.equal(changed.status, 200, changed.text);
        assert.equal(await ended, 4401, about);
      }
      assert.equal((await survivor.run()).type, 'subscribe');
      survivor.socket.close();
      await once(survivor.socket, 'close');
    });

    test('a key that expires ends its sockets', async () => {
      const { apiId, url } = await publishGraph();
      const key = await createKey(apiId, { expires: Math.floor(Date.now() / 1000) + 3 });
      const { socket } = await openSocket(url, key);
      assert.equal(await closed(socket), 4401);
    });

    test('a change of the key that leaves its access ends nothing', async () => {
      const { apiId, url } = await publishGraph();
      const key = await createKey(apiId);
      const gone = await createKey(apiId);
      const [open, ending] = [await openSocket(url, key), await openSocket(url, gone)];
      const body = { access_rights: { [apiId]: { api_id: apiId } }, alias: 'renamed' };
      assert.equal((await app.ask('PUT', `/gw/keys/${key}?wait=applied`, { body })).status, 200);
      const ended = closed(ending.socket);
      assert.equal((await app.ask('DELETE', `/gw/keys/${gone}?wait=applied`)).status, 200);
      // Both are looked up in the same interval.
      assert.equal(await ended, 4401);
      assert.equal((await open.run()).type, 'subscribe');
      open.socket.close();
      await once(open.socket, 'close');
    });

    test('a socket ends with 1012 when a policy changes what its key may read, and goes on when limits change', async () => {
      const { apiId, url } = await publishGraph();
      const policy = (right: object, more: object = {}) => ({
        ...{ name: `P ${apiId}`, active: true, state: 'active', rate: 0, per: 0, quota_max: -1 },
        access_rights: { [apiId]: { api_id: apiId, ...right } },
        ...more,
      });
      const made = await app.ask('POST', '/api/portal/policies', { body: policy({}) });
      assert.equal(made.status, 200, made.text);
      const key = await createKey(apiId, { apply_policies: [made.body.Message], access_rights: {} });
      const { socket, run } = await openSocket(url, key);
      const change = async (body: object) => {
        const { status, text } = await app.ask('PUT', `/api/portal/policies/${made.body.Message}?wait=applied`, {
          body,
        });
        assert.equal(status, 200, text);
      };
      await change(policy({}, { rate: 1, per: 3600 }));
      await eventually(async () => assert.equal((await run()).type, 'error'));
      const ended = closed(socket);
      await change(policy({ restricted_types: [{ name: 'User', fields: ['id'] }] }));
      assert.equal(await ended, 1012);
    });
  });
