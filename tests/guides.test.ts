import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { walkOf } from './support/doc-commands.ts';
import { answerGraphql } from './support/graphql-upstream.ts';
import { startKafkaCluster } from './support/kafka-cluster.ts';
import { startMcpServer } from './support/mcp-server.ts';
import { dashboardUrl, type OidcProvider, oidcClient, startOidcProvider, walkToCallback } from './support/oidc.ts';
import { freePort } from './support/services/server.ts';
import { startUpstream } from './support/upstream.ts';
import { type Echo, startEcho } from './support/websocket-echo.ts';

/** Guides whose commands run in order against one product; each has its own APIs. */
describe('Guides to authentication and protocols', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-guides-'));
  const authority = makeAuthority();
  const files = { ca: join(directory, 'ca.pem'), cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  let app: TestApp;
  let tlsPort: number;
  let provider: OidcProvider;
  let echo: Echo;
  let greeter: Greeter;

  before(async () => {
    const own = makeServerCertificate(authority);
    writeFileSync(files.ca, authority.certPem);
    writeFileSync(files.cert, own.chainPem);
    writeFileSync(files.key, own.keyPem);
    tlsPort = await freePort();
    [provider, echo, greeter] = await Promise.all([startOidcProvider(), startEcho(), startGreeter()]);
    echo.respond = sendEvents;
    app = await startApp('sqlite', {
      settings: {
        'gateway.extra_ports': String(tlsPort),
        'gateway.tls.certificate_file': files.cert,
        'gateway.tls.key_file': files.key,
      },
    });
  });
  after(async () => {
    await app?.close();
    await Promise.all([provider?.close(), echo?.close(), greeter?.close()]);
    rmSync(directory, { recursive: true });
  });

  /** Runs a page; `promises` is the least number of responses that it shows. */
  async function runGuide(page: string, promises: number, more: Readonly<Record<string, string>> = {}) {
    const guide = walkOf(`docs/guide/${page}.md`);
    assert.ok(guide.promised.length >= promises, String(guide.promised.length));
    await guide.run({ DASHBOARD: app.url.dashboard, GATEWAY: app.url.gateway, DATA: app.directory, ...more });
  }

  for (const [page, promises] of [
    ['auth-keys', 17],
    ['auth-basic', 19],
    ['auth-hmac', 17],
    ['auth-several', 18],
  ] as const)
    test(`${page}.md works as documented`, () => runGuide(page, promises));

  test('auth-jwt.md works as documented', async () => {
    await runGuide('auth-jwt', 25, { ISSUER_PORT: String(await freePort()) });
  });

  test('auth-oidc.md works as documented, with tokens of oidc-provider', async () => {
    const ID_TOKEN = await signIn(app, provider);
    await runGuide('auth-oidc', 15, { ISSUER: provider.issuer, CLIENT_ID: oidcClient.id, ID_TOKEN });
  });

  test('auth-client-certificates.md works as documented', async () => {
    await runGuide('auth-client-certificates', 18, { TLS_PORT: String(tlsPort), SERVER_CERT: files.ca });
  });

  test('websocket-sse.md works as documented', async () => {
    await runGuide('websocket-sse', 11, { UPSTREAM: `http://127.0.0.1:${echo.port}` });
  });

  test('graphql.md works as documented', async () => {
    const upstream = await startUpstream();
    answerGraphql(upstream);
    try {
      await runGuide('graphql', 14, { UPSTREAM: upstream.url });
    } finally {
      await upstream.close();
    }
  });

  test('mcp.md works as documented, with the server of the MCP SDK', async () => {
    const server = await startMcpServer();
    try {
      await runGuide('mcp', 8, { UPSTREAM: server.url });
    } finally {
      await server.close();
    }
  });

  test('graphql-data-graph.md works as documented', async () => {
    const [upstream, cluster] = await Promise.all([startUpstream(), startKafkaCluster()]);
    upstream.answer = answerShop;
    try {
      await runGuide('graphql-data-graph', 11, { UPSTREAM: upstream.url, KAFKA: cluster.addresses[0]! });
    } finally {
      await Promise.all([upstream.close(), cluster.close()]);
    }
  });

  test('graphql-federation.md works as documented', async () => {
    const upstream = await startUpstream();
    upstream.answer = answerReading;
    try {
      await runGuide('graphql-federation', 4, { UPSTREAM: upstream.url });
    } finally {
      await upstream.close();
    }
  });

  for (const [page, promises] of [
    ['portal-owners', 9],
    ['portal-themes', 9],
  ] as const)
    test(`${page}.md works as documented`, () => runGuide(page, promises, { PORTAL: app.url.portal }));

  test('grpc.md works as documented', () => runGuide('grpc', 8, { SERVICE: greeter.url }));
});

/** The two services behind the data graph of its guide. */
function answerShop({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (url.startsWith('/events')) {
    const events = ['12', '13'].map(id => `event: next\ndata: {"data":{"placed":{"id":"${id}"}}}\n\n`);
    return void response.setHeader('content-type', 'text/event-stream').end(`${events.join('')}event: complete\n\n`);
  }
  const [, collection, id] = url.split('/');
  const reply = (value: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  if (collection === 'customers') reply({ customer: { id, name: 'Ann' } });
  else if (id === '12') reply({ id, customer_id: 7, total: 30 });
  else response.writeHead(404).end('{}');
}

describe('Pages', () => {
  const root = join(import.meta.dirname, '..');
  const read = (page: string) => readFileSync(join(root, page), 'utf8');
  const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

  /** Anchors as GitHub derives them from headings. */
  const listAnchors = (text: string) =>
    [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );

  test('links lead to files and headings that exist', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      ...globSync('docs/{guide,decisions}/*.md', { cwd: root }),
    ];
    for (const page of pages)
      for (const [, path = '', anchor] of withoutCode(read(page)).matchAll(
        /\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g,
      )) {
        const target = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(root, target)), `${page} links to ${path}`);
        if (anchor) assert.ok(listAnchors(read(target)).includes(anchor), `${page} links to ${path}#${anchor}`);
      }
  });

  test('every guide is in the index, and every page of the reference for readers', () => {
    const index = read('docs/guide/README.md');
    const guides = globSync('docs/guide/*.md', { cwd: root }).map(page => page.split('/').at(-1)!);
    const reference = ['settings', 'operations', 'definition', 'refusals', 'lint', 'not-enforced'];
    for (const link of [
      ...guides.filter(name => name !== 'README.md'),
      ...reference.map(name => `../reference/${name}.md`),
    ])
      assert.ok(index.includes(`(${link})`), link);
  });
});

/** The authorization code flow of an app, up to its ID token. */
async function signIn(app: TestApp, provider: OidcProvider): Promise<string> {
  const redirectUri = `${dashboardUrl}/back`;
  const verifier = 'a-code-verifier-of-at-least-forty-three-characters';
  provider.users.set('ann', { email: 'ann@example.org' });
  provider.account = 'ann';
  provider.serve(redirectUri);
  const parameters = new URLSearchParams({
    client_id: oidcClient.id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const code = new URL(await walkToCallback(app, `${provider.issuer}/auth?${parameters}`)).searchParams.get('code');
  const credentials = [oidcClient.id, oidcClient.secret].map(encodeURIComponent).join(':');
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(credentials)}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: code!,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  const { id_token } = (await response.json()) as { id_token: string };
  assert.ok(id_token);
  return id_token;
}

const eventIntervalMs = 20;

/** Server-sent events until the client disconnects. */
function sendEvents(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => response.write(`data: ${++sent}\n\n`), eventIntervalMs);
  response.once('close', () => clearInterval(timer));
}

interface Greeter {
  readonly url: string;
  close(): Promise<void>;
}

/** A gRPC service in clear text: responds to every call with the message it got. */
async function startGreeter(): Promise<Greeter> {
  const server: Http2Server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', session => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.pipe(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `h2c://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The two subgraphs of the guide about federation, with the answers to its plan. */
function answerReading({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const titles = ['Emma', 'Dune'];
  const books = { books: titles.map((title, at) => ({ __typename: 'Book', id: String(at), title })) };
  const data = url === '/ratings' ? { _entities: [{ stars: 5 }, { stars: 4 }] } : books;
  const sdl =
    url === '/ratings'
      ? 'extend type Book @key(fields: "id") { id: ID! @external stars: Int }'
      : 'type Book @key(fields: "id") { id: ID! title: String pages: Int } type Query { books: [Book!]! }';
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { ...data, _service: { sdl } } }));
}
