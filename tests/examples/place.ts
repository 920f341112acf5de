import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { type Answer, rememberSecrets, startApp, type TestApp } from '../support/app.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeCertificate,
  makeClientCertificate,
  makeServerCertificate,
} from '../support/certificates.ts';
import { type Publisher, rsaPair, startPublisher } from '../support/tokens.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import type { Example } from './example.ts';

/** The servers that examples name by placeholders, and certificates for them. */
export interface Surroundings {
  readonly upstream: Upstream;
  readonly second: Upstream;
  /** Other servers: issuers of tokens, registries, receivers of webhooks. */
  readonly partner: Publisher;
  readonly secure: MadeCertificate;
  readonly authority: MadeCertificate;
  readonly client: MadeCertificate;
  /** The certificate the gateway shows to upstreams. */
  readonly own: MadeCertificate;
  readonly issuer: ReturnType<typeof rsaPair>;
  /** By placeholder. */
  readonly addresses: ReadonlyMap<string, string>;
  start(settings: Example['settings']): Promise<TestApp>;
  close(): Promise<void>;
}

export interface Place extends Surroundings {
  readonly app: TestApp;
  /** A management call that has to go well; changes are in force when it returns. */
  manage(method: string, path: string, body?: unknown): Promise<Answer['body']>;
  /** A key with a right to the API. */
  key(apiId: string, more?: object): Promise<string>;
  policy(id: string, apiId: string): Promise<void>;
  /** Puts PEM into the store. */
  certificate(pem: string): Promise<string>;
}

export async function surroundings(): Promise<Surroundings> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-examples-'));
  const authority = makeAuthority('Authority of clients');
  const secure = makeServerCertificate(makeAuthority('Authority of servers'));
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  writeFileSync(files.cert, secure.chainPem);
  writeFileSync(files.key, secure.keyPem);
  const [upstream, second, partner] = await Promise.all([startUpstream(), startUpstream(), startPublisher()]);
  const bank = await listening(
    createSecureServer(
      { cert: secure.chainPem, key: secure.keyPem, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const shown = (request.socket as TLSSocket).getPeerCertificate();
        response.end(JSON.stringify({ url: request.url, caller: shown.subject?.CN ?? '' }));
      },
    ),
  );
  const echo = await listening(createServer(socket => socket.on('error', () => undefined).pipe(socket)));
  const ports = await freePorts(2);
  const addresses = new Map([
    ['127.0.0.1:9000', `127.0.0.1:${upstream.port}`],
    ['127.0.0.1:9001', `127.0.0.1:${second.port}`],
    ['127.0.0.1:9100', new URL(partner.url).host],
    ['127.0.0.1:9200', `127.0.0.1:${echo.port}`],
    ['localhost:9443', `localhost:${bank.port}`],
    ['9300', String(ports[0])],
    ['9301', String(ports[1])],
  ]);
  const base = {
    'gateway.trusted_proxies': '127.0.0.0/8',
    'gateway.extra_ports': ports.join(','),
    'gateway.tls.certificate_file': files.cert,
    'gateway.tls.key_file': files.key,
    'secrets.values': JSON.stringify({ geocoding_key: 'a-key-of-the-operator' }),
    'uptime.interval_ms': '60',
    'uptime.failures': '1',
  };
  return {
    ...{ upstream, second, partner, secure, authority, addresses },
    client: makeClientCertificate(authority, 'A clinic'),
    own: makeCertificate({ cn: 'The gateway' }),
    issuer: rsaPair(),
    start: settings => startApp('sqlite', { settings: { ...base, ...settings } }),
    async close() {
      for (const it of [upstream, second, partner, bank, echo]) await it.close();
      rmSync(directory, { recursive: true });
    },
  };
}

export function placeOf(around: Surroundings, app: TestApp): Place {
  async function manage(method: string, path: string, body?: unknown) {
    const { status, text, body: given } = await app.ask(method, path, { body });
    assert.equal(status, 200, `${method} ${path}: ${text}`);
    await waitUntilApplied(app);
    return given;
  }
  const rightsTo = (apiId: string) => ({ [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'] } });
  return {
    ...around,
    app,
    manage,
    async key(apiId, more = {}) {
      const { key } = await manage('POST', '/gw/keys', { access_rights: rightsTo(apiId), ...more });
      rememberSecrets({ key });
      return key;
    },
    policy: (id, apiId) => manage('POST', '/gw/policies', { id, rate: 1000, per: 60, access_rights: rightsTo(apiId) }),
    certificate: async pem => (await manage('POST', '/api/certs', pem)).id,
  };
}

async function listening(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** All at once, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listening(createServer())));
  await Promise.all(servers.map(server => server.close()));
  return servers.map(({ port }) => port);
}
