import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readSettings, type SettingName } from '#base/settings.ts';
import { makeAuthority, makeCertificate, makeServerCertificate } from '../../../../tests/support/certificates.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import { validateGrpcSettings } from './create-grpc-plugins.ts';
import { encodeFrame } from './encode-object.ts';
import { parseGrpcAddress } from './grpc-address.ts';
import { createGrpcClient, type GrpcClientOptions } from './grpc-client.ts';
import { GrpcError, type GrpcFailure } from './grpc-error.ts';

type Handler = (stream: ServerHttp2Stream, body: Buffer) => void;

const head = { ':status': 200, 'content-type': 'application/grpc' };

/** Response with trailers. */
function respond(stream: ServerHttp2Stream, bytes: Buffer, trailers: object = { 'grpc-status': '0' }): void {
  stream.respond(head, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers as never));
  stream.end(bytes);
}

/** Head without trailers. */
function respondHead(stream: ServerHttp2Stream, headers: Record<string, string | number>): void {
  stream.respond(headers);
  stream.end();
}

const echo: Handler = (stream, body) => respond(stream, body);
const message = (text: string) => encodeFrame(writer => writer.writeEncoded(Buffer.from(text)));

describe('gRPC client', () => {
  const closes: (() => void)[] = [];
  after(() => {
    for (const close of closes) close();
  });

  async function listen(server: Http2Server | Http2SecureServer, state: { handle: Handler }, port = 0) {
    const sessions = new Set<ServerHttp2Session>();
    server.on('session', session => {
      sessions.add(session);
      session.on('error', () => undefined);
    });
    server.on('stream', (stream: ServerHttp2Stream) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => state.handle(stream, Buffer.concat(chunks)));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      server.close();
      for (const session of sessions) session.destroy();
    };
    closes.push(close);
    return { port: (server.address() as AddressInfo).port, sessions, close };
  }

  function connect(address: string, more: Partial<GrpcClientOptions> = {}) {
    const lost: string[] = [];
    const client = createGrpcClient({
      address: parseGrpcAddress(address)!,
      authority: '',
      connections: 1,
      timeoutMs: 20_000,
      maxSendBytes: 1000,
      maxReceiveBytes: 1000,
      readTls: () => ({}),
      onConnectionLost: reason => lost.push(reason),
      ...more,
    });
    closes.push(() => client.close());
    const call = async (text: string) => (await client.call('/s/M', message(text))).toString();
    const fail = (reason: GrpcFailure, pattern: RegExp, text = '') =>
      assert.rejects(call(text), error => {
        assert.ok(error instanceof GrpcError, String(error));
        assert.equal(error.reason, reason, error.message);
        assert.match(error.message, pattern);
        return true;
      });
    return { client, call, fail, lost };
  }

  test('concurrent calls share the connections, which take turns', async () => {
    const state = { handle: echo };
    const { port, sessions } = await listen(createServer(), state);
    const { call } = connect(`tcp://127.0.0.1:${port}`, { connections: 3 });
    const texts = Array.from({ length: 30 }, (_, i) => `message ${i}`);
    assert.deepEqual(await Promise.all(texts.map(call)), texts);
    assert.equal(sessions.size, 3);
  });

  test('a response that is no message of gRPC is an error', async () => {
    const state = { handle: echo };
    const { port } = await listen(createServer(), state);
    const { call, fail } = connect(`tcp://127.0.0.1:${port}`);
    const cases: [Handler, GrpcFailure, RegExp][] = [
      [stream => respondHead(stream, { ':status': 502 }), 'protocol', /HTTP 502/],
      [stream => respondHead(stream, { ...head, 'content-type': 'text/html' }), 'protocol', /not app/],
      [stream => respondHead(stream, head), 'protocol', /no grpc-status/],
      [stream => respond(stream, Buffer.from([0, 0])), 'protocol', /not one message/],
      [stream => respond(stream, Buffer.from([0, 0, 0, 0, 9, 1])), 'protocol', /not one message/],
      [stream => respond(stream, Buffer.from([1, 0, 0, 0, 1, 1])), 'protocol', /compressed/],
      [stream => respond(stream, Buffer.alloc(2000)), 'size', /more than 1000 bytes/],
      [
        stream => stream.respond({ ...head, 'grpc-status': '7', 'grpc-message': 'not%20%C3%A9' }, { endStream: true }),
        'status',
        /returned 7: not é/,
      ],
      [stream => respond(stream, Buffer.alloc(0), { 'grpc-status': '14' }), 'status', /UNAVAILABLE/],
      [stream => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 'unavailable', /INTERNAL_ERROR|closed/],
      [stream => stream.session!.destroy(), 'unavailable', /./],
    ];
    for (const [handle, reason, pattern] of cases) {
      state.handle = handle;
      await fail(reason, pattern);
      state.handle = echo;
      assert.equal(await call('next'), 'next');
    }
    await fail('size', /more than 1000/, 'x'.repeat(1001));
  });

  test('a call that the server refused before processing is sent again, once', async () => {
    let refusals = 1;
    const state = {
      handle: ((stream, body) =>
        refusals-- > 0 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : echo(stream, body)) as Handler,
    };
    const { port } = await listen(createServer(), state);
    const { call, fail } = connect(`tcp://127.0.0.1:${port}`);
    assert.equal(await call('again'), 'again');
    refusals = 2;
    await fail('unavailable', /REFUSED_STREAM/);
  });

  test('a call without a response ends by its deadline, and the server gets the deadline', async () => {
    const deadlines: unknown[] = [];
    const server = createServer();
    server.on('stream', (_stream, headers) => deadlines.push(headers['grpc-timeout']));
    const { port } = await listen(server, { handle: () => undefined });
    const { fail } = connect(`tcp://127.0.0.1:${port}`, { timeoutMs: 100 });
    await fail('timeout', /within 100 ms/);
    // The connection may take longer than the deadline.
    await eventually(async () => {
      if (deadlines.length === 0) await fail('timeout', /within 100 ms/);
      assert.equal(deadlines[0], '100m');
    });
  });

  test('calls fail while the server is down, and succeed after it is back', async () => {
    const first = await listen(createServer(), { handle: echo });
    const { call, fail, lost } = connect(`tcp://127.0.0.1:${first.port}`);
    assert.equal(await call('up'), 'up');
    first.close();
    await eventually(() => assert.equal(lost.length, 1));
    await fail('unavailable', /ECONNREFUSED/);
    await fail('unavailable', /tried again after a delay|ECONNREFUSED/);
    await listen(createServer(), { handle: echo }, first.port);
    await eventually(async () => assert.equal(await call('back'), 'back'));
  });

  test('a server that drains its connections gets new ones', async () => {
    const { port, sessions } = await listen(createServer(), { handle: echo });
    const { call } = connect(`tcp://127.0.0.1:${port}`);
    await call('one');
    for (const session of sessions) session.goaway();
    await eventually(async () => {
      assert.equal(await call('two'), 'two');
      assert.equal(sessions.size, 2);
    });
  });

  test('over TLS the certificate of the server is verified, and the client presents its own', async () => {
    const authority = makeAuthority();
    const other = makeAuthority();
    const server = makeServerCertificate(authority);
    const own = makeCertificate({ cn: 'gateway', issuer: authority, usages: ['client'] });
    const secure = createSecureServer({
      cert: server.chainPem,
      key: server.keyPem,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const { port } = await listen(secure, { handle: echo });
    const address = `tls://127.0.0.1:${port}`;
    const [ca, cert, key] = [authority.certPem, own.certPem, own.keyPem].map(pem => Buffer.from(pem));
    const trusted = connect(address, { readTls: () => ({ ca: ca!, cert: cert!, key: key! }) });
    assert.equal(await trusted.call('secret'), 'secret');
    const stranger = connect(address, { readTls: () => ({ ca: Buffer.from(other.certPem), cert: cert!, key: key! }) });
    await stranger.fail('unavailable', /certificate|verify/i);
    const anonymous = connect(address, { readTls: () => ({ ca: ca! }) });
    await anonymous.fail('unavailable', /./);
    const unreadable = connect(address, {
      readTls() {
        throw new Error('file is gone');
      },
    });
    await unreadable.fail('unavailable', /file is gone/);
  });
});

describe('settings of gRPC plugins', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-grpc-settings-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const validate = (flags: Partial<Record<SettingName, string>>) =>
    validateGrpcSettings(readSettings({ flags, environment: {} }));

  test('addresses, files and combinations that cannot work are refused at the start', () => {
    const authority = makeAuthority();
    const certificate = makeServerCertificate(authority);
    const files = {
      'plugins.grpc.ca_file': write('ca.pem', authority.certPem),
      'plugins.grpc.certificate_file': write('cert.pem', certificate.chainPem),
      'plugins.grpc.key_file': write('key.pem', certificate.keyPem),
    };
    const tls = { 'plugins.grpc.address': 'tls://plugins.example:50051' };
    validate({});
    validate({ ...tls, ...files, 'plugins.grpc.authority': 'x' });
    for (const address of ['tcp://[::1]:1', 'tcp://localhost:65535']) validate({ 'plugins.grpc.address': address });
    for (const address of ['localhost:1', 'http://a:1', 'tcp://a', 'tcp://a:0', 'tcp://a:70000', 'tcp://a:1/x'])
      assert.throws(() => validate({ 'plugins.grpc.address': address }), /must be tcp:/, address);
    assert.throws(() => validate({ 'plugins.grpc.authority': 'x' }), /needs plugins.grpc.address/);
    const clear = { 'plugins.grpc.address': 'tcp://a:1' };
    for (const [name, file] of Object.entries(files))
      assert.throws(() => validate({ ...clear, [name]: file }), new RegExp(`${name}: needs .*tls://`));
    assert.throws(
      () => validate({ ...tls, 'plugins.grpc.certificate_file': files['plugins.grpc.certificate_file'] }),
      /either both/,
    );
    for (const file of [write('empty.pem', ''), join(directory, 'absent.pem')])
      assert.throws(() => validate({ ...tls, 'plugins.grpc.ca_file': file }), /cannot be used/);
  });
});
