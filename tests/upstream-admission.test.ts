import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Caller, callerOn, statusesIn } from './hostile/raw.ts';
import type { TestApp } from './support/app.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import type { Upstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

async function createKey(app: TestApp, apiId: string): Promise<string> {
  const access_rights = { [apiId]: { api_id: apiId, api_name: 'Test', versions: ['Default'] } };
  const { status, text, body } = await app.ask('POST', '/api/keys', { body: { access_rights } });
  assert.equal(status, 200, text);
  return body.key_id;
}

const oneThread = { threads: '1' } as const;

/** A client of HTTP/1.1 at an address of its own. */
async function clientAt(t: TestContext, url: string, localAddress = '127.0.0.1'): Promise<Caller> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  const made = callerOn(socket);
  t.after(() => made.leave());
  return made;
}

async function ask(t: TestContext, url: string, localAddress?: string, head = ''): Promise<Caller> {
  const made = await clientAt(t, url, localAddress);
  made.send(`GET ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\n${head}\r\n`);
  return made;
}

const waitForStatus = (it: Caller, status: number) => it.until(new RegExp(`^HTTP/1.1 ${status} `));
const isAnswered = (it: Caller) => it.received() !== '';

/** Responses that wait until a test lets them go, in the order of their requests. */
function holdResponses(t: TestContext, upstream: Upstream): ServerResponse[] {
  const held: ServerResponse[] = [];
  upstream.answer = (_request, response) => void held.push(response);
  t.after(() => {
    upstream.answer = undefined;
    for (const response of held) response.end();
  });
  return held;
}

withSettings('Slow request bodies', { ...oneThread, 'upstream.max_connections': '2' }, (app, upstream) => {
  test('slow senders over HTTP/1.1 hold no connection to an upstream', async t => {
    const url = await publish(app(), openApi(upstream()));
    for (let n = 0; n < 12; n++) {
      const one = await clientAt(t, url);
      const framing = n % 2 ? 'Content-Length: 1000\r\n\r\nx' : 'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n';
      one.send(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\n${framing}`);
    }
    for (let n = 0; n < 5; n++) assert.equal((await fetch(url)).status, 200);
    const posted = await fetch(url, { method: 'POST', body: 'whole' });
    assert.equal(((await posted.json()) as { body: string }).body, 'whole');
  });

  test('slow senders over HTTP/2 hold no connection to an upstream', async t => {
    const url = await publish(app(), openApi(upstream()));
    const session = connectHttp2(url);
    t.after(() => session.destroy());
    for (let n = 0; n < 12; n++) {
      const stream = session.request({ ':method': 'POST', ':path': new URL(url).pathname });
      stream.on('error', () => undefined);
      stream.write('x');
    }
    for (let n = 0; n < 5; n++) assert.equal((await fetch(url)).status, 200);
    const stream = session.request({ ':path': new URL(url).pathname });
    const [head] = await once(stream, 'response');
    assert.equal(head[':status'], 200);
    stream.resume();
  });

  test('a body that arrives in pieces reaches the upstream complete, with a content-length', async t => {
    const url = await publish(app(), openApi(upstream()));
    const one = await clientAt(t, url);
    one.send(
      `PUT ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n`,
    );
    await one.until(/^HTTP\/1\.1 100 /);
    for (const part of ['a', 'b', 'c']) one.send(`1\r\n${part}\r\n`);
    one.send('0\r\n\r\n');
    await one.until(/HTTP\/1\.1 200 [\s\S]*"body":"abc"/);
    const { headers } = upstream().requests.at(-1)!;
    assert.deepEqual([headers['content-length'], headers['transfer-encoding']], ['3', undefined]);
  });

  test('a client disconnect during the request body is not an upstream failure', async t => {
    const url = await publish(app(), openApi(upstream()));
    const before = upstream().requests.length;
    for (let n = 0; n < 6; n++) {
      const one = await clientAt(t, url);
      one.send(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx`);
      one.leave();
    }
    assert.equal((await fetch(url)).status, 200);
    assert.equal(upstream().requests.length, before + 1);
  });
});

withSettings(
  'large bodies',
  { ...oneThread, 'upstream.body_preread_bytes': '16', 'upstream.body_preread_total_bytes': '64' },
  (app, upstream) => {
    test('upstream.body_preread_bytes: a body is forwarded once this many bytes are buffered', async t => {
      const url = await publish(app(), openApi(upstream()));
      const one = await clientAt(t, url);
      one.send(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`);
      one.send(Buffer.alloc(50_000, 'a'));
      one.send(Buffer.alloc(50_000, 'b'));
      const [, body] = await one.until(/"body":"(a+b+)"/);
      assert.equal(body!.length, 100_000);
    });

    test('upstream.body_preread_total_bytes: beyond it bodies are forwarded immediately', async t => {
      const arrived = new Set<IncomingMessage>();
      const server = createServer(request => void arrived.add(request));
      await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', () => resolve()));
      t.after(() => server.close());
      t.after(() => server.closeAllConnections());
      const url = await publish(app(), openApi({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
      const begin = async (bytes: string) => {
        const one = await clientAt(t, url);
        one.send(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${bytes}`);
      };
      for (let n = 0; n < 4; n++) await begin('x'.repeat(15));
      await begin('x'.repeat(4));
      await eventually(() => assert.ok(arrived.size > 0));
    });
  },
);

withSettings(
  'shares of an upstream',
  { ...oneThread, 'upstream.max_connections': '4', 'upstream.max_queued_requests': '4' },
  (app, upstream) => {
    test('one client address cannot use every connection, and its requests wait in a bounded queue', async t => {
      const url = await publish(app(), openApi(upstream()));
      const held = holdResponses(t, upstream());
      const greedy = await Promise.all(Array.from({ length: 4 }, () => ask(t, url)));
      await eventually(() => assert.equal(held.length, 2));
      const refused = await ask(t, url);
      await waitForStatus(refused, 503);
      assert.match(refused.received(), /\r\nRetry-After: 1\r\n[\s\S]*The upstream is busy, try again later/);
      // Another address is served meanwhile, and no request of the first one passes it.
      const other = await ask(t, url, '127.0.0.2');
      await eventually(() => assert.equal(held.length, 3));
      held[2]!.end('other');
      await waitForStatus(other, 200);
      assert.equal(greedy.filter(isAnswered).length, 0);
      held[0]!.end('one');
      await eventually(() => assert.equal(held.length, 4));
      held[1]!.end();
      await eventually(() => assert.equal(held.length, 5));
      for (const response of held) response.end();
      for (const it of greedy) await waitForStatus(it, 200);
    });

    test('a client disconnect frees its place in the queue', async t => {
      const url = await publish(app(), openApi(upstream()));
      const held = holdResponses(t, upstream());
      const waiting = await Promise.all(Array.from({ length: 4 }, () => ask(t, url)));
      await eventually(() => assert.equal(held.length, 2));
      await waitForStatus(await ask(t, url), 503);
      for (const it of waiting.slice(0)) it.leave();
      let next = await ask(t, url);
      await eventually(async () => {
        // The gateway may read this request before it reads the disconnects.
        if (statusesIn(next.received())[0] === 503) next = await ask(t, url);
        held.at(-1)!.end('next');
        assert.deepEqual(statusesIn(next.received()), [200]);
      });
    });

    test('one key cannot use every connection, also from many addresses', async t => {
      const definition = openApi(upstream(), {
        use_keyless: false,
        use_standard_auth: true,
        auth_configs: { authToken: {} },
      });
      const url = await publish(app(), definition);
      const [one, other] = [await createKey(app(), definition.api_id), await createKey(app(), definition.api_id)];
      const held = holdResponses(t, upstream());
      for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
        await ask(t, url, address, `Authorization: ${one}\r\n`);
      await eventually(() => assert.equal(held.length, 2));
      const another = await ask(t, url, '127.0.0.1', `Authorization: ${other}\r\n`);
      await eventually(() => assert.equal(held.length, 3));
      held[2]!.end();
      await waitForStatus(another, 200);
    });

    test('one organisation cannot use every connection', async t => {
      const stranger = await app().stranger();
      const definition = openApi(upstream(), { org_id: stranger.orgId });
      const { status, text } = await app().ask('POST', '/api/apis', {
        body: { api_definition: definition },
        credential: stranger.accessKey,
      });
      assert.equal(status, 200, text);
      const theirs = app().url.gateway + definition.proxy.listen_path;
      const url = await publish(app(), openApi(upstream()));
      const held = holdResponses(t, upstream());
      for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']) await ask(t, theirs, address);
      await eventually(() => assert.equal(held.length, 2));
      const other = await ask(t, url, '127.0.0.5');
      await eventually(() => assert.equal(held.length, 3));
      held[2]!.end();
      await waitForStatus(other, 200);
    });
  },
);

withSettings(
  'waiting for an upstream',
  { ...oneThread, 'upstream.max_connections': '1', 'upstream.queue_timeout_ms': '50' },
  (app, upstream) => {
    test('upstream.queue_timeout_ms: a request without a free connection in time gets 503', async t => {
      const url = await publish(app(), openApi(upstream()));
      const held = holdResponses(t, upstream());
      const first = await ask(t, url);
      await eventually(() => assert.equal(held.length, 1));
      const refused = await ask(t, url, '127.0.0.2');
      await waitForStatus(refused, 503);
      assert.match(refused.received(), /\r\nRetry-After: 1\r\n/);
      held[0]!.end();
      await waitForStatus(first, 200);
      upstream().answer = undefined;
      await eventually(async () => assert.equal((await fetch(url)).status, 200));
    });
  },
);

withSettings(
  'uploads in the queue',
  {
    ...oneThread,
    'upstream.max_connections': '1',
    'upstream.max_streams': '1',
    'upstream.max_queued_requests': '1',
    'upstream.max_share_percent': '100',
    'upstream.queue_timeout_ms': '600000',
  },
  (app, upstream) => {
    /** Upstream with one stream at a time, whose responses the test ends. */
    async function holdStreams(t: TestContext, held: Pick<ServerResponse, 'end'>[]): Promise<string> {
      const server = createHttp2Server((_request, response) => void held.push({ end: () => response.end() } as never));
      await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', () => resolve()));
      t.after(() => server.close());
      return `h2c://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    for (const protocol of ['http', 'h2c'] as const)
      test(`a client that disconnects during its upload frees its place in the queue (${protocol})`, async t => {
        const held: Pick<ServerResponse, 'end'>[] = protocol === 'http' ? holdResponses(t, upstream()) : [];
        const target = protocol === 'http' ? upstream().url : await holdStreams(t, held);
        const url = await publish(app(), openApi({ url: target }));
        const other = await publish(app(), openApi({ url: 'http://127.0.0.1:1' }));
        const first = await ask(t, url);
        await eventually(() => assert.equal(held.length, 1));
        const waiting = await clientAt(t, url);
        waiting.send(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n`);
        waiting.send(Buffer.alloc(1_000_000));
        /** After responses to later requests the thread has refused those before or put them into the queue. */
        const waitForTurns = async (turns: number) => {
          for (let n = 0; n < turns; n++) assert.equal((await fetch(other)).status, 502);
        };
        const queue = async () => {
          const next = await ask(t, url);
          await waitForTurns(2);
          return next;
        };
        await waitForTurns(10);
        await eventually(async () => assert.match((await queue()).received(), /^HTTP\/1\.1 503 /));
        waiting.leave();
        const next = await eventually(async () => {
          const asked = await queue();
          assert.equal(asked.received(), '');
          return asked;
        });
        held[0]!.end();
        await waitForStatus(first, 200);
        await eventually(() => assert.equal(held.length, 2));
        held[1]!.end();
        await waitForStatus(next, 200);
      });
  },
);

withSettings('HTTP/2 upstreams', { ...oneThread, 'upstream.max_share_percent': '50' }, app => {
  async function http2Upstream(t: TestContext, app: TestApp, maxConcurrentStreams: number) {
    const streams: ServerHttp2Stream[] = [];
    const server = createHttp2Server({ settings: { maxConcurrentStreams } });
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined);
      streams.push(stream);
    });
    await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', () => resolve()));
    t.after(() => {
      for (const stream of streams) stream.destroy();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { url: await publish(app, openApi({ url: `h2c://127.0.0.1:${port}` })), streams };
  }

  test('one client cannot use every stream that an upstream allows', async t => {
    const { url, streams } = await http2Upstream(t, app(), 4);
    // The first request opens the connection over which the number is announced.
    const first = await ask(t, url);
    await eventually(() => assert.equal(streams.length, 1));
    streams[0]!.respond({ ':status': 200 }, { endStream: true });
    await waitForStatus(first, 200);
    for (let n = 0; n < 6; n++) await ask(t, url);
    await eventually(() => assert.equal(streams.length, 3));
    const other = await ask(t, url, '127.0.0.2');
    await eventually(() => assert.equal(streams.length, 4));
    streams[3]!.respond({ ':status': 200 }, { endStream: true });
    await waitForStatus(other, 200);
  });

  test('a body is forwarded from its first byte, and the response may start before its end', async t => {
    const { url, streams } = await http2Upstream(t, app(), 100);
    const session = connectHttp2(url);
    t.after(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': new URL(url).pathname,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined);
    stream.write('a');
    await eventually(() => assert.equal(streams.length, 1));
    const [first] = await once(streams[0]!, 'data');
    assert.equal(String(first), 'a');
    streams[0]!.respond({ ':status': 200 });
    streams[0]!.write('b');
    const [second] = await once(stream, 'data');
    assert.equal(String(second), 'b');
  });
});
