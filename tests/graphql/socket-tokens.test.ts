import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { buildSchema } from 'graphql';
import { onEveryEngine, rememberSecrets } from '../support/app.ts';
import { policyFor } from '../support/oauth2.ts';
import { type SubscriptionServer, startSubscriptionServer } from '../support/subscription-server.ts';
import { eventually, openApi, publish, waitUntilApplied } from '../support/traffic.ts';

const sdl = 'type Query { ready: Boolean } type Subscription { placed: Int }';
const query = 'subscription { placed }';

onEveryEngine('GraphQL subscriptions of OAuth tokens', app => {
  let source: SubscriptionServer;
  beforeEach(async () => {
    source = await startSubscriptionServer({ schema: buildSchema(sdl) });
  });
  afterEach(() => source?.close());

  async function openProvider(graphql: object) {
    const definition = openApi(
      { url: source.url.replace('http', 'ws') },
      {
        graphql: { enabled: true, schema: sdl, ...graphql },
        use_keyless: false,
        use_oauth2: true,
        oauth_meta: { allowed_access_types: ['client_credentials'], allowed_authorize_types: [] },
      },
    );
    const { api_id: apiId } = definition;
    const url = await publish(app(), definition);
    const body = { redirect_uri: 'https://app.example/', policy_id: await policyFor(app(), apiId) };
    const made = await app().ask('POST', `/api/apis/oauth/${apiId}`, { body });
    assert.equal(made.status, 200, made.text);
    const { client_id: clientId, secret } = made.body as { client_id: string; secret: string };
    rememberSecrets({ secret });
    await waitUntilApplied(app());
    const post = async (path: string, form: Record<string, string>) => {
      const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
      const reply = await fetch(url + path, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { authorization },
      });
      assert.equal(reply.status, 200);
      return reply.json() as Promise<{ access_token: string }>;
    };
    return {
      url,
      async issue(): Promise<string> {
        const { access_token } = await post('/oauth/token', { grant_type: 'client_credentials' });
        rememberSecrets({ access_token });
        return access_token;
      },
      revoke: (token: string) => post('/oauth/revoke', { token }),
      async deleteClient() {
        const { status, text } = await app().ask('DELETE', `/api/apis/oauth/${apiId}/${clientId}`);
        assert.equal(status, 200, text);
      },
    };
  }
  async function subscribe(url: string, token: string): Promise<WebSocket> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace('http', 'ws'), { protocols: ['graphql-transport-ws'], headers } as never);
    await once(socket, 'open');
    const count = source.feeds.size;
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message', { signal: AbortSignal.timeout(30_000) });
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    await eventually(() => assert.equal(source.feeds.size, count + 1));
    return socket;
  }
  const waitForClose = async (socket: WebSocket) =>
    ((await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })) as [CloseEvent])[0].code;

  const modes = {
    'a proxied socket': () => ({}),
    'a socket of a data graph': () => ({
      execution_mode: 'executionEngine',
      version: '2',
      engine: {
        data_sources: [
          {
            kind: 'GraphQL',
            name: 'orders',
            root_fields: [{ type: 'Subscription', fields: ['placed'] }],
            config: { url: source.url },
          },
        ],
      },
    }),
  };
  for (const [about, block] of Object.entries(modes))
    test(`${about} ends with 4401 when its token is revoked or its client deleted, and no other`, async () => {
      const provider = await openProvider(block());
      const [revoked, kept] = [await provider.issue(), await provider.issue()];
      const ending = await subscribe(provider.url, revoked);
      const survivor = await subscribe(provider.url, kept);
      const ended = waitForClose(ending);
      await provider.revoke(revoked);
      assert.equal(await ended, 4401);
      await eventually(() => assert.equal(source.feeds.size, 1));
      const message = once(survivor, 'message', { signal: AbortSignal.timeout(30_000) });
      source.emit(1);
      await message;
      const last = waitForClose(survivor);
      await provider.deleteClient();
      assert.equal(await last, 4401);
      await eventually(() => assert.equal(source.feeds.size, 0));
    });

  test('an event stream is cut off when its token is revoked', async () => {
    const provider = await openProvider({ proxy: { subscription_type: 'sse' } });
    const token = await provider.issue();
    const reply = await fetch(provider.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query }),
    });
    assert.equal(reply.status, 200);
    const ended = assert.rejects(reply.text());
    await provider.revoke(token);
    await ended;
    await eventually(() => assert.equal(source.feeds.size, 0));
  });
});
