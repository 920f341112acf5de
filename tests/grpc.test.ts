import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { encodeGrpcMessage } from '#gateway/http/grpc.ts';
import { startApp, type TestApp } from './support/app.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { openApi, publish } from './support/traffic.ts';

const endStream = constants.NGHTTP2_FLAG_END_STREAM;

interface Reply {
  readonly headers: Record<string, unknown>;
  /** Whether the HEADERS frame of the head carried END_STREAM. */
  readonly endsOnHead: boolean;
  readonly trailers: Record<string, unknown> | undefined;
  readonly body: string;
  readonly reset: number;
}

/** One message as gRPC frames it. */
function message(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** What the servers of this file do, by the method that is called. */
const methods: Record<string, (stream: ServerHttp2Stream) => void> = {
  '/S/NotFound': stream =>
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5', 'grpc-message': 'nope' },
      { endStream: true },
    ),
  '/S/Unary'(stream) {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(message('hello'));
  },
  // Trailers after a head without any message: two HEADERS frames, no DATA.
  '/S/Empty'(stream) {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '9' }));
    stream.end();
  },
};

describe('gRPC', () => {
  const certificate = makeServerCertificate(makeAuthority());
  const servers = [createServer(), createSecureServer({ cert: certificate.chainPem, key: certificate.keyPem })];
  const sessions: ClientHttp2Session[] = [];
  let app: TestApp;
  let targets: string[];

  before(async () => {
    app = await startApp('sqlite', { settings: { 'upstream.http2': 'true', 'upstream.timeout_ms': '1000' } });
    const ports: number[] = [];
    for (const server of servers as Http2Server[]) {
      server.on('stream', (stream: ServerHttp2Stream, headers) => {
        stream.on('error', () => undefined);
        stream.resume();
        methods[String(headers[':path'])]?.(stream);
      });
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      ports.push((server.address() as AddressInfo).port);
    }
    targets = [`h2c://127.0.0.1:${ports[0]}`, `https://127.0.0.1:${ports[1]}`];
  });
  after(async () => {
    for (const session of sessions) session.destroy();
    await app?.close();
    for (const server of servers) server.close();
  });

  const definitionOf = (url: string, more: Record<string, unknown> = {}) =>
    openApi({ url }, { ...more, proxy: { transport: { ssl_insecure_skip_verify: true } } });

  /** One unary call over HTTP/2 in the clear, with every frame's flags. */
  async function ask(address: string, headers: Record<string, string> = {}): Promise<Reply> {
    const { origin, pathname } = new URL(address);
    const session = connect(origin);
    session.on('error', () => undefined);
    sessions.push(session);
    const stream = session.request({
      ':method': 'POST',
      ':path': pathname,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    let trailers: Reply['trailers'];
    stream.once('trailers', given => {
      trailers = { ...given };
    });
    stream.on('error', () => undefined);
    stream.end(message('ask'));
    const [given, flags] = (await once(stream, 'response')) as [Record<string, unknown>, number];
    const chunks: Buffer[] = [];
    stream.on('data', chunk => chunks.push(Buffer.from(chunk)));
    await once(stream, 'close');
    session.close();
    return {
      headers: given,
      endsOnHead: (flags & endStream) !== 0,
      trailers,
      body: Buffer.concat(chunks).toString(),
      reset: stream.rstCode ?? 0,
    };
  }

  function assertTrailersOnly(reply: Reply, status: string, text: string): void {
    const { headers } = reply;
    assert.deepEqual(
      [headers[':status'], headers['content-type'], headers['grpc-status'], headers['grpc-message']],
      [200, 'application/grpc', status, text],
    );
    assert.deepEqual([reply.endsOnHead, reply.body, reply.trailers, reply.reset], [true, '', undefined, 0]);
    assert.equal(headers['content-length'], undefined);
  }

  test('a Trailers-Only response of the upstream arrives with its own status, over h2c and TLS', async () => {
    for (const target of targets) {
      const reply = await ask(`${await publish(app, definitionOf(target))}/S/NotFound`);
      assertTrailersOnly(reply, '5', 'nope');
    }
  });

  test('a Trailers-Only response stays one when a step buffers the response', async () => {
    const address = await publish(
      app,
      definitionOf(targets[0]!, {
        version_data: {
          not_versioned: true,
          versions: { Default: { name: 'Default', global_response_headers: { 'x-more': '1' } } },
        },
      }),
    );
    const reply = await ask(`${address}/S/NotFound`);
    assert.equal(reply.headers['x-more'], '1');
    assertTrailersOnly(reply, '5', 'nope');
  });

  test('trailers after messages, and after none, stay trailers', async () => {
    for (const target of targets) {
      const address = await publish(app, definitionOf(target));
      const unary = await ask(`${address}/S/Unary`);
      assert.deepEqual(
        [unary.endsOnHead, unary.body, unary.trailers?.['grpc-status']],
        [false, '\0\0\0\0\x05hello', '0'],
      );
      const empty = await ask(`${address}/S/Empty`);
      assert.deepEqual([empty.endsOnHead, empty.body, empty.trailers?.['grpc-status']], [false, '', '9']);
    }
  });

  test('a refusal of the gateway is a Trailers-Only response with a status and a message', async () => {
    const keyed = await publish(app, definitionOf(targets[0]!, { use_keyless: false }));
    assertTrailersOnly(await ask(`${keyed}/S/Unary`), '16', 'Authorization field missing');
    assertTrailersOnly(
      await ask(`${keyed}/S/Unary`, { authorization: 'wrong' }),
      '7',
      'Access to this API has been disallowed',
    );
    assertTrailersOnly(await ask(`${app.url.gateway}/nowhere/S/Unary`), '12', 'Not Found');
    assertTrailersOnly(
      await ask(`${app.url.gateway}/a/%zz`),
      '3',
      'Bad Request: the path contains an invalid percent-encoding',
    );
    const limited = await publish(app, definitionOf(targets[0]!, { global_rate_limit: { rate: 1, per: 60 } }));
    assert.equal((await ask(`${limited}/S/Unary`)).trailers?.['grpc-status'], '0');
    const refused = await ask(`${limited}/S/Unary`);
    assertTrailersOnly(refused, '8', 'API Rate Limit Exceeded');
    assert.ok(Number(refused.headers['retry-after']) > 0);
  });

  test('a gRPC request with an encoding, or of gRPC-Web, is refused in its own media type', async () => {
    for (const type of ['application/grpc+proto', 'application/grpc-web', 'application/grpc-web-text+proto']) {
      const { headers } = await ask(`${app.url.gateway}/nowhere`, { 'content-type': `${type}; charset=utf-8` });
      assert.deepEqual([headers[':status'], headers['content-type'], headers['grpc-status']], [200, type, '12']);
    }
    for (const type of ['application/grpcx', 'application/json', 'text/application/grpc']) {
      const { headers } = await ask(`${app.url.gateway}/nowhere`, { 'content-type': type });
      assert.deepEqual([headers[':status'], headers['grpc-status']], [404, undefined], type);
    }
  });

  test('an unreachable upstream is UNAVAILABLE, and a slow one DEADLINE_EXCEEDED', async () => {
    const gone = await publish(app, definitionOf('h2c://127.0.0.1:1'));
    assertTrailersOnly(await ask(`${gone}/S/Unary`), '14', 'There was a problem proxying the request');
    const slow = await publish(app, definitionOf(targets[0]!));
    assertTrailersOnly(await ask(`${slow}/S/Never`), '4', 'Upstream service reached hard timeout.');
  });

  test('a message outside of printable ASCII is percent-encoded, and bounded', () => {
    assert.equal(encodeGrpcMessage('100 % é\r\n'), '100 %25 %C3%A9%0D%0A');
    assert.equal(encodeGrpcMessage('x'.repeat(5000)).length, 1024);
  });
});
