import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';

/** What a server does with a call: the first, second, … on the connection of that number. Both begin at 1. */
type Doing = (socket: Socket, at: { readonly connection: number; readonly call: number }) => void;

describe('Upstream retries', () => {
  let app: TestApp;
  let server: Server;
  let doing: Doing = answer;
  /** Methods of the calls that arrived, by connection. */
  const arrived: string[][] = [];
  const sockets: Socket[] = [];
  function answer(socket: Socket): void {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  }

  before(async () => {
    app = await startApp('sqlite');
    server = createServer(socket => {
      sockets.push(socket);
      const calls: string[] = [];
      const connection = arrived.push(calls);
      socket.on('error', () => undefined);
      socket.on('data', chunk => {
        calls.push(chunk.toString('latin1').split(' ', 1)[0]!);
        doing(socket, { connection, call: calls.length });
      });
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await app?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => server.close(resolve));
  });

  const target = () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  /** An upstream without pooled connections. */
  async function fresh(more: Record<string, unknown> = {}): Promise<string> {
    for (const socket of sockets.splice(0)) socket.destroy();
    arrived.length = 0;
    return publish(app, openApi(target(), more));
  }
  const got = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, init);
    return [reply.status, await reply.text()];
  };
  const failed = [502, '{\n    "error": "There was a problem proxying the request"\n}'];

  for (const way of ['destroy', 'resetAndDestroy'] as const) {
    for (const method of ['GET', 'OPTIONS'])
      test(`${method} is retried once on a stale pooled connection (${way})`, async () => {
        const url = await fresh();
        doing = (socket, { call }) => (call === 1 ? answer(socket) : socket[way]());
        assert.deepEqual(await got(url), [200, 'ok']);
        assert.deepEqual(await got(url, { method }), [200, 'ok']);
        assert.deepEqual(arrived, [['GET', method], [method]]);
      });

    for (const [method, body] of [
      ['POST', undefined],
      ['PATCH', undefined],
      ['PUT', undefined],
      ['DELETE', undefined],
      ['POST', 'a'],
      ['PUT', 'a'],
    ] as const)
      test(`${method} ${body ? 'with a body ' : ''}is not retried on a stale pooled connection (${way})`, async () => {
        const url = await fresh();
        doing = (socket, { call }) => (call === 1 ? answer(socket) : socket[way]());
        assert.deepEqual(await got(url), [200, 'ok']);
        assert.deepEqual(await got(url, { method, ...(body ? { body } : {}) }), failed);
        assert.deepEqual(
          arrived.map(calls => calls[0]),
          ['GET'],
        );
      });

    test(`a failure on a new connection is not retried (${way})`, async () => {
      const url = await fresh();
      doing = socket => socket[way]();
      assert.deepEqual(await got(url), failed);
      assert.deepEqual(arrived, [['GET']]);
    });
  }

  test('a request whose response has started is not retried, also when the response is buffered', async () => {
    const template_source = Buffer.from('shaped').toString('base64');
    const template_data = { input_type: 'json', template_mode: 'blob', template_source };
    const url = await fresh({
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: { transform_response: [{ path: '/held', method: 'GET', template_data }] },
          },
        },
      },
    });
    doing = (socket, { call }) => {
      if (call === 1) answer(socket);
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', () => setImmediate(() => socket.destroy()));
    };
    assert.deepEqual(await got(url), [200, 'ok']);
    assert.deepEqual(await got(`${url}/held`), failed);
    assert.deepEqual(arrived, [['GET', 'GET']]);
  });
});
