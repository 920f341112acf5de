import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer as createSecureHttp2Server,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { call } from './hostile/raw.ts';
import { startApp, type TestApp, usesNodeEngine } from './support/app.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeCertificate,
  makeClientCertificate,
  makeServerCertificate,
} from './support/certificates.ts';
import {
  closing,
  listen,
  type Reached,
  type SecureUpstream,
  startSecure,
  trackSockets,
} from './support/secure-upstream.ts';
import { eventually, findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';

describe('Upstream TLS', () => {
  const authority = makeAuthority('Upstream authority');
  const leaf = makeServerCertificate(authority);
  const shown = { cert: leaf.chainPem, key: leaf.keyPem };
  const started: { close(): Promise<void> }[] = [];
  let app: TestApp;
  let upstream: SecureUpstream;

  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startSecure(shown)]);
    started.push(upstream);
  });
  after(async () => {
    await app?.close();
    for (const it of started) await it.close();
  });

  const secure = async (options: TlsOptions = shown) => {
    const made = await startSecure(options);
    started.push(made);
    return made;
  };
  const upload = async ({ certPem, keyPem }: MadeCertificate, withKey = true): Promise<string> => {
    const { status, body, text } = await app.ask('POST', '/api/certs', { body: certPem + (withKey ? keyPem : '') });
    assert.equal(status, 200, text);
    return body.id;
  };
  const uploadKey = async ({ publicKeyPem }: MadeCertificate): Promise<string> =>
    (await app.ask('POST', '/api/certs', { body: publicKeyPem })).body.id;

  /** Publishes an API with these options and calls it: the upstream response, or status and message of the refusal. */
  async function callUpstream(
    target: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    const url = await publish(app, openApi({ url: target }, more));
    const reply = await fetch(`${url}/x`, { headers });
    const body = (await reply.json()) as Reached & { error?: string };
    return { status: reply.status, error: body.error ?? '', ...body, url };
  }
  const lenient = { transport: { ssl_insecure_skip_verify: true } };
  const at = ({ port }: SecureUpstream, host = '127.0.0.1') => `https://${host}:${port}`;
  const failed = 'There was a problem proxying the request';

  test('an untrusted upstream certificate is refused unless verification is disabled, and the two share no connection', async () => {
    const trusting = await callUpstream(at(upstream), { proxy: lenient });
    assert.equal(trusting.status, 200);
    const strict = await callUpstream(at(upstream));
    assert.deepEqual([strict.status, strict.error], [502, failed]);
  });

  test('the fault of an upstream certificate is in the explanation and the record, and not in the response', async () => {
    const issuer = makeAuthority('Issuer');
    const expired = makeServerCertificate(issuer, { notAfter: new Date('2021-02-03T00:00:00Z') });
    const late = await secure({ cert: expired.chainPem, key: expired.keyPem });
    const transport = { ssl_ca_certificates: [await upload(issuer, false)] };
    const definition = openApi({ url: at(late) }, { proxy: { transport } });
    const url = await publish(app, definition);
    const reply = await fetch(url, { headers: { 'X-Gw-Explain': app.credentials.gateway_secret } });
    assert.deepEqual([reply.status, await reply.json()], [502, { error: failed }]);
    const fault = 'tls_failed: certificate has expired (CN=localhost, valid until 2021-02-03)';
    const { steps } = JSON.parse(reply.headers.get('x-gw-explanation')!);
    assert.equal(steps.at(-1).message, `failed: ${fault}`);
    await eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`);
      assert.deepEqual(
        body.data.map((it: { upstream_error: string }) => it.upstream_error),
        [fault],
      );
    });
  });

  test('the minimum and maximum TLS versions are enforced', async () => {
    const old = await secure({ ...shown, maxVersion: 'TLSv1.2' });
    const transport = (more: object) => ({ proxy: { transport: { ssl_insecure_skip_verify: true, ...more } } });
    assert.equal((await callUpstream(at(old), transport({}))).protocol, 'TLSv1.2');
    assert.equal((await callUpstream(at(old), transport({ ssl_min_version: 772 }))).status, 502);
    assert.equal((await callUpstream(at(upstream), transport({ ssl_max_version: 771 }))).protocol, 'TLSv1.2');
    assert.equal((await callUpstream(at(upstream), transport({ ssl_min_version: 772 }))).protocol, 'TLSv1.3');
    const contradiction = await callUpstream(at(upstream), transport({ ssl_min_version: 772, ssl_max_version: 771 }));
    assert.equal(contradiction.status, 503);
  });

  test('only the configured cipher suites are offered, and unknown ones are ignored unless all are', async () => {
    const transport = (...ssl_ciphers: string[]) => ({
      proxy: { transport: { ssl_insecure_skip_verify: true, ssl_max_version: 771, ssl_ciphers } },
    });
    const named = await callUpstream(
      at(upstream),
      transport('TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_NO_SUCH_SUITE'),
    );
    assert.equal(named.cipher, 'ECDHE-ECDSA-AES256-GCM-SHA384');
    const other = await callUpstream(at(upstream), transport('ECDHE-ECDSA-CHACHA20-POLY1305'));
    assert.equal(other.cipher, 'ECDHE-ECDSA-CHACHA20-POLY1305');
    assert.equal((await callUpstream(at(upstream), transport('TLS_NO_SUCH_SUITE'))).status, 503);
  });

  test('the common name is checked when configured, also without other verification', async () => {
    const checked = { proxy: { transport: { ssl_insecure_skip_verify: true, ssl_force_common_name_check: true } } };
    assert.equal((await callUpstream(at(upstream, 'localhost'), checked)).status, 200);
    assert.equal((await callUpstream(at(upstream), checked)).status, 502);
  });

  test('a client cannot choose the verified server name', async () => {
    const definition = openApi(
      { url: at(upstream, 'localhost') },
      { proxy: { ...lenient, preserve_host_header: true } },
    );
    const url = new URL(await publish(app, definition));
    const before = upstream.connections;
    for (const host of ['evil.example', 'other.example', 'localhost']) {
      const one = await call(Number(url.port));
      one.send(`GET ${url.pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await one.closed;
      one.leave();
      const body = JSON.parse(one.received().split('\r\n\r\n')[1]!) as Reached;
      assert.deepEqual([body.host, body.serverName], [host, 'localhost']);
    }
    // undici opens a connection for each Host value, although the server name stays the same.
    assert.equal(upstream.connections - before, usesNodeEngine ? 3 : 1);
  });

  test('the client certificate is that of the most specific host pattern', async () => {
    const [any, host, exact] = await Promise.all(
      ['any', 'host', 'exact'].map(cn => upload(makeClientCertificate(authority, cn))),
    );
    const other = await secure();
    const map = { '*': any, localhost: host, [`localhost:${upstream.port}`]: exact };
    const more = { upstream_certificates: map, proxy: lenient };
    assert.equal((await callUpstream(at(upstream), more)).caller, 'any');
    assert.equal((await callUpstream(at(other, 'localhost'), more)).caller, 'host');
    assert.equal((await callUpstream(at(upstream, 'localhost'), more)).caller, 'exact');
    assert.equal(
      (await callUpstream(at(upstream), { ...more, upstream_certificates_disabled: true })).caller,
      undefined,
    );
  });

  const drivers: Readonly<Record<string, string>> = {
    javascript: `const mw = new GwJS.GwMiddleware.NewMiddleware({});
      mw.NewProcessRequest((request, session, { config_data: { server } }) => {
        const reply = GwMakeHttpRequest(JSON.stringify({ Domain: server }));
        const [batched] = JSON.parse(GwBatchRequest(JSON.stringify({ requests: [{ relative_url: server }] })));
        request.ReturnOverrides = { ResponseCode: 200, ResponseBody: JSON.stringify(
          { made: reply && JSON.parse(reply).Body, batched: batched.body }) };
        return mw.ReturnData(request, {});
      });`,
    typescript: `export const mw = async (request, context) => {
      const read = async () => (await context.fetch(context.config.server)).body;
      const made = await read().catch(() => undefined);
      return { status: 200, body: { made, batched: made ?? '' } };
    };`,
  };
  for (const [driver, code] of Object.entries(drivers))
    test(`requests of plugins (${driver}) have the TLS options of the API`, async () => {
      const issuer = makeAuthority(`Authority of ${driver}`);
      const { chainPem: cert, keyPem: key } = makeServerCertificate(issuer);
      const side = await secure({ cert, key });
      const client = await upload(makeClientCertificate(issuer, 'plugin'));
      const trusted = await upload(issuer, false);
      const call = async (more: { proxy?: object; upstream_certificates?: object }) => {
        const pre = [{ name: 'mw', path: '', code: Buffer.from(code).toString('base64') }];
        const config_data = { server: `https://localhost:${side.port}/side` };
        const definition = openApi({ url: at(upstream) }, { custom_middleware: { driver, pre }, config_data, ...more });
        const reply = await fetch(await publish(app, definition));
        const { made, batched } = (await reply.json()) as { made?: string; batched: string };
        assert.equal(made ?? '', batched);
        return made === undefined ? undefined : (JSON.parse(made) as Reached);
      };
      assert.equal(await call({}), undefined);
      const own = { transport: { ssl_ca_certificates: [trusted] } };
      const verified = await call({ proxy: own, upstream_certificates: { '*': client } });
      assert.deepEqual([verified?.url, verified?.caller], ['/side', 'plugin']);
      const older = { transport: { ssl_insecure_skip_verify: true, ssl_max_version: 771 } };
      assert.deepEqual(
        [(await call({ proxy: lenient }))?.caller, (await call({ proxy: older }))?.protocol],
        [undefined, 'TLSv1.2'],
      );
    });

  test('an API whose client certificate is missing or has no key is not served until it is added', async () => {
    const bare = await upload(makeClientCertificate(authority, 'bare'), false);
    const without = await callUpstream(at(upstream), { upstream_certificates: { '*': bare }, proxy: lenient });
    assert.equal(without.status, 503);
    assert.match(await findUnavailableReason(app, without.url), new RegExp(`upstream certificate ${bare}`));
    const made = makeClientCertificate(authority, 'late');
    const id = await upload(made);
    const { url, caller } = await callUpstream(at(upstream), { upstream_certificates: { '*': id }, proxy: lenient });
    assert.equal(caller, 'late');
    await app.ask('DELETE', `/api/certs/${id}`);
    await waitUntilApplied(app);
    assert.equal((await fetch(url)).status, 503);
    await upload(made);
    await waitUntilApplied(app);
    assert.equal((await fetch(url)).status, 200);
  });

  test('an upstream with a pinned key needs no trusted authority, and any other key is refused', async () => {
    const mine = await uploadKey(leaf);
    const wrong = await uploadKey(makeServerCertificate(authority));
    const callPinned = (pinned_public_keys: object) => callUpstream(at(upstream), { pinned_public_keys });
    assert.equal((await callPinned({ '*': mine })).status, 200);
    assert.equal((await callPinned({ '127.0.0.1': `${wrong},${mine}` })).status, 200);
    const refused = await callPinned({ '*': wrong });
    assert.deepEqual([refused.status, refused.error], [502, failed]);
    assert.equal((await callPinned({ '*': 'nobody' })).status, 503);
    const disabled = await callUpstream(at(upstream), {
      pinned_public_keys: { '*': wrong },
      certificate_pinning_disabled: true,
      proxy: lenient,
    });
    assert.equal(disabled.status, 200);
  });

  test('with a pinned key and the common name check an upstream must pass both', async () => {
    const own = makeServerCertificate(authority);
    const pinned = await secure({ cert: own.chainPem, key: own.keyPem });
    const [mine, wrong] = [await uploadKey(own), await uploadKey(makeServerCertificate(authority))];
    const both = (host: string, key: string) =>
      callUpstream(at(pinned, host), {
        pinned_public_keys: { '*': key },
        proxy: { transport: { ssl_force_common_name_check: true } },
      });
    assert.equal((await both('localhost', mine)).status, 200);
    assert.equal((await both('127.0.0.1', mine)).status, 502, 'the right key under another name');
    assert.equal((await both('localhost', wrong)).status, 502, 'the right name with another key');
  });

  test('a pinned authority is accepted only for certificates that it signed', async () => {
    const pin = await uploadKey(authority);
    const whole = await secure({ cert: leaf.certPem + authority.certPem, key: leaf.keyPem });
    assert.equal((await callUpstream(at(whole), { pinned_public_keys: { '*': pin } })).status, 200);
    const impostor = makeServerCertificate(makeAuthority('Upstream authority'));
    const beside = await secure({ cert: impostor.certPem + authority.certPem, key: impostor.keyPem });
    assert.equal((await callUpstream(at(beside), { pinned_public_keys: { '*': pin } })).status, 502);
    const stranger = makeCertificate({ cn: 'stranger' });
    const unrelated = await secure({ cert: stranger.certPem + authority.certPem, key: stranger.keyPem });
    assert.equal((await callUpstream(at(unrelated), { pinned_public_keys: { '*': pin } })).status, 502);
  });

  test('an upstream certificate of an authority that the API names is accepted, whatever else is configured', async () => {
    const id = await upload(authority, false);
    const other = await upload(makeAuthority('Another'), false);
    const client = await upload(makeClientCertificate(authority, 'us'));
    const trusting = (ids: string[], more: object = {}) =>
      callUpstream(at(upstream), {
        proxy: { transport: { ssl_ca_certificates: ids, ...more } },
        upstream_certificates: { '*': client },
      });
    const reached = await trusting([other, id], { ssl_max_version: 771 });
    assert.deepEqual([reached.status, reached.caller, reached.protocol], [200, 'us', 'TLSv1.2']);
    assert.equal((await trusting([id], { ssl_ca_certificates_only: true })).status, 200);
    const refused = await trusting([other]);
    assert.deepEqual([refused.status, refused.error], [502, failed]);
    const name = makeCertificate({ cn: 'other', issuer: authority, dnsNames: ['other.example'] });
    const misnamed = await secure({ cert: name.chainPem, key: name.keyPem });
    const wrongHost = await callUpstream(at(misnamed), { proxy: { transport: { ssl_ca_certificates: [id] } } });
    assert.equal(wrongHost.status, 502);
  });

  test('an API whose authority is missing, a bare public key or of another organisation is not served', async () => {
    const { accessKey } = await app.stranger();
    const foreign = await app.ask('POST', '/api/certs', { body: authority.certPem, credential: accessKey });
    assert.equal(foreign.status, 200, foreign.text);
    const bare = await uploadKey(makeServerCertificate(authority));
    for (const id of ['nothing', bare, foreign.body.id]) {
      const { status, url } = await callUpstream(at(upstream), {
        proxy: { transport: { ssl_ca_certificates: [id] } },
      });
      assert.equal(status, 503);
      assert.match(
        await findUnavailableReason(app, url),
        new RegExp(`certificate ${id} of ssl_ca_certificates is not in the`),
      );
    }
  });

  test('a forward proxy gets CONNECT for https and the absolute URL for http', async () => {
    const asked: IncomingMessage[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(request);
      response.end(JSON.stringify({ url: request.url }));
    });
    const sockets = trackSockets(server);
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      asked.push(request);
      if (request.headers['proxy-authorization'] !== `Basic ${Buffer.from('user:pass').toString('base64')}`)
        return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      const [host, port] = request.url!.split(':');
      const through = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        through.pipe(socket).pipe(through);
      });
      sockets.add(through);
      through.on('error', () => socket.destroy());
    });
    const port = await listen(server);
    started.push({ close: closing(server, sockets) });
    const proxy = (credentials: string) => ({
      proxy: { transport: { ssl_insecure_skip_verify: true, proxy_url: `http://${credentials}127.0.0.1:${port}` } },
    });
    const tunnelled = await callUpstream(at(upstream), proxy('user:pass@'));
    assert.equal(tunnelled.status, 200);
    assert.deepEqual([asked.at(-1)!.method, asked.at(-1)!.url], ['CONNECT', `127.0.0.1:${upstream.port}`]);
    assert.equal((await callUpstream(at(upstream), proxy(''))).status, 502);
    const plain = await callUpstream('http://service.invalid:8000/base', proxy('user:pass@'));
    assert.equal(plain.status, 200);
    const last = asked.at(-1)!;
    assert.deepEqual(
      [last.method, last.url, last.headers.host],
      ['GET', 'http://service.invalid:8000/base/x', 'service.invalid:8000'],
    );
    assert.equal(last.headers['proxy-authorization'], `Basic ${Buffer.from('user:pass').toString('base64')}`);
    assert.equal(
      (await callUpstream(at(upstream), { proxy: { transport: { proxy_url: 'socks5://127.0.0.1:1' } } })).status,
      503,
    );
  });
});

/** Echoes requests over HTTP/2, with trailers. */
function grpcLike(server: Http2Server | Http2SecureServer): void {
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const size = Number(headers['x-size'] ?? 0);
      stream.end(
        size > 0 ? Buffer.alloc(size, 'y') : `${headers[':method']} ${headers[':path']} ${Buffer.concat(chunks)}`,
      );
    });
  });
}

describe('HTTP/2 upstreams', () => {
  const authority = makeAuthority();
  const made = makeServerCertificate(authority);
  const directory = mkdtempSync(join(tmpdir(), 'gw-authorities-'));
  const authorityFile = join(directory, 'authorities.pem');
  const clear = createHttp2Server();
  const secure = createSecureHttp2Server({ cert: made.chainPem, key: made.keyPem });
  const stops: (() => Promise<void>)[] = [];
  let app: TestApp;
  let ports: number[];
  before(async () => {
    writeFileSync(authorityFile, makeAuthority('Another').certPem + authority.certPem);
    const settings = {
      'upstream.http2': 'true',
      'upstream.timeout_ms': '1000',
      'upstream.ca_certificates': authorityFile,
    };
    app = await startApp('sqlite', { settings });
    ports = [];
    for (const server of [clear, secure] as unknown as Server[]) {
      grpcLike(server as unknown as Http2Server);
      stops.push(closing(server, trackSockets(server)));
      ports.push(await listen(server));
    }
  });
  after(async () => {
    await app?.close();
    for (const stop of stops) await stop();
    rmSync(directory, { recursive: true });
  });

  async function ask(target: string, more = '', body = 'hello'): Promise<string> {
    const definition = openApi({ url: target }, { proxy: { transport: { ssl_insecure_skip_verify: true } } });
    return askAt(new URL(await publish(app, definition)), more, body);
  }

  async function askAt(url: URL, more = '', body = 'hello'): Promise<string> {
    const one = await call(Number(url.port));
    one.send(
      `POST ${url.pathname}/S/M HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n${more}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    await one.closed;
    one.leave();
    return one.received();
  }

  test('requests with bodies and trailers pass over h2c and TLS', async () => {
    for (const target of [`h2c://127.0.0.1:${ports[0]}`, `https://127.0.0.1:${ports[1]}`]) {
      const answer = await ask(target);
      assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*POST \/S\/M hello\r\n0\r\ngrpc-status: 0\r\n\r\n$/, target);
    }
  });

  test('upstream.ca_certificates: its authorities are trusted, also after the file has changed, and not beside own ones', async () => {
    const target = `https://127.0.0.1:${ports[1]}`;
    const url = new URL(await publish(app, openApi({ url: target })));
    assert.match(await askAt(url), /^HTTP\/1\.1 200 [\s\S]*POST \/S\/M hello/);
    const { body } = await app.ask('POST', '/api/certs', { body: makeAuthority('Own').certPem });
    const naming = async (more: object) => {
      const transport = { ssl_ca_certificates: [body.id], ...more };
      return askAt(new URL(await publish(app, openApi({ url: target }, { proxy: { transport } }))));
    };
    assert.match(await naming({}), /^HTTP\/1\.1 200 /);
    assert.match(await naming({ ssl_ca_certificates_only: true }), /^HTTP\/1\.1 502 /);
    writeFileSync(authorityFile, 'not a certificate');
    assert.match(await askAt(url), /^HTTP\/1\.1 200 /);
    writeFileSync(authorityFile, makeAuthority('Another').certPem);
    await eventually(async () => assert.match(await askAt(url), /^HTTP\/1\.1 502 /));
    writeFileSync(authorityFile, authority.certPem);
    await eventually(async () => assert.match(await askAt(url), /^HTTP\/1\.1 200 /));
  });

  test('large responses arrive complete, also with a slow reader', async () => {
    const url = new URL(await publish(app, openApi({ url: `h2c://127.0.0.1:${ports[0]}` })));
    const one = await call(Number(url.port));
    one.socket.pause();
    one.send(`GET ${url.pathname} HTTP/1.0\r\nX-Size: 20000000\r\n\r\n`);
    await once(one.socket, 'readable');
    one.socket.resume();
    await one.closed;
    one.leave();
    assert.equal(one.received().split('\r\n\r\n')[1]!.length, 20_000_000);
  });

  test('a TLS upstream that does not negotiate HTTP/2 gets HTTP/1.1', async () => {
    const plain = await startSecure({ cert: made.chainPem, key: made.keyPem });
    stops.push(() => plain.close());
    assert.match(await ask(`https://127.0.0.1:${plain.port}`), /^HTTP\/1\.1 200 [\s\S]*"url":"\/S\/M"/);
  });

  test('slow and unreachable upstreams have different errors', async () => {
    assert.match(await ask('h2c://127.0.0.1:1'), /^HTTP\/1\.1 502 [\s\S]*There was a problem proxying the request/);
    const mute = createTcpServer(() => undefined);
    stops.push(closing(mute, trackSockets(mute)));
    assert.match(await ask(`h2c://127.0.0.1:${await listen(mute)}`), /^HTTP\/1\.1 504 /);
  });
});
