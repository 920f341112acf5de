import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createClientClaims } from '#gateway/http/client-claims.ts';
import { createClientAddressResolver } from '#gateway/pipeline/client-address.ts';
import type { Exchange } from '#gateway/pipeline/exchange.ts';
import type { ResponseWriter } from '#gateway/pipeline/response-writer.ts';
import { createHttp1Transport } from '#gateway/server/http1.ts';
import { createHttp2Transport } from '#gateway/server/http2.ts';
import { createListener, type Listener } from '#gateway/server/listener.ts';
import type { Transport, TransportOptions } from '#gateway/server/transport.ts';
import { type Caller, call as connectTo } from './hostile/raw.ts';
import { eventually } from './support/upstream.ts';

type Doing = (call: Exchange, sink: ResponseWriter) => void | Promise<void>;

const text = (status: number, body: string, more: string[] = []): Doing => {
  const bytes = Buffer.from(body);
  return (_call, sink) => {
    sink.writeHead(status, ['Content-Length', String(bytes.length), ...more]);
    sink.end(bytes);
  };
};

/** Encodes one frame. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes header fields as HPACK literals without indexing (RFC 7541, 6.2.2). */
const fields = (...pairs: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(
    pairs.flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name, 'latin1'),
      Buffer.from([value.length]),
      Buffer.from(value, 'latin1'),
    ]),
  );

const kinds = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 } as const;
const endStream = 1;
const endHeaders = 4;
const hello = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(kinds.settings, 0, 0)]);
const get = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'x'],
] as const;

/** Parses the received frames: kind, flags, stream and payload. */
function framesIn(received: string) {
  const bytes = Buffer.from(received, 'latin1');
  const found: { kind: number; stream: number; payload: Buffer }[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    found.push({
      kind: bytes[at + 3]!,
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, at + 9 + length),
    });
    at += 9 + length;
  }
  return found;
}

describe('HTTP/2', () => {
  const faults: Error[] = [];
  const callers: Caller[] = [];
  const sessions: ClientHttp2Session[] = [];
  let doing: Doing = text(200, 'ok');
  let listener: Listener;
  let transports: Transport[];
  let port = 0;

  before(async () => {
    const options: TransportOptions = {
      handler: { handle: (call, sink) => void doing(call, sink) },
      clock: systemClock,
      paths: { keepEncodedSlashes: false, keepDoubleEncoding: false },
      clientAddress: createClientAddressResolver([]),
      isClientClaim: createClientClaims([]),
      limits: {
        maxHeaderBytes: 8192,
        maxHeaders: 30,
        headersTimeoutMs: 1000,
        requestTimeoutMs: 1500,
        keepAliveTimeoutMs: 20_000,
        halfCloseTimeoutMs: 20_000,
        bodyRate: { minBytesPerSecond: 0, windowMs: 1000 },
        writeTimeoutMs: 20_000,
      },
      webSockets: true,
      onWriteError: error => void faults.push(error),
    };
    const [http1, http2] = [createHttp1Transport(options), createHttp2Transport(options)];
    transports = [http1, http2];
    listener = createListener({ http1, http2, apiPort: 0, firstByteTimeoutMs: 2000, maxConnections: 1000 });
    port = await listener.listen({ host: '127.0.0.1', port: 0, reusePort: false });
  });
  after(async () => {
    for (const session of sessions) session.destroy();
    for (const it of callers) it.leave();
    for (const transport of transports) transport.close();
    await listener.close();
  });

  const session = async () => {
    const made = connect(`http://127.0.0.1:${port}`);
    made.on('error', () => undefined);
    sessions.push(made);
    await once(made, 'connect');
    return made;
  };
  const raw = async () => {
    const made = await connectTo(port);
    callers.push(made);
    return made;
  };

  interface Got {
    readonly status: number;
    readonly body: string;
    readonly headers: Record<string, unknown>;
    readonly trailers: Record<string, unknown> | undefined;
  }
  async function got(stream: ClientHttp2Stream): Promise<Got> {
    let trailers: Got['trailers'];
    stream.once('trailers', given => {
      trailers = { ...given };
    });
    const [headers] = await once(stream, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return { status: headers[':status'], body: Buffer.concat(chunks).toString(), headers, trailers };
  }
  async function ask(headers: OutgoingHttpHeaders, body?: string): Promise<Got> {
    const stream = (await session()).request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return got(stream);
  }

  test('one port serves HTTP/1.1 and HTTP/2, chosen by the connection preface', async () => {
    doing = (call, sink) => text(200, call.path)(call, sink);
    assert.equal((await ask({ ':path': '/two' })).body, '/two');
    const one = await raw();
    one.send('GET /one HTTP/1.1\r\nHost: x\r\n\r\n');
    await one.until(/\/one$/);
  });

  test('a connection preface sent byte by byte is recognised', async () => {
    doing = text(200, 'ok');
    const one = await raw();
    for (const byte of hello) {
      one.send(Buffer.from([byte]));
      await new Promise(resolve => setImmediate(resolve));
    }
    one.send(frame(kinds.headers, endStream | endHeaders, 1, fields(...get)));
    await eventually(() => assert.ok(framesIn(one.received()).some(it => it.kind === kinds.data)));
  });

  test('an invalid connection preface is refused, and an incomplete one times out', async () => {
    const half = await raw();
    half.send('PRI * HTTP/2.0\r\n\r\nNO\r\n\r\n');
    await half.closed;
    assert.match(half.received(), /^HTTP\/1\.1 [45]/);
    const silent = await raw();
    silent.send('PRI * HT');
    await silent.closed;
    assert.equal(silent.received(), '');
  });

  test('a request has the same method, path, host and headers as over HTTP/1.1', async () => {
    let seen: Exchange | undefined;
    doing = async (call, sink) => {
      seen = call;
      text(200, (await call.body.read(1000)).toString())(call, sink);
    };
    const { body } = await ask(
      {
        ':method': 'POST',
        ':path': '/a/%7eb?x=1',
        ':authority': 'API.example.:8080',
        cookie: ['a=1', 'b=2'],
        'x-one': ['1', '2'],
      },
      'hello',
    );
    assert.equal(body, 'hello');
    const { method, path, query, host, headers, upgrade } = seen!;
    assert.deepEqual([method, path, query, host, upgrade], ['POST', '/a/~b', 'x=1', 'api.example', '']);
    assert.deepEqual(headers.all('cookie'), ['a=1; b=2']);
    assert.deepEqual(headers.all('x-one'), ['1', '2']);
    assert.equal(headers.get('host'), 'API.example.:8080');
  });

  const refused: readonly [why: string, pairs: readonly (readonly [string, string])[], status: string][] = [
    ['a host header other than :authority', [...get, ['host', 'y']], '400'],
    ['two host headers', [...get, ['host', 'x'], ['host', 'x']], '400'],
    ['neither :authority nor host', get.filter(([name]) => name !== ':authority'), '400'],
    [
      'user information in :authority',
      [...get.filter(([name]) => name !== ':authority'), [':authority', 'a@x']],
      '400',
    ],
    ['an escaped slash', [...get.filter(([name]) => name !== ':path'), [':path', '/a%2fb']], '400'],
    ['a fragment', [...get.filter(([name]) => name !== ':path'), [':path', '/a#b']], '400'],
    ['TRACE', [...get.filter(([name]) => name !== ':method'), [':method', 'TRACE']], '405'],
    ['a lower-case method', [...get.filter(([name]) => name !== ':method'), [':method', 'get']], '400'],
    ['two authorization headers', [...get, ['authorization', 'a'], ['authorization', 'b']], '400'],
    ['too many headers', [...get, ...Array.from({ length: 31 }, (_none, n) => [`x-${n}`, '1'] as const)], '431'],
  ];
  for (const [why, pairs, status] of refused) {
    test(`a request with ${why} is refused before the handler`, async () => {
      let calls = 0;
      doing = (call, sink) => {
        calls++;
        text(200, 'reached')(call, sink);
      };
      const one = await raw();
      one.send(Buffer.concat([hello, frame(kinds.headers, endStream | endHeaders, 1, fields(...pairs))]));
      await eventually(() =>
        assert.ok(
          framesIn(one.received()).some(
            it => it.stream === 1 && (it.kind === kinds.headers || it.kind === kinds.reset),
          ),
        ),
      );
      assert.equal(calls, 0);
      const answered = framesIn(one.received()).find(it => it.stream === 1 && it.kind === kinds.data);
      if (answered)
        assert.match(
          answered.payload.toString(),
          { 400: /^Bad Request: /, 405: /^Method Not/, 431: /^Request Header/ }[status]!,
        );
    });
  }

  const malformed: readonly [why: string, pairs: readonly (readonly [string, string])[]][] = [
    ['a connection-specific header', [...get, ['connection', 'close']]],
    ['a transfer-encoding header', [...get, ['transfer-encoding', 'chunked']]],
    ['an upgrade header', [...get, ['upgrade', 'websocket']]],
    ['an upper-case header name', [...get, ['X-Big', '1']]],
    ['pseudo-headers after regular headers', [['x-a', '1'], ...get]],
    ['two :path pseudo-headers', [...get, [':path', '/other']]],
    ['no :path pseudo-header', get.filter(([name]) => name !== ':path')],
    ['an empty :path pseudo-header', [...get.filter(([name]) => name !== ':path'), [':path', '']]],
    ['an unknown pseudo-header', [...get, [':evil', '1']]],
    [
      'extended CONNECT',
      [
        [':method', 'CONNECT'],
        [':protocol', 'websocket'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'x'],
      ],
    ],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'x:80'],
      ],
    ],
  ];
  for (const [why, pairs] of malformed) {
    test(`a malformed request with ${why} does not reach the handler`, async () => {
      let calls = 0;
      doing = (call, sink) => {
        calls++;
        text(200, 'reached')(call, sink);
      };
      const one = await raw();
      one.send(Buffer.concat([hello, frame(kinds.headers, endStream | endHeaders, 1, fields(...pairs))]));
      await Promise.race([
        one.closed,
        eventually(() => assert.ok(framesIn(one.received()).some(it => it.stream === 1 || it.kind === kinds.goaway))),
      ]);
      assert.equal(calls, 0);
    });
  }

  test('invalid header names and values do not reach the handler', async () => {
    for (const [name, value] of [
      ['x y', '1'],
      ['x-a', 'a\r\nb: c'],
      ['x-a', 'a\0b'],
      ['x-a:', '1'],
      ['', '1'],
    ] as const) {
      const seen: Exchange[] = [];
      doing = (call, sink) => {
        seen.push(call);
        text(200, 'reached')(call, sink);
      };
      const one = await raw();
      one.send(Buffer.concat([hello, frame(kinds.headers, endStream | endHeaders, 1, fields(...get, [name, value]))]));
      await eventually(() => assert.ok(framesIn(one.received()).some(it => it.stream === 1)));
      for (const { headers } of seen) assert.deepEqual(headers.flat, ['host', 'x']);
    }
  });

  test('request trailers are not merged into the headers', async () => {
    doing = async (call, sink) => {
      const body = await call.body.read(1000);
      text(200, `${body} ${call.headers.get('x-late')}`)(call, sink);
    };
    const stream = (await session()).request({ ':path': '/', ':method': 'POST' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-late': '1' }));
    stream.end('whole');
    assert.equal((await got(stream)).body, 'whole undefined');
  });

  test('a body longer or shorter than its content-length aborts the request', async () => {
    const ended: unknown[] = [];
    doing = call =>
      void call.body.read(1000).then(
        () => ended.push('read'),
        error => ended.push(error),
      );
    for (const body of ['too long', 'x']) {
      const one = await raw();
      const head = fields(
        ...get.map(([name, value]) => (name === ':method' ? ([name, 'POST'] as const) : ([name, value] as const))),
        ['content-length', '3'],
      );
      one.send(
        Buffer.concat([
          hello,
          frame(kinds.headers, endHeaders, 1, head),
          frame(kinds.data, endStream, 1, Buffer.from(body)),
        ]),
      );
      await eventually(() =>
        assert.ok(framesIn(one.received()).some(it => it.kind === kinds.goaway || it.kind === kinds.reset)),
      );
    }
    assert.ok(!ended.includes('read'));
  });

  const post = get.map(([name, value]) => [name, name === ':method' ? 'POST' : value] as const);
  /** A request whose body has twice the bytes of its content-length. */
  const overlong = (stream: number) =>
    Buffer.concat([
      frame(kinds.headers, endHeaders, stream, fields(...post, ['content-length', '3'])),
      frame(kinds.data, endStream, stream, Buffer.from('abcdef')),
    ]);
  const request = (stream: number) => frame(kinds.headers, endStream | endHeaders, stream, fields(...get));

  test('a body that exceeds its content-length resets its own stream, and other streams continue', async () => {
    let isReleased: () => void = () => undefined;
    const release = new Promise<void>(resolve => {
      isReleased = resolve;
    });
    doing = async (call, sink) => {
      if (call.method === 'GET') await release;
      await text(200, 'whole')(call, sink);
    };
    const one = await raw();
    const of = (kind: number) => framesIn(one.received()).filter(it => it.kind === kind);
    one.send(Buffer.concat([hello, request(1), overlong(3), overlong(5)]));
    await eventually(() => assert.equal(of(kinds.reset).length, 2));
    assert.deepEqual(
      of(kinds.reset).map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]),
      [3, 5].map(stream => [stream, constants.NGHTTP2_PROTOCOL_ERROR]),
    );
    one.send(request(7));
    isReleased();
    await eventually(() =>
      assert.deepEqual(
        of(kinds.headers)
          .map(({ stream }) => stream)
          .sort(),
        [1, 7],
      ),
    );
    assert.deepEqual(of(kinds.goaway), []);
  });

  test('repeated overlong bodies, or a frame on an idle stream, close the connection', async () => {
    doing = text(200, 'whole');
    const patient = await raw();
    patient.send(hello);
    for (let stream = 1; stream < 400 && !patient.socket.destroyed; stream += 2) patient.send(overlong(stream));
    await patient.closed;
    const one = await raw();
    one.send(Buffer.concat([hello, overlong(1), frame(kinds.data, 0, 7, Buffer.from('x'))]));
    await one.closed;
    const goaway = framesIn(one.received()).find(({ kind }) => kind === kinds.goaway);
    assert.equal(goaway?.payload.readUInt32BE(4), constants.NGHTTP2_PROTOCOL_ERROR);
  });

  test('responses have lower-case header names, keep repetitions and omit connection-specific headers', async () => {
    doing = text(200, 'x', [
      'X-A',
      '1',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Connection',
      'close',
      'Keep-Alive',
      'timeout=5',
      'Transfer-Encoding',
      'chunked',
    ]);
    const { headers } = await ask({ ':path': '/' });
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
    assert.equal(headers['x-a'], '1');
    for (const name of ['connection', 'keep-alive', 'transfer-encoding']) assert.equal(headers[name], undefined);
  });

  test('HEAD, 204 and 304 have no body', async () => {
    doing = text(200, 'unseen');
    const head = await ask({ ':method': 'HEAD', ':path': '/' });
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '6']);
    for (const status of [204, 304]) {
      doing = text(status, 'unseen');
      const given = await ask({ ':path': '/' });
      assert.deepEqual([given.status, given.body], [status, '']);
    }
  });

  test('response trailers arrive as trailers', async () => {
    doing = (_call, sink) => {
      sink.writeHead(200, ['Content-Type', 'application/grpc']);
      sink.write(Buffer.from('message'));
      sink.end(undefined, ['Grpc-Status', '0']);
    };
    const { body, trailers } = await ask({ ':path': '/', te: 'trailers' });
    assert.equal(body, 'message');
    assert.equal(trailers?.['grpc-status'], '0');
  });

  test('expect: 100-continue gets 100 when the body is first read', async () => {
    doing = async (call, sink) => text(200, (await call.body.read(100)).toString())(call, sink);
    const stream = (await session()).request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
    await once(stream, 'continue');
    stream.end('body');
    assert.equal((await got(stream)).body, 'body');
  });

  test('a refusal arrives although the request body was not read, and the stream is reset', async () => {
    doing = text(403, 'refused');
    const stream = (await session()).request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => undefined);
    stream.write(Buffer.alloc(30_000));
    assert.deepEqual([(await got(stream)).body], ['refused']);
    await eventually(() => assert.ok(stream.closed));
  });

  test('a response applies backpressure to a slow client, in bounded memory', async () => {
    const chunk = Buffer.alloc(65_536, 'x');
    let written = 0;
    let isWaiting = false;
    doing = (_call, sink) => {
      sink.writeHead(200, []);
      const go = () => {
        isWaiting = false;
        while (written < 30_000_000) {
          written += chunk.length;
          if (sink.write(chunk)) continue;
          isWaiting = true;
          sink.onDrain = go;
          return;
        }
        sink.end();
      };
      go();
    };
    const stream = (await session()).request({ ':path': '/' });
    await once(stream, 'response');
    stream.pause();
    await eventually(() => assert.ok(isWaiting));
    assert.ok(written < 3_000_000, `${written} bytes for a caller that reads nothing`);
    let size = 0;
    stream.on('data', (part: Buffer) => {
      size += part.length;
    });
    stream.resume();
    await once(stream, 'end');
    assert.equal(size, written);
  });

  test('RST_STREAM aborts the request', async () => {
    const gone = Promise.withResolvers<void>();
    let arrived = false;
    doing = call => {
      call.onDisconnect = () => gone.resolve();
      arrived = true;
    };
    const stream = (await session()).request({ ':path': '/' });
    stream.on('error', () => undefined);
    await eventually(() => assert.ok(arrived));
    stream.close(constants.NGHTTP2_CANCEL);
    await gone.promise;
  });

  test('a lost connection aborts all its requests', async () => {
    let gone = 0;
    let arrived = 0;
    doing = call => {
      arrived++;
      call.onDisconnect = () => void gone++;
    };
    const made = await session();
    for (let n = 0; n < 5; n++) made.request({ ':path': '/' }).on('error', () => undefined);
    await eventually(() => assert.equal(arrived, 5));
    made.destroy();
    await eventually(() => assert.equal(gone, 5));
  });

  test('a request body that exceeds its timeout aborts the request', async () => {
    const gone = Promise.withResolvers<void>();
    doing = call => {
      call.onDisconnect = () => gone.resolve();
    };
    const stream = (await session()).request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => undefined);
    stream.write('begun');
    await gone.promise;
  });

  test('a response header with a line break is not sent', async () => {
    faults.length = 0;
    doing = text(200, 'x', ['X-Bad', 'a\r\nX-Evil: 1']);
    const { status, headers } = await ask({ ':path': '/' });
    assert.deepEqual([status, headers['x-bad'], headers['x-evil']], [500, undefined, undefined]);
    assert.equal(faults.length, 1);
  });

  test('a response that cannot be completed resets the stream', async () => {
    doing = (_call, sink) => {
      sink.writeHead(200, ['Content-Length', '100']);
      sink.write(Buffer.from('half'));
      setImmediate(() => sink.abort());
    };
    await assert.rejects(ask({ ':path': '/' }));
  });

  test('a connection has at most SETTINGS_MAX_CONCURRENT_STREAMS requests in flight', async () => {
    let open = 0;
    let most = 0;
    doing = (call, sink) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        text(200, 'ok')(call, sink);
      });
    };
    const one = await raw();
    const asked = Array.from({ length: 400 }, (_none, n) =>
      frame(kinds.headers, endStream | endHeaders, n * 2 + 1, fields(...get)),
    );
    one.send(Buffer.concat([hello, ...asked]));
    await Promise.race([
      one.closed,
      eventually(() =>
        assert.ok(
          framesIn(one.received()).filter(it => it.kind === kinds.headers || it.kind === kinds.reset).length >= 100,
        ),
      ),
    ]);
    assert.ok(most <= 100, `${most} at once`);
  });

  test('rapid reset: streams opened and reset repeatedly end the connection', async () => {
    let calls = 0;
    doing = () => void calls++;
    const one = await raw();
    one.send(hello);
    const reset = Buffer.from([0, 0, 0, 8]);
    for (let n = 0; n < 2000 && !one.socket.destroyed; n++) {
      const stream = n * 2 + 1;
      one.send(
        Buffer.concat([
          frame(kinds.headers, endStream | endHeaders, stream, fields(...get)),
          frame(kinds.reset, 0, stream, reset),
        ]),
      );
    }
    await one.closed;
    assert.ok(calls < 1000, `${calls} calls were begun`);
  });

  test('endless CONTINUATION frames end the connection', async () => {
    let calls = 0;
    doing = () => void calls++;
    const one = await raw();
    one.send(Buffer.concat([hello, frame(kinds.headers, 0, 1, fields(...get))]));
    const more = frame(kinds.continuation, 0, 1, fields(['x-a', 'a'.repeat(100)]));
    for (let n = 0; n < 2000 && !one.socket.destroyed; n++) one.send(more);
    await one.closed;
    assert.equal(calls, 0);
  });

  test('invalid frames end the connection', async () => {
    const bad: readonly (readonly [why: string, bytes: Buffer])[] = [
      ['DATA on an idle stream', frame(kinds.data, 0, 7, Buffer.from('x'))],
      ['HEADERS on an even stream id', frame(kinds.headers, endStream | endHeaders, 2, fields(...get))],
      ['SETTINGS with half a value', frame(kinds.settings, 0, 0, Buffer.alloc(5))],
      ['a ping of another length', frame(kinds.ping, 0, 0, Buffer.alloc(3))],
      ['a frame larger than agreed', frame(kinds.data, 0, 1, Buffer.alloc(20_000))],
      [
        'a broken table index',
        frame(kinds.headers, endStream | endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])),
      ],
    ];
    for (const [why, bytes] of bad) {
      const one = await raw();
      one.send(Buffer.concat([hello, bytes]));
      await Promise.race([one.closed, one.until(/[\s\S]{9}/)]);
      await eventually(() =>
        assert.ok(
          one.socket.destroyed ||
            one.socket.readableEnded ||
            framesIn(one.received()).some(it => it.kind === kinds.goaway || it.kind === kinds.reset),
          why,
        ),
      );
    }
    doing = text(200, 'alive');
    assert.equal((await ask({ ':path': '/' })).body, 'alive');
  });

  test('a flood of SETTINGS or PING frames is answered or ends the connection, and others are served', async () => {
    for (const bytes of [frame(kinds.settings, 0, 0), frame(kinds.ping, 0, 0, Buffer.alloc(8))]) {
      const one = await raw();
      one.socket.pause();
      one.send(hello);
      for (let n = 0; n < 20_000 && !one.socket.destroyed; n++) one.send(bytes);
      doing = text(200, 'alive');
      assert.equal((await ask({ ':path': '/' })).body, 'alive');
      one.leave();
    }
  });
});
