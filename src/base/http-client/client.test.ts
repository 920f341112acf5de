import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { makeAuthority, makeClientCertificate, makeServerCertificate } from '../../../tests/support/certificates.ts';
import { createAddressPolicies } from '../address-policies.ts';
import { createOutboundClient, type OutboundClientOptions } from './client.ts';

type Cleanup = { after(work: () => unknown): void };

async function serve(t: Cleanup, answer: RequestListener, tls?: https.ServerOptions) {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    answer(request, response);
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, requests, connections: () => connections };
}

function clientOf(t: Cleanup, options: OutboundClientOptions = {}) {
  const client = createOutboundClient(options);
  t.after(() => client.close());
  return client;
}

const ok: RequestListener = (_request, response) => void response.end('fine');
const operator = { audience: 'operator' } as const;
const visitor = { audience: 'visitor' } as const;

test('an operator reaches a loopback server, with the method, headers and body given and nothing else', async t => {
  let body = '';
  const { origin, requests } = await serve(t, (request, response) => {
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => response.writeHead(201, { 'X-Seen': 'yes' }).end('made'));
  });
  const headers = { 'Content-Type': 'text/plain', Host: 'evil.example', 'Content-Length': '99', Connection: 'x-a' };
  const answer = await clientOf(t).fetch({
    url: `${origin}/a/b?c=d#e`,
    method: 'post',
    headers,
    body: 'hi',
    ...operator,
  });
  assert.deepEqual([answer.status, answer.headers['x-seen'], answer.body.toString(), body], [201, 'yes', 'made', 'hi']);
  const [seen] = requests;
  assert.deepEqual([seen?.method, seen?.url], ['POST', '/a/b?c=d']);
  const names = ['accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];
  assert.deepEqual(Object.keys(seen?.headers ?? {}).sort(), names);
  assert.deepEqual([seen?.headers.host, seen?.headers.connection], [origin.slice(7), 'keep-alive']);
});

test('a visitor reaches no loopback server, however the address is spelled', async t => {
  const server = await serve(t, ok);
  const client = clientOf(t, { resolve: async () => ['93.184.216.34', '127.0.0.1'] });
  const spellings = [
    ...['127.0.0.1', '127.0.0.1.', '127.0.0.1..', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1'],
    ...['0177.0.0.1', '017700000001', '127.000.000.001', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1'],
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['[2002:7f00:1::]', '0', '0.0.0.0', '[::]', 'mixed.example', 'LOCALHOST', 'localhost.'],
  ];
  for (const host of spellings)
    await assert.rejects(
      client.fetch({ url: `http://${host}:${server.port}/`, ...visitor }),
      { code: 'outbound.refused' },
      host,
    );
  assert.equal(server.connections(), 0);
});

test('metadata and link-local addresses are refused to every audience, whatever the rules', async t => {
  const rules = { local: true, origins: ['http://169.254.169.254', 'http://metadata.google.internal'] };
  const resolve = async (host: string) => [host === 'sneaky.example' ? 'fd00:ec2::254' : '93.184.216.34'];
  const client = clientOf(t, { rules: { operator: rules, visitor: rules }, resolve });
  const hosts = [
    ...['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '100.100.100.200', '0.0.0.0'],
    ...[
      'metadata.google.internal',
      'METADATA.google.internal.',
      'sneaky.example',
      '[fe80::1]',
      '224.0.0.1',
      '[ff02::1]',
    ],
  ];
  for (const audience of ['operator', 'visitor'] as const)
    for (const host of hosts)
      await assert.rejects(client.fetch({ url: `http://${host}/`, audience }), /not allowed/, host);
});

test('rules can open local networks to visitors, close them to operators, or open one origin alone', async t => {
  const one = await serve(t, ok);
  const other = await serve(t, ok);
  const turned = clientOf(t, { rules: { visitor: { allowsLocal: true }, operator: { allowsLocal: false } } });
  assert.equal((await turned.fetch({ url: one.origin, ...visitor })).status, 200);
  await assert.rejects(turned.fetch({ url: one.origin, ...operator }), { code: 'outbound.refused_address' });
  const narrow = clientOf(t, { rules: { visitor: { origins: [one.origin] } } });
  assert.equal((await narrow.fetch({ url: one.origin, ...visitor })).status, 200);
  await assert.rejects(narrow.fetch({ url: other.origin, ...visitor }), { code: 'outbound.refused' });
});

test('a name is resolved once a request, and the connection goes to the checked address even if the name changed', async t => {
  const { port } = await serve(t, ok);
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [asked.length === 1 ? '127.0.0.1' : '169.254.169.254'];
  };
  const client = clientOf(t, { resolve });
  const url = `http://rebind.example:${port}/`;
  assert.equal((await client.fetch({ url, ...operator })).body.toString(), 'fine');
  assert.deepEqual(asked, ['rebind.example']);
  await assert.rejects(client.fetch({ url, ...operator }), { code: 'outbound.refused_address' });
  assert.equal(asked.length, 2);
});

test('an unknown name is reported to an operator, and looks like a refused one to a visitor', async t => {
  const client = clientOf(t, {
    resolve: async host => (host === 'inside.example' ? ['10.0.0.1'] : Promise.reject(new Error('ENOTFOUND'))),
  });
  await assert.rejects(client.fetch({ url: 'http://nowhere.example/', ...operator }), {
    code: 'outbound.unknown_host',
  });
  for (const host of ['nowhere.example', 'inside.example'])
    await assert.rejects(client.fetch({ url: `http://${host}/`, ...visitor }), {
      code: 'outbound.refused',
      message: `The host ${host} cannot be resolved, or requests to it are not allowed`,
    });
});

test('only plain http and https URLs and ordinary methods are called', async t => {
  const client = clientOf(t);
  const codes = {
    'file:///etc/passwd': 'bad_scheme',
    'gopher://127.0.0.1/': 'bad_scheme',
    'ws://127.0.0.1/': 'bad_scheme',
    'http://user:secret@127.0.0.1/': 'credentials_in_url',
    'http://user@127.0.0.1/': 'credentials_in_url',
    '/relative': 'bad_url',
    '': 'bad_url',
    'http://': 'bad_url',
    'http://[::1%25eth0]/': 'bad_url',
    [`http://a.example/${'x'.repeat(9000)}`]: 'bad_url',
  };
  for (const [url, code] of Object.entries(codes))
    await assert.rejects(client.fetch({ url, ...operator }), { code: `outbound.${code}` }, url);
  for (const method of ['CONNECT', 'TRACE', 'GET / HTTP/1.1\r\nX: y'])
    await assert.rejects(client.fetch({ url: 'http://127.0.0.1/', method, ...operator }), {
      code: 'outbound.bad_method',
    });
  const headers = { 'x-a': 'b\r\nx-c: d' };
  await assert.rejects(client.fetch({ url: 'http://127.0.0.1/', headers, ...operator }), {
    code: 'outbound.bad_request',
  });
});

test('a redirect is returned unless the caller follows redirects', async t => {
  const { origin, requests } = await serve(
    t,
    (_request, response) => void response.writeHead(302, { location: '/next' }).end(),
  );
  const answer = await clientOf(t).fetch({ url: origin, ...operator });
  assert.deepEqual([answer.status, answer.headers.location, requests.length], [302, '/next', 1]);
});

test('a followed redirect is checked like the first URL, and bounded', async t => {
  const places = new Map([
    ['/ok', '/end'],
    ['/loop', '/loop'],
    ['/metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['/file', 'file:///etc/passwd'],
    ['/login', 'http://user:pass@127.0.0.1/'],
    ['/broken', 'http://['],
  ]);
  const { origin } = await serve(t, (request, response) => {
    const location = places.get(request.url ?? '');
    response.writeHead(location ? 302 : 200, location ? { location } : {}).end(request.url);
  });
  const client = clientOf(t, { rules: { visitor: { origins: [origin] } } });
  const follow = (path: string) => client.fetch({ url: origin + path, maxRedirects: 3, ...operator });
  assert.equal((await follow('/ok')).body.toString(), '/end');
  await assert.rejects(follow('/loop'), { code: 'outbound.too_many_redirects' });
  await assert.rejects(follow('/metadata'), { code: 'outbound.refused_address' });
  await assert.rejects(follow('/file'), { code: 'outbound.bad_scheme' });
  await assert.rejects(follow('/login'), { code: 'outbound.credentials_in_url' });
  await assert.rejects(follow('/broken'), { code: 'outbound.refused_redirect' });
  const other = await serve(t, ok);
  places.set('/other', other.origin);
  await assert.rejects(client.fetch({ url: `${origin}/other`, maxRedirects: 1, ...visitor }), {
    code: 'outbound.refused',
  });
  assert.equal(other.connections(), 0);
});

test('credentials and bodies stay with the origin they were meant for', async t => {
  const other = await serve(t, ok);
  const first = await serve(t, (request, response) => {
    const kept = request.url === '/kept';
    response.writeHead(kept ? 307 : 302, { location: other.origin }).end();
  });
  const client = clientOf(t);
  const secrets = { Authorization: 'Bearer canary', Cookie: 'a=canary', 'X-Api-Key': 'canary', Accept: 'text/plain' };
  const call = { method: 'POST', headers: secrets, body: 'client_secret=canary', maxRedirects: 1, ...operator };
  assert.equal((await client.fetch({ url: first.origin, ...call })).status, 200);
  const [seen] = other.requests;
  assert.equal(seen?.method, 'GET');
  assert.equal(seen?.headers.accept, 'text/plain');
  assert.doesNotMatch(JSON.stringify(seen?.rawHeaders), /canary/);
  await assert.rejects(client.fetch({ url: `${first.origin}/kept`, ...call }), { code: 'outbound.refused_redirect' });
  assert.equal(other.requests.length, 1);
});

test('a response is bounded in bytes, with or without Content-Length, and when decoded', async t => {
  const bomb = gzipSync(Buffer.alloc(1024 * 1024));
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/fits': response => void response.end('x'.repeat(2000)),
    '/stated': response => void response.end('x'.repeat(2001)),
    '/endless': response => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1000)));
      };
      response.on('drain', more);
      more();
    },
    '/bomb': response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    '/folded': response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('small')),
    '/liar': response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    '/odd': response => void response.writeHead(200, { 'content-encoding': 'constructor' }).end('as it is'),
    '/headers': response => void response.writeHead(200, { 'x-long': 'x'.repeat(40_000) }).end(),
  };
  const { origin } = await serve(t, (request, response) => answers[request.url ?? '']?.(response));
  const client = clientOf(t, { maxBytes: 2000 });
  const get = (path: string) => client.fetch({ url: origin + path, ...operator });
  assert.equal((await get('/fits')).body.length, 2000);
  for (const path of ['/stated', '/endless', '/bomb'])
    await assert.rejects(get(path), { code: 'outbound.too_large', status: 502 }, path);
  const folded = await get('/folded');
  assert.deepEqual([folded.body.toString(), folded.headers['content-encoding']], ['small', undefined]);
  await assert.rejects(get('/liar'), { code: 'outbound.undecodable' });
  assert.equal((await get('/odd')).body.toString(), 'as it is');
  await assert.rejects(get('/headers'), { code: 'outbound.unreachable' });
});

test('a request times out while DNS, the response or its body is pending', async t => {
  const { origin, requests } = await serve(t, (request, response) => {
    if (request.url === '/body') response.write('first of many');
  });
  const client = clientOf(t, { resolve: () => new Promise(() => undefined) });
  for (const url of ['http://slow-name.example/', `${origin}/answer`, `${origin}/body`])
    await assert.rejects(client.fetch({ url, timeoutMs: 50, ...operator }), {
      code: 'outbound.timed_out',
      status: 504,
    });
  // Not `once` of node:events: it rejects when the reset of the connection comes as an error before the close.
  await Promise.all(
    requests.map(({ socket }) => socket.destroyed || new Promise(resolve => socket.once('close', resolve))),
  );
});

test('a caller can abort, and closing aborts requests in flight', async t => {
  const arrived = Promise.withResolvers<void>();
  const { origin } = await serve(t, () => arrived.resolve());
  const client = clientOf(t);
  const given = new AbortController();
  const call = client.fetch({ url: origin, signal: given.signal, ...operator });
  await arrived.promise;
  given.abort(new Error('changed my mind'));
  await assert.rejects(call, /changed my mind/);
  const second = client.fetch({ url: origin, ...operator });
  await Promise.all([assert.rejects(second, { code: 'outbound.closed' }), client.close()]);
  await assert.rejects(client.fetch({ url: origin, ...operator }), { code: 'outbound.closed' });
});

test('concurrent requests are bounded for each audience', async t => {
  const waiting: ServerResponse[] = [];
  const arrived = Promise.withResolvers<void>();
  const { origin } = await serve(t, (_request, response) => {
    waiting.push(response);
    arrived.resolve();
  });
  const client = clientOf(t, { maxConcurrent: 1, rules: { visitor: { allowsLocal: true } } });
  const first = client.fetch({ url: origin, ...visitor });
  await arrived.promise;
  await assert.rejects(client.fetch({ url: origin, ...visitor }), { code: 'outbound.too_busy' });
  const other = client.fetch({ url: origin, ...operator });
  await t.waitFor(() => assert.equal(waiting.length, 2));
  for (const response of waiting) response.end('done');
  assert.deepEqual(
    (await Promise.all([first, other])).map(answer => answer.status),
    [200, 200],
  );
});

test('a connection is reused for the same audience and never for the other', async t => {
  const server = await serve(t, ok);
  const client = clientOf(t, { rules: { visitor: { allowsLocal: true } } });
  for (const who of [operator, visitor, operator])
    for (let turn = 0; turn < 10; turn++) await client.fetch({ url: `${server.origin}/${who.audience}`, ...who });
  const portsOf = (path: string) =>
    new Set(server.requests.filter(request => request.url === path).map(request => request.socket.remotePort));
  assert.ok(server.connections() < 30);
  assert.deepEqual([...portsOf('/operator').intersection(portsOf('/visitor'))], []);
});

test('TLS is verified against the name in the URL, with client certificates where given', async t => {
  const authority = makeAuthority();
  const server = makeServerCertificate(authority, { cn: 'api.example', dnsNames: ['api.example'], ipAddresses: [] });
  const tls = { key: server.keyPem, cert: server.chainPem, ca: authority.certPem, requestCert: true };
  const { port, requests } = await serve(t, ok, { ...tls, rejectUnauthorized: false });
  const client = clientOf(t, { resolve: async () => ['127.0.0.1'] });
  const get = (host: string, extra: object) => client.fetch({ url: `https://${host}:${port}/`, ...operator, ...extra });
  const trust = { ca: authority.certPem };
  assert.equal((await get('api.example', { tls: trust })).status, 200);
  assert.equal((await get('api.example.', { tls: trust })).status, 200);
  await assert.rejects(get('api.example', {}), { code: 'outbound.unreachable' });
  await assert.rejects(get('other.example', { tls: trust }), { code: 'outbound.unreachable' });
  await assert.rejects(get('127.0.0.1', { tls: trust }), { code: 'outbound.unreachable' });
  assert.equal((await get('other.example', { tls: { insecure: true } })).status, 200);
  const { certPem: cert, keyPem: key } = makeClientCertificate(authority, 'Acme');
  let subject = '';
  const mutual = await serve(
    t,
    (request, response) => {
      subject = String((request.socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN);
      response.end();
    },
    { ...tls, rejectUnauthorized: true },
  );
  const call = { url: `https://api.example:${mutual.port}/`, ...operator };
  await client.fetch({ ...call, tls: { ...trust, cert, key } });
  assert.equal(subject, 'Acme');
  await assert.rejects(client.fetch({ ...call, tls: trust }), { code: 'outbound.unreachable' });
  assert.equal(requests.length, 3);
});

test('an unreachable host is reported with the reason', async t => {
  const { origin, port } = await serve(t, request => void request.socket.destroy());
  const client = clientOf(t, { resolve: async () => ['127.0.0.1', '::1'] });
  await assert.rejects(client.fetch({ url: origin, ...operator }), { code: 'outbound.unreachable' });
  await assert.rejects(client.fetch({ url: `https://secure.example:${port}`, ...operator }), { status: 502 });
  await assert.rejects(client.fetch({ url: 'http://closed.example:1/', ...operator }), /ECONNREFUSED/);
});

test('an organisation without internal networks gets the same error for internal and for unknown names', async t => {
  const client = clientOf(t, {
    addresses: createAddressPolicies({ refused: [], managementPorts: () => [] }),
    networksOf: async () => ['public'],
    async resolve(host) {
      if (host === 'internal.example') return ['10.0.0.1'];
      throw new Error('ENOTFOUND');
    },
  });
  for (const host of ['internal.example', 'unknown.example'])
    await assert.rejects(client.fetch({ url: `http://${host}/`, orgId: 'a', ...operator }), {
      code: 'outbound.refused',
      message: `The host ${host} cannot be resolved, or requests to it are not allowed`,
    });
  await assert.rejects(client.fetch({ url: 'http://unknown.example/', ...operator }), {
    code: 'outbound.unknown_host',
  });
});
