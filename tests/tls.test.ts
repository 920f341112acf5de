import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { call, callerOn, statusesIn } from './hostile/raw.ts';
import { engines, startApp, type TestApp } from './support/app.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeClientCertificate,
  makeServerCertificate,
} from './support/certificates.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

for (const engine of engines)
  describe(`TLS (${engine})`, () => {
    const authority = makeAuthority();
    const own = makeServerCertificate(authority);
    const directory = mkdtempSync(join(tmpdir(), 'gw-tls-'));
    const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
    const write = ({ chainPem, keyPem }: MadeCertificate) => {
      writeFileSync(files.key, keyPem);
      writeFileSync(files.cert, chainPem);
    };
    let app: TestApp;
    let upstream: Upstream;
    const trafficLog: string[] = [];
    let port = 0;

    before(async () => {
      write(own);
      upstream = await startUpstream();
      app = await startApp(engine, {
        settings: {
          'gateway.headers_timeout_ms': '1000',
          'gateway.tls.enabled': 'true',
          'gateway.tls.certificate_file': files.cert,
          'gateway.tls.key_file': files.key,
        },
        onTrafficLog: lines => trafficLog.push(lines),
      });
      port = Number(new URL(app.url.gateway).port);
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
      rmSync(directory, { recursive: true });
    });

    const upload = async (made: MadeCertificate, withKey = true): Promise<string> => {
      const { status, body, text } = await app.ask('POST', '/api/certs', {
        body: made.chainPem + (withKey ? made.keyPem : ''),
      });
      assert.equal(status, 200, text);
      return body.id;
    };

    async function secure(servername: string, more: ConnectionOptions = {}): Promise<TLSSocket> {
      const socket = connect({
        port,
        host: '127.0.0.1',
        servername,
        ca: authority.certPem,
        ALPNProtocols: ['http/1.1'],
        ...more,
      });
      await once(socket, 'secureConnect');
      return socket;
    }

    async function ask(
      path: string,
      host: string,
      more: ConnectionOptions = {},
    ): Promise<{ status: number; text: string }> {
      const socket = await secure(host, { rejectUnauthorized: false, ...more });
      const one = callerOn(socket);
      one.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await one.closed;
      one.leave();
      return { status: statusesIn(one.received())[0]!, text: one.received() };
    }

    const fetchServerCertificate = async (servername: string, more: ConnectionOptions = {}) => {
      const socket = await secure(servername, { rejectUnauthorized: false, ...more });
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256.replaceAll(':', '').toLowerCase();
    };

    test('the listener URL is https, and requests over it have the scheme https', async () => {
      assert.match(app.url.gateway, /^https:/);
      upstream.answer = undefined;
      const definition = openApi(upstream);
      const url = await publish(app, definition);
      const request = httpsRequest(`${url}/x`, { ca: authority.certPem });
      request.end();
      const [response] = await once(request, 'response');
      response.resume();
      assert.equal(response.statusCode, 200);
      assert.equal(upstream.requests.at(-1)!.headers['x-forwarded-proto'], 'https');
    });

    test('a client that ends its side of TLS after its request gets the response', async t => {
      const url = await publish(app, openApi(upstream));
      const held = Promise.withResolvers<() => void>();
      upstream.answer = (_request, response) => held.resolve(() => response.end('late'));
      t.after(() => {
        upstream.answer = undefined;
      });
      const socket = await secure('localhost', {
        socket: connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true }),
      });
      const one = callerOn(socket);
      t.after(() => one.leave());
      const finished = once(socket, 'finish');
      socket.end(`GET ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await finished;
      (await held.promise)();
      await one.closed;
      assert.match(one.received(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nlate$/);
    });

    test('a plaintext request on the TLS port gets no response', async () => {
      await assert.rejects(fetch(app.url.gateway.replace('https', 'http')));
    });

    test('TLS older than 1.2 is refused', async () => {
      await assert.rejects(
        secure('localhost', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
      );
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const socket = await secure('localhost', { minVersion: version, maxVersion: version });
        assert.equal(socket.getProtocol(), version);
        socket.destroy();
      }
    });

    test('SNI selects the certificate of a domain, case-insensitively, and other names get the default', async () => {
      const made = makeServerCertificate(authority, { cn: 'api.example', dnsNames: ['api.example'] });
      const id = await upload(made);
      upstream.answer = undefined;
      const definition = openApi(upstream, { domain: 'api.example', certificates: [id] });
      await publish(app, definition);
      assert.equal(await fetchServerCertificate('api.example'), made.fingerprint);
      assert.equal(await fetchServerCertificate('API.Example'), made.fingerprint);
      assert.equal(await fetchServerCertificate('other.example'), own.fingerprint);
      assert.equal((await ask(definition.proxy.listen_path, 'api.example')).status, 200);
      assert.equal((await ask(definition.proxy.listen_path, 'other.example')).status, 404);
    });

    test('a certificate is added, replaced and removed without a restart', async () => {
      const [first, second] = ['one', 'two'].map(cn =>
        makeServerCertificate(authority, { cn, dnsNames: ['live.example'] }),
      );
      const ids = [await upload(first!), await upload(second!)];
      const definition = openApi(upstream, { domain: 'live.example', certificates: [ids[0]] });
      await publish(app, definition);
      assert.equal(await fetchServerCertificate('live.example'), first!.fingerprint);
      await app.ask('PUT', `/api/apis/${definition.api_id}`, {
        body: { api_definition: { ...definition, certificates: [ids[1]] } },
      });
      await waitUntilApplied(app);
      assert.equal(await fetchServerCertificate('live.example'), second!.fingerprint);
      await app.ask('DELETE', `/api/certs/${ids[1]}`);
      await waitUntilApplied(app);
      assert.equal(await fetchServerCertificate('live.example'), own.fingerprint);
      const unserved = await ask(definition.proxy.listen_path, 'live.example');
      assert.equal(unserved.status, 503);
      const { body } = await app.ask('GET', `/gw/apis/${definition.api_id}/status`);
      assert.match(body.reason, new RegExp(`certificate ${ids[1]}`));
    });

    test('a certificate without its private key cannot serve a domain', async () => {
      const id = await upload(makeServerCertificate(authority, { dnsNames: ['bare.example'] }), false);
      const definition = openApi(upstream, { domain: 'bare.example', certificates: [id] });
      await publish(app, definition);
      assert.equal((await ask(definition.proxy.listen_path, 'bare.example')).status, 503);
    });

    test('the default certificate is reloaded when its files change, and kept when they are invalid', async () => {
      writeFileSync(files.cert, 'not a certificate');
      await waitUntilApplied(app);
      assert.equal(await fetchServerCertificate('localhost'), own.fingerprint);
      const readFile = async () => {
        const [node] = (await app.ask('GET', '/api/system/nodes')).body.data.nodes;
        return node.certificates?.find(({ kind }: { kind: string }) => kind === 'file');
      };
      await eventually(async () => {
        const { error, ...rest } = (await readFile()) ?? {};
        const file = { kind: 'file', source: files.cert, subject: 'localhost', apis: 0 };
        assert.deepEqual(rest, { ...file, state: 'failed', not_after: '2049-12-31T23:59:59Z' });
        assert.match(error, /^The TLS certificate of the gateway cannot be used: /);
      });
      const next = makeServerCertificate(authority);
      write(next);
      await eventually(async () => assert.equal((await readFile())?.state, 'loaded'));
      await eventually(async () => assert.equal(await fetchServerCertificate('localhost'), next.fingerprint));
      await eventually(() => assert.match(trafficLog.join(''), /"msg":"TLS certificate reloaded"/));
      write(own);
      await eventually(async () => assert.equal(await fetchServerCertificate('localhost'), own.fingerprint));
    });

    test('mutual TLS: client certificates are requested only while an API requires them, and verified per API', async () => {
      const mine = makeClientCertificate(authority, 'mine');
      const shows = { cert: mine.chainPem, key: mine.keyPem };
      const other = makeClientCertificate(authority, 'other');
      const open = openApi(upstream, { domain: 'open.example' });
      await publish(app, open);
      assert.equal((await ask(open.proxy.listen_path, 'open.example')).status, 200);
      const id = await upload(mine, false);
      const guarded = openApi(upstream, {
        domain: 'mtls.example',
        use_mutual_tls_auth: true,
        client_certificates: [id],
      });
      await publish(app, guarded);
      upstream.answer = undefined;
      assert.equal((await ask(guarded.proxy.listen_path, 'mtls.example', shows)).status, 200);
      assert.equal((await ask(guarded.proxy.listen_path, 'mtls.example')).status, 403);
      assert.equal(
        (await ask(guarded.proxy.listen_path, 'mtls.example', { cert: other.chainPem, key: other.keyPem })).status,
        403,
      );
      assert.equal((await ask(open.proxy.listen_path, 'open.example')).status, 200);
    });

    test('an API with mutual TLS returns 421 over a connection with another server name', async () => {
      const mine = makeClientCertificate(authority, 'coalesced');
      const id = await upload(mine, false);
      const guarded = openApi(upstream, {
        domain: 'strict.example',
        use_mutual_tls_auth: true,
        client_certificates: [id],
      });
      await publish(app, guarded);
      for (const host of ['strict.example', 'STRICT.example.', 'strict.example:443']) {
        for (const servername of ['open.example', 'strict.example']) {
          const socket = await secure(servername, { rejectUnauthorized: false, cert: mine.chainPem, key: mine.keyPem });
          const one = callerOn(socket);
          one.send(`GET ${guarded.proxy.listen_path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
          await one.closed;
          one.leave();
          assert.deepEqual(
            statusesIn(one.received()),
            [servername === 'strict.example' ? 200 : 421],
            `${host} ${servername}`,
          );
        }
      }
    });

    test('an invalid TLS handshake is closed, and other connections are served', async () => {
      const one = await call(port);
      one.send('\x16\x03\x01\x00\xff garbage');
      await one.closed;
      assert.equal((await ask('/live', 'localhost')).status, 200);
    });

    test('HTTP/2 is used when ALPN negotiates it', async () => {
      upstream.answer = undefined;
      const definition = openApi(upstream);
      const url = new URL(await publish(app, definition));
      const session = connectHttp2(app.url.gateway, { ca: authority.certPem });
      await once(session, 'connect');
      assert.equal((session.socket as TLSSocket).alpnProtocol, 'h2');
      const stream = session.request({ ':method': 'POST', ':path': `${url.pathname}/x?y=1`, cookie: ['a=1', 'b=2'] });
      stream.end('hello');
      const [headers] = await once(stream, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const received = JSON.parse(Buffer.concat(chunks).toString());
      assert.equal(headers[':status'], 200);
      assert.equal(received.url, '/x?y=1');
      assert.equal(received.body, 'hello');
      assert.equal(received.headers.cookie, 'a=1; b=2');
      assert.equal(received.headers['x-forwarded-host'], new URL(app.url.gateway).hostname);
      session.close();
    });
  });

test('a gateway with a certificate file but no key file does not start', async () => {
  await assert.rejects(
    startApp('sqlite', { settings: { 'gateway.tls.enabled': 'true', 'gateway.tls.certificate_file': '/nowhere.pem' } }),
    /must both be set/,
  );
});
