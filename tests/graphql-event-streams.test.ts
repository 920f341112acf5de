import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { LoggedCall } from '#analytics/schema.ts';
import { startApp, type TestApp } from './support/app.ts';
import { usersSdl } from './support/graphql-upstream.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('GraphQL subscriptions by server-sent events', () => {
  let app: TestApp;
  let server: Upstream;
  let apiId: string;
  let url: string;
  const streams = new Map<string, ServerResponse>();
  before(async () => {
    [app, server] = await Promise.all([startApp('sqlite'), startUpstream()]);
    server.answer = ({ headers }, response) => {
      response.writeHead(200, { 'content-type': String(headers['x-type'] ?? 'text/event-stream') });
      response.write('event: next\ndata: {"data":{"renamed":{"id":"1"}}}\n\n');
      streams.set(String(headers['x-name']), response);
    };
    const definition = openApi(server, {
      graphql: { enabled: true, schema: usersSdl },
      use_keyless: false,
      use_standard_auth: true,
    });
    apiId = definition.api_id;
    url = `${await publish(app, definition)}/`;
  });
  after(async () => {
    for (const response of streams.values()) response.destroy();
    await app?.close();
    await server?.close();
  });

  async function createKey(): Promise<string> {
    const made = await app.ask('POST', '/gw/keys?wait=applied', {
      body: { access_rights: { [apiId]: { api_id: apiId } } },
    });
    return made.body.key;
  }
  async function subscribe(key: string, name: string, type = 'text/event-stream') {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: key, 'content-type': 'application/json', accept: type, 'x-name': name, 'x-type': type },
      body: JSON.stringify({ query: 'subscription { renamed { id } }' }),
    });
    assert.equal(reply.status, 200);
    const reader = reply.body!.getReader();
    assert.match(Buffer.from((await reader.read()).value!).toString(), /renamed/);
    return reader;
  }
  const write = (key: string, right: object) =>
    app.ask('PUT', `/gw/keys/${key}?wait=applied`, {
      body: { access_rights: { [apiId]: { api_id: apiId, ...right } } },
    });

  interface Change {
    readonly code: string;
    apply(key: string): Promise<{ status: number }>;
  }
  const changes: Record<string, Change> = {
    'is deleted': { code: 'key_inactive', apply: key => app.ask('DELETE', `/gw/keys/${key}?wait=applied`) },
    'may read less': {
      code: 'access_changed',
      apply: key => write(key, { restricted_types: [{ name: 'User', fields: ['id'] }] }),
    },
  };
  const readRefusals = async () => {
    const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${apiId}`);
    return (body.data as LoggedCall[]).map(({ refusal }) => refusal);
  };
  for (const type of ['text/event-stream', 'multipart/mixed; boundary="-"'])
    for (const [about, { code, apply }] of Object.entries(changes))
      test(`the stream (${type}) of a key that ${about} ends here and at the upstream, and no other`, async () => {
        const before = (await readRefusals()).filter(it => it === code).length;
        const [key, kept] = [await createKey(), await createKey()];
        const ending = await subscribe(key, `ending ${about}`, type);
        const survivor = await subscribe(kept, `kept ${about}`, type);
        const ended = assert.rejects(ending.read());
        assert.equal((await apply(key)).status, 200);
        await ended;
        await eventually(() => assert.ok(streams.get(`ending ${about}`)!.destroyed));
        const next = survivor.read();
        streams.get(`kept ${about}`)!.write('event: next\ndata: {}\n\n');
        assert.equal((await next).done, false);
        await survivor.cancel();
        await eventually(async () =>
          assert.equal((await readRefusals()).filter(it => it === code).length, before + 1, 'the record has the code'),
        );
      });
});
