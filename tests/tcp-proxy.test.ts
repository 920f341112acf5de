import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { call, callerOn } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type MadeCertificate, makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { type Definition, eventually, openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';

/** Says its name, then repeats every byte. */
async function startEcho(server: Server, name: string): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const begin = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(`${name}:`);
    socket.pipe(socket);
  };
  server.on('isTls' in server ? 'secureConnection' : 'connection', begin);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe('TCP proxying', () => {
  const authority = makeAuthority();
  const own = makeServerCertificate(authority);
  const directory = mkdtempSync(join(tmpdir(), 'gw-raw-'));
  const stops: { close(): Promise<void> }[] = [];
  let app: TestApp;
  let echo: { port: number };
  let ports: number[];
  const log: string[] = [];

  before(async () => {
    writeFileSync(join(directory, 'cert.pem'), own.chainPem);
    writeFileSync(join(directory, 'key.pem'), own.keyPem);
    ports = await Promise.all(Array.from({ length: 5 }, freePort));
    const plain = await startEcho(createServer({ allowHalfOpen: true }), 'plain');
    stops.push(plain);
    echo = plain;
    app = await startApp('sqlite', {
      settings: {
        'gateway.extra_ports': ports.slice(0, 4).join(','),
        'gateway.tls.certificate_file': join(directory, 'cert.pem'),
        'gateway.tls.key_file': join(directory, 'key.pem'),
      },
      onTrafficLog: lines => void log.push(lines),
    });
  });
  after(async () => {
    await app?.close();
    for (const it of stops) await it.close();
    rmSync(directory, { recursive: true });
  });

  const service = (listen_port: number, protocol: 'tcp' | 'tls', target: string, more: Record<string, unknown> = {}) =>
    openApi({ url: target }, { protocol, listen_port, ...more });
  const publish = async (definition: Definition) => {
    const { status, text } = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
    assert.equal(status, 200, text);
    await waitUntilApplied(app);
  };
  const upload = async ({ chainPem, keyPem }: MadeCertificate): Promise<string> =>
    (await app.ask('POST', '/api/certs', { body: chainPem + keyPem })).body.id;

  test('bytes and half-closes pass in both directions, without HTTP processing', async () => {
    const definition = service(ports[0]!, 'tcp', `tcp://127.0.0.1:${echo.port}`);
    await publish(definition);
    const one = await call(ports[0]!);
    one.send('GET / HTTP/1.1\r\n\0 anything');
    await one.until(/^plain:GET \/ HTTP\/1\.1\r\n\0 anything$/);
    one.send(Buffer.alloc(10_000_000, 'z'));
    await eventually(() => assert.ok(one.received().length > 10_000_000));
    one.socket.end();
    await one.closed;
    one.leave();
    assert.equal((await fetch(app.url.gateway + definition.proxy.listen_path)).status, 404);
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
    await assert.rejects(call(ports[0]!));
  });

  test('an unreachable upstream ends the connection, and the log has the reason', async () => {
    const definition = service(ports[0]!, 'tcp', 'tcp://127.0.0.1:1');
    await publish(definition);
    const one = await call(ports[0]!);
    await one.closed;
    assert.equal(one.received(), '');
    one.leave();
    await eventually(() => assert.match(log.join(''), /"reason":"connection_refused: connect ECONNREFUSED 127/));
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
  });

  test('a connection is not forwarded to a management listener', async () => {
    const { port } = new URL(app.url.dashboard);
    const definition = service(ports[0]!, 'tcp', `tcp://localhost:${port}`);
    await publish(definition);
    const one = await call(ports[0]!);
    one.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await one.closed;
    assert.equal(one.received(), '');
    one.leave();
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
  });

  test('a definition with the literal address of a management listener is refused', async () => {
    const { port } = new URL(app.url.dashboard);
    const definition = service(ports[0]!, 'tcp', `tcp://127.0.0.1:${port}`);
    const { status, text } = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
    assert.equal(status, 400, text);
    assert.match(text, /target_url: connection to 127\.0\.0\.1:\d+ refused: its address is a management listener/);
  });

  test('service discovery can name the upstream, and forbidden addresses are skipped', async () => {
    const registry = await startUpstream();
    stops.push(registry);
    const lies = ['file:///etc/passwd', 'gw://self', 'http://127.0.0.1:80', '169.254.169.254:80', '127.0.0.1'];
    registry.answer = (_request, response) => response.end(JSON.stringify([...lies, `127.0.0.1:${echo.port}`]));
    const discovery = {
      use_discovery_service: true,
      query_endpoint: registry.url,
      endpoint_returns_list: true,
      use_target_list: true,
    };
    const definition = service(ports[0]!, 'tcp', 'tcp://127.0.0.1:1', { proxy: { service_discovery: discovery } });
    await publish(definition);
    const one = await call(ports[0]!);
    one.send('hello');
    await one.until(/^plain:hello$/);
    one.leave();
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
  });

  test('over TLS the service is selected by SNI, with its own certificate', async () => {
    const made = makeServerCertificate(authority, { cn: 'a.example', dnsNames: ['a.example'] });
    const other = await startEcho(createServer(), 'other');
    stops.push(other);
    const id = await upload(made);
    await publish(
      service(ports[1]!, 'tls', `tcp://127.0.0.1:${echo.port}`, { domain: 'a.example', certificates: [id] }),
    );
    await publish(service(ports[1]!, 'tls', `tcp://127.0.0.1:${other.port}`));
    for (const [servername, name, fingerprint] of [
      ['a.example', 'plain', made.fingerprint],
      ['b.example', 'other', own.fingerprint],
    ] as const) {
      const socket = connectTls({ port: ports[1]!, host: '127.0.0.1', servername, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      assert.equal(socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase(), fingerprint);
      const one = callerOn(socket);
      one.send('hello');
      await one.until(new RegExp(`^${name}:hello$`));
      one.leave();
    }
  });

  test('a TLS upstream is verified by the rules of the definition', async () => {
    const secure = Object.assign(createTlsServer({ cert: own.chainPem, key: own.keyPem }), { isTls: true });
    const upstream = await startEcho(secure, 'secure');
    stops.push(upstream);
    const strict = service(ports[2]!, 'tcp', `tls://127.0.0.1:${upstream.port}`);
    await publish(strict);
    const refused = await call(ports[2]!);
    await refused.closed;
    refused.leave();
    await eventually(() =>
      assert.match(log.join(''), /"tls_failed: certificate is of an unknown authority \(CN=localhost/),
    );
    const { body } = await app.ask('POST', '/api/certs', { body: authority.certPem });
    for (const transport of [{ ssl_insecure_skip_verify: true }, { ssl_ca_certificates: [body.id] }]) {
      await app.ask('PUT', `/api/apis/${strict.api_id}`, {
        body: { api_definition: { ...strict, proxy: { ...strict.proxy, transport } } },
      });
      await waitUntilApplied(app);
      const one = await call(ports[2]!);
      one.send('hello');
      await one.until(/^secure:hello$/);
      one.leave();
    }
  });

  test('a PROXY protocol header (v1, v2) is removed, and a connection without one is closed', async () => {
    await publish(service(ports[3]!, 'tcp', `tcp://127.0.0.1:${echo.port}`, { enable_proxy_protocol: true }));
    const second = Buffer.concat([
      Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
      Buffer.from([0x21, 0x11, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 2]),
    ]);
    for (const origin of [Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n'), second]) {
      const one = await call(ports[3]!);
      for (const byte of origin) one.send(Buffer.from([byte]));
      one.send('hello');
      await one.until(/^plain:hello$/);
      one.leave();
    }
    for (const none of ['hello, no origin', `PROXY ${'x'.repeat(600)}`]) {
      const one = await call(ports[3]!);
      one.send(none);
      await one.closed;
      assert.equal(one.received(), '');
      one.leave();
    }
  });

  test('a service with a port that is not allowed or an invalid target is not served', async () => {
    const forbidden = service(ports[4]!, 'tcp', `tcp://127.0.0.1:${echo.port}`);
    const nowhere = service(ports[3]!, 'tls', 'http://127.0.0.1:80', { domain: 'nowhere.example' });
    for (const [definition, reason] of [
      [forbidden, /its port \d+ is not in gateway\.extra_ports/],
      [nowhere, /is not tcp:\/\/ or tls:\/\/ with a port/],
    ] as const) {
      await publish(definition);
      const { text } = await app.ask('GET', `/api/apis/${definition.api_id}/status`);
      assert.match(text, reason);
    }
    await assert.rejects(call(ports[4]!));
  });
});
