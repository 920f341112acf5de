import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createAddressPolicy, type LookupAll, networkNames } from '#base/address-policy.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeCertificate,
  makeServerCertificate,
} from '../../../tests/support/certificates.ts';
import { bodyFromBytes, problem as bodyProblem, noBody } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { UpstreamFailure, UpstreamFailureReason } from '../pipeline/upstream-failure.ts';
import { createDefaultConnection } from './connection-options.ts';
import { createUpstreamError } from './http1/errors.ts';
import { createUpstreamPools, type PoolOptions } from './pools.ts';
import {
  classifyUpstreamFailure,
  isRetryable,
  ResponseTooLarge,
  toUpstreamFailure,
  UpstreamBusy,
} from './upstream-errors.ts';

const createCall = (body = noBody()) => ({ isClientDisconnected: false, sessionEndCode: '', body }) as Exchange;
const call = createCall();

test('errors of the HTTP/1.1 engine are refused by their kind', () => {
  const refusals = {
    queueFull: 'upstream_busy',
    headersTimeout: 'upstream_timeout',
    timeout: 'upstream_timeout',
    socket: 'upstream_failed',
    destroyed: 'upstream_failed',
    requestInvalid: 'upstream_failed',
    lengthMismatch: 'upstream_failed',
  } as const;
  for (const [kind, code] of Object.entries(refusals))
    assert.equal(
      classifyUpstreamFailure(createCall(), createUpstreamError(kind as keyof typeof refusals, 'x')),
      code,
      kind,
    );
});

test('failures have a reason for operators, unless the client is at fault', () => {
  const classify = (error: Error, isClientDisconnected = false) => {
    const failed = Object.assign(createCall(), { isClientDisconnected });
    return [classifyUpstreamFailure(failed, error), failed.upstreamFailure?.reason];
  };
  const coded = (code: string) => Object.assign(new Error('x'), { code });
  assert.deepEqual(classify(coded('ETIMEDOUT')), ['upstream_timeout', 'connect_timed_out']);
  assert.deepEqual(classify(coded('EAI_AGAIN')), ['upstream_dns_failed', 'name_not_resolved']);
  assert.deepEqual(classify(coded('EHOSTUNREACH')), ['upstream_failed', 'connection_refused']);
  assert.deepEqual(classify(new UpstreamBusy('x')), ['upstream_busy', 'too_busy']);
  assert.deepEqual(classify(new ResponseTooLarge()), ['response_too_large', 'invalid_response']);
  assert.deepEqual(classify(new Error('a step failed')), ['upstream_failed', 'unknown']);
  assert.deepEqual(classify(coded('ECONNRESET'), true), ['client_disconnected', undefined]);
  assert.deepEqual(classify(coded(bodyProblem.too_large.code)), ['body_too_large', undefined]);
  assert.deepEqual(classify(coded(bodyProblem.too_slow.code)), ['body_too_slow', undefined]);
});

test('the detail is one line and bounded', () => {
  const { detail } = toUpstreamFailure(new Error(`one\r\ntwo\u2028three\u0000\u202e${'x'.repeat(10_000)}`));
  assert.match(detail, /^one two three x+$/);
  assert.ok(detail.length <= 500);
});

test('only a closed connection that was reused is retried, for safe methods', () => {
  const createSocketError = (bytesRead: number) =>
    Object.assign(createUpstreamError('socket', 'x'), { socket: { bytesRead } });
  assert.equal(isRetryable(createSocketError(1), call, 'GET'), true);
  assert.equal(isRetryable(createSocketError(0), call, 'GET'), false);
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
    assert.equal(isRetryable(createSocketError(1), call, method), false, method);
  assert.equal(isRetryable(createSocketError(1), createCall(bodyFromBytes(Buffer.from('a'))), 'PUT'), false);
  const timeout = Object.assign(createUpstreamError('headersTimeout', 'x'), { socket: { bytesRead: 1 } });
  assert.equal(isRetryable(timeout, call, 'GET'), false);
});

/** Listens on loopback until the end of the test. */
async function listenFor(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serveText = (t: TestContext, onConnection: (socket: Socket) => void) => listenFor(t, createServer(onConnection));

const serveTls = (t: TestContext, options: TlsOptions) =>
  listenFor(
    t,
    createTlsServer(options, socket => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    }).on('tlsClientError', () => undefined),
  );

const identityOf = ({ chainPem, keyPem }: MadeCertificate): TlsOptions => ({ cert: chainPem, key: keyPem });

const noAddress: LookupAll = (host, answer) =>
  answer(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), []);

interface Wish {
  readonly ca?: string;
  readonly networks?: readonly string[];
  readonly isHttp2?: boolean;
  readonly pool?: Partial<PoolOptions>;
}

/** Failure of one request to the origin; undefined for a response. */
async function findFailure(t: TestContext, origin: string, wish: Wish): Promise<UpstreamFailure | undefined> {
  const { ca, networks = networkNames, isHttp2, pool } = wish;
  const pools = createUpstreamPools({
    connectTimeoutMs: 20_000,
    headersTimeoutMs: 20_000,
    maxConnections: 4,
    maxStreams: 4,
    maxWaiting: 4,
    waitTimeoutMs: 20_000,
    maxSharePercent: 100,
    headLimits: { maxHeaderBytes: 1000, maxHeaders: 10 },
    prereadBytes: 1024,
    maxPrereadBytes: 1024,
    ...pool,
  });
  t.after(() => pools.close());
  const connection = createDefaultConnection(createAddressPolicy({ networks, managementPorts: () => [] }));
  const options = {
    origin,
    path: '/',
    method: 'GET',
    headers: ['host', 'x'],
    body: undefined,
    hasCallerTimeout: false,
  };
  const { promise, resolve } = Promise.withResolvers<UpstreamFailure | undefined>();
  const trusting = { ...connection, tls: { secureContext: createSecureContext({ ca }) } };
  pools.get(origin, ca ? trusting : connection, isHttp2).dispatch(options, {
    onConnect: () => undefined,
    onHead: () => true,
    onData: () => true,
    onReadEnd: () => undefined,
    onComplete: () => resolve(undefined),
    onError: error => resolve(toUpstreamFailure(error)),
  });
  return promise;
}

const authority = makeAuthority('Upstream authority');

type Case = readonly [
  name: string,
  reason: UpstreamFailureReason,
  detail: RegExp,
  /** Sets up the upstream and returns its origin. */
  start: (t: TestContext) => Promise<string> | string,
  wish?: Wish,
];

const clearCases: readonly Case[] = [
  ['refused', 'connection_refused', /^connect ECONNREFUSED 127\.0\.0\.1:1$/, () => 'http://127.0.0.1:1'],
  [
    'a name without an address',
    'name_not_resolved',
    /^getaddrinfo ENOTFOUND gone\.example$/,
    () => 'http://gone.example',
    { pool: { resolve: noAddress } },
  ],
  [
    'an address outside the networks',
    'address_refused',
    /127\.0\.0\.1:1 refused: its address is loopback$/,
    () => 'http://127.0.0.1:1',
    { networks: ['public'] },
  ],
  [
    'closed without a response',
    'connection_reset',
    /./,
    async t => `http://127.0.0.1:${await serveText(t, socket => socket.destroy())}`,
  ],
  [
    'bytes that are not HTTP',
    'invalid_response',
    /./,
    async t => `http://127.0.0.1:${await serveText(t, socket => socket.end('SSH-2.0-x\r\n\r\n'))}`,
  ],
  [
    'a head with too many fields',
    'invalid_response',
    /./,
    async t =>
      `http://127.0.0.1:${await serveText(t, socket => socket.end(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20)}\r\n`))}`,
  ],
  [
    'no response head',
    'response_timed_out',
    /^no response head in 50 ms$/,
    async t => `http://127.0.0.1:${await serveText(t, () => undefined)}`,
    { pool: { headersTimeoutMs: 50 } },
  ],
];

const day = (text: string) => new Date(`${text}T00:00:00Z`);

const tlsCases: readonly Case[] = [
  [
    'no TLS handshake',
    'connect_timed_out',
    /timeout: 1?50ms|in 50 ms/,
    async t => `https://127.0.0.1:${await serveText(t, () => undefined)}`,
    { pool: { connectTimeoutMs: 50 } },
  ],
  [
    'an upstream without TLS',
    'tls_failed',
    /^TLS failed: /,
    async t =>
      `https://127.0.0.1:${await serveText(t, socket => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))}`,
  ],
  [
    'a handshake that the upstream ends',
    'tls_failed',
    /^the upstream closed the connection during the TLS handshake$/,
    async t => `https://127.0.0.1:${await serveText(t, socket => socket.once('data', () => socket.end()))}`,
  ],
  [
    'an unknown authority',
    'tls_failed',
    /^certificate is of an unknown authority \(CN=localhost, issuer CN=Upstream authority, valid 2020-01-01 to 2049-12-31\)$/,
    async t => `https://127.0.0.1:${await serveTls(t, identityOf(makeServerCertificate(authority)))}`,
  ],
  [
    'a self-signed certificate',
    'tls_failed',
    /^certificate is self-signed \(CN=lonely, valid 2020-01-01 to 2049-12-31\)$/,
    async t => `https://127.0.0.1:${await serveTls(t, identityOf(makeCertificate({ cn: 'lonely' })))}`,
  ],
  [
    'an expired certificate',
    'tls_failed',
    /^certificate has expired \(CN=localhost, valid until 2021-02-03\)$/,
    async t => {
      const expired = makeServerCertificate(authority, { notAfter: day('2021-02-03') });
      return `https://127.0.0.1:${await serveTls(t, identityOf(expired))}`;
    },
    { ca: authority.certPem },
  ],
  [
    'an expired certificate between leaf and root',
    'tls_failed',
    /^certificate has expired \(CN=Middle, valid until 2022-01-01\)$/,
    async t => {
      const middle = makeAuthority('Middle', { issuer: authority, notAfter: day('2022-01-01') });
      return `https://127.0.0.1:${await serveTls(t, identityOf(makeServerCertificate(middle)))}`;
    },
    { ca: authority.certPem },
  ],
  [
    'a certificate that is not yet valid',
    'tls_failed',
    /^certificate is not yet valid \(CN=localhost, valid from 2048-01-01\)$/,
    async t => {
      const future = makeServerCertificate(authority, { notBefore: day('2048-01-01') });
      return `https://127.0.0.1:${await serveTls(t, identityOf(future))}`;
    },
    { ca: authority.certPem },
  ],
  [
    'a certificate for other hosts',
    'tls_failed',
    /^certificate is not for the host 127\.0\.0\.1 \(CN=other, names: DNS:a\.example, DNS:b\.example\)$/,
    async t => {
      const other = makeCertificate({ cn: 'other', issuer: authority, dnsNames: ['a.example', 'b.example'] });
      return `https://127.0.0.1:${await serveTls(t, identityOf(other))}`;
    },
    { ca: authority.certPem },
  ],
];

for (const http1Engine of ['native', 'node'] as const)
  describe(`why an upstream failed, HTTP/1.1 engine ${http1Engine}`, () => {
    for (const [name, reason, detail, start, wish = {}] of [...clearCases, ...tlsCases])
      test(name, async t => {
        const failure = await findFailure(t, await start(t), { ...wish, pool: { ...wish.pool, http1Engine } });
        assert.equal(failure?.reason, reason, String(failure?.detail));
        assert.match(failure!.detail, detail);
      });
  });

/** Over HTTP/2 the bytes of another protocol end the session. */
const http1Cases: ReadonlySet<string> = new Set(['bytes that are not HTTP', 'a head with too many fields']);

describe('why an upstream failed, HTTP/2', () => {
  const cases = [...clearCases, ...tlsCases].filter(([name]) => !http1Cases.has(name));
  for (const [name, reason, detail, start, wish = {}] of cases)
    test(name, async t => {
      const origin = await start(t);
      const isHttp2 = origin.startsWith('http:');
      const failure = await findFailure(t, origin, { ...wish, isHttp2, pool: { ...wish.pool, http2: true } });
      assert.equal(failure?.reason, reason, String(failure?.detail));
      assert.match(failure!.detail, detail);
    });
});
