import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type ApiCounts, type ApiName, createApiCounts, huge, large, small } from './soak-upstream.ts';

export interface SoakTargets {
  readonly urls: Readonly<Record<ApiName, string>>;
  readonly token: string;
  readonly clients: number;
}

/** Requests whose head clients sent. */
export const sent: ApiCounts = createApiCounts();
/** Responses that were not as expected, by text. */
export const faults: string[] = [];
const maxFaults = 20;

export const addFault = (fault: string): void => void (faults.length < maxFaults && faults.push(fault));

const upload = Buffer.alloc(10_240, 'b');

export const agent = new Agent({ keepAlive: true, maxSockets: 16 });

interface SentRequest {
  readonly method?: string;
  readonly token?: string;
  /** One chunk has a length, more are chunked. */
  readonly chunks?: readonly Buffer[];
  readonly status?: number;
  /** Expected body: its size, or its text. */
  readonly body: number | string;
}

function send(url: string, api: ApiName, options: SentRequest): Promise<void> {
  const { method = 'GET', token, chunks = [], status = 200, body } = options;
  const done = Promise.withResolvers<void>();
  const headers = {
    ...(token ? { authorization: token } : {}),
    ...(chunks.length === 1 ? { 'content-length': String(chunks[0]!.length) } : {}),
  };
  sent[api]++;
  const outgoing = request(url, { method, headers, agent }, response => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => void parts.push(part));
    response.once('end', () => {
      const bytes = Buffer.concat(parts);
      if (response.statusCode !== status || (typeof body === 'number' ? bytes.length : bytes.toString()) !== body)
        addFault(`${method} ${url}: ${response.statusCode}, ${bytes.length} bytes`);
      done.resolve();
    });
    response.once('error', error => done.resolve(addFault(`${method} ${url}: ${error.message}`)));
  });
  outgoing.once('error', error => done.resolve(addFault(`${method} ${url}: ${error.message}`)));
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
  return done.promise;
}

async function open({ port, hostname }: URL): Promise<Socket> {
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const connected = once(socket, 'connect');
  socket.on('error', () => undefined);
  await connected;
  return socket;
}

/** First bytes of a response; empty when the gateway ends the connection without any. */
async function readFirst(socket: Socket): Promise<string> {
  const first = Promise.withResolvers<string>();
  socket.once('data', (chunk: Buffer) => first.resolve(chunk.toString('latin1')));
  for (const event of ['end', 'close']) socket.once(event, () => first.resolve(''));
  return first.promise;
}

const formatHead = (url: string, lines: readonly string[] = [], method = 'GET', version = '1.1') =>
  `${method} ${new URL(url).pathname} HTTP/${version}\r\nHost: soak\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`;

/** Collects what arrives until the gateway ends the connection, then ends it too. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  if (!socket.closed) await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  socket.destroy();
  return text;
}

const countResponses = (text: string) => text.match(/HTTP\/1\.1 200 OK/g)?.length ?? 0;

function checkResponses(kind: string, expected: number, text: string): void {
  if (countResponses(text) !== expected) addFault(`${kind}: ${countResponses(text)} responses: ${text.slice(0, 100)}`);
}

async function pipeline(url: string, count: number, paddingBytes: number): Promise<void> {
  const socket = await open(new URL(url));
  const padding = `X-Padding: ${'x'.repeat(paddingBytes)}`;
  sent.steady += count;
  socket.write(formatHead(url, [padding]).repeat(count - 1) + formatHead(url, [padding, 'Connection: close']));
  checkResponses('pipelined', count, await readAll(socket));
}

async function sendRaw(kind: string, url: string, text: string, isEnded: boolean): Promise<void> {
  const socket = await open(new URL(url));
  sent.steady++;
  if (isEnded) socket.end(text);
  else socket.write(text);
  checkResponses(kind, 1, await readAll(socket));
}

/** Reads a response in small portions, with pauses. */
async function readSlowly(url: string): Promise<void> {
  const socket = await open(new URL(url));
  let bytes = 0;
  sent.steady++;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  socket.write(formatHead(url, ['Connection: close']));
  await readAll(socket);
  if (bytes < huge.length) addFault(`slow reader: ${bytes} bytes`);
}

/** Sends the body after 100 Continue, in small portions with pauses. */
async function sendSlowly(url: string): Promise<void> {
  const socket = await open(new URL(url));
  const lines = ['Expect: 100-continue', `Content-Length: ${upload.length}`, 'Connection: close'];
  sent.steady++;
  socket.write(formatHead(url, lines, 'POST'));
  const interim = await readFirst(socket);
  if (!interim.startsWith('HTTP/1.1 100 ')) return addFault(`slow upload: no 100 Continue: ${interim}`);
  const rest = readAll(socket);
  for (let at = 0; at < upload.length; at += 1024) {
    socket.write(upload.subarray(at, at + 1024));
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  checkResponses('slow upload', 1, await rest);
}

/** Sends a request and leaves: before the response, or in the middle of it. */
async function leave(url: string, isReset: boolean): Promise<void> {
  const socket = await open(new URL(url));
  const closed = once(socket, 'close');
  sent.rough++;
  const written = new Promise<void>(resolve => void socket.write(formatHead(url), () => resolve()));
  // What is written before a FIN arrives; a reset could lose it, unless the response has begun.
  if (url.endsWith('never')) await written;
  else if ((await readFirst(socket)) === '') addFault('leave: no response');
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/** Begins an upload and leaves. A reset could lose the head, unless the gateway has responded to it. */
async function leaveUpload(url: string, sentBytes: number, isReset: boolean): Promise<void> {
  const socket = await open(new URL(url));
  const closed = once(socket, 'close');
  const lines = [`Content-Length: ${2 * huge.length}`, ...(isReset ? ['Expect: 100-continue'] : [])];
  sent.partial++;
  socket.write(formatHead(url, lines, 'POST'));
  if (isReset && (await readFirst(socket)) === '') addFault('reset in an upload: no 100 Continue');
  socket.resume();
  await new Promise<void>(resolve => void socket.write(huge.subarray(0, sentBytes), () => resolve()));
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

async function readUntilClose(url: string, method = 'GET', body = Buffer.alloc(0)): Promise<void> {
  const socket = await open(new URL(url));
  sent.rough++;
  socket.write(formatHead(url, [`Content-Length: ${body.length}`, 'Connection: close'], method));
  socket.write(body);
  await readAll(socket);
}

/** Sends a body that the gateway does not read: it refuses the request by its head. */
async function sendRefused(url: string): Promise<void> {
  const socket = await open(new URL(url));
  sent.refused++;
  socket.write(formatHead(url, [`Content-Length: ${large.length}`], 'POST'));
  socket.write(large);
  const text = await readAll(socket);
  if (!text.startsWith('HTTP/1.1 401 ')) addFault(`refused: ${text.slice(0, 100)}`);
}

/** Kinds of requests by name, in the order in which each client sends them. */
export const kinds: readonly (readonly [name: string, send: (targets: SoakTargets) => Promise<void>])[] = [
  ['small', ({ urls }) => send(`${urls.steady}/small`, 'steady', { body: small.length })],
  ['token', ({ urls, token }) => send(`${urls.guarded}/small`, 'guarded', { token, body: small.length })],
  ['upload', ({ urls }) => send(`${urls.steady}/count`, 'steady', { method: 'POST', chunks: [upload], body: '10240' })],
  [
    'chunked upload',
    ({ urls }) => send(`${urls.steady}/count`, 'steady', { method: 'PUT', chunks: [upload, upload], body: '20480' }),
  ],
  [
    'large upload',
    ({ urls }) => send(`${urls.steady}/count`, 'steady', { method: 'POST', chunks: [huge], body: '1048576' }),
  ],
  ['chunked response', ({ urls }) => send(`${urls.steady}/chunked`, 'steady', { body: 2 * small.length })],
  ['last response', ({ urls }) => send(`${urls.steady}/last`, 'steady', { body: small.length })],
  ['HEAD', ({ urls }) => send(`${urls.steady}/small`, 'steady', { method: 'HEAD', body: 0 })],
  ['large response', ({ urls }) => send(`${urls.steady}/large`, 'steady', { body: large.length })],
  ['refused', ({ urls }) => sendRefused(urls.refused)],
  ['pipelined', ({ urls }) => pipeline(`${urls.steady}/small`, 8, 0)],
  ['pipelined beyond the read-ahead', ({ urls }) => pipeline(`${urls.steady}/small`, 60, 2000)],
  [
    'HTTP/1.0',
    ({ urls }) => sendRaw('HTTP/1.0', urls.steady, formatHead(`${urls.steady}/chunked`, [], 'GET', '1.0'), false),
  ],
  ['half-close', ({ urls }) => sendRaw('half-close', urls.steady, formatHead(`${urls.steady}/large`), true)],
  ['slow reader', ({ urls }) => readSlowly(`${urls.steady}/huge`)],
  ['slow upload', ({ urls }) => sendSlowly(`${urls.steady}/small`)],
  ['leave in the response', ({ urls }) => leave(`${urls.rough}/huge`, false)],
  ['reset in the response', ({ urls }) => leave(`${urls.rough}/huge`, true)],
  ['leave before the response', ({ urls }) => leave(`${urls.rough}/never`, false)],
  ['leave in an upload', ({ urls }) => leaveUpload(`${urls.partial}/count`, 10_000, false)],
  ['reset in an upload', ({ urls }) => leaveUpload(`${urls.partial}/count`, 10_000, true)],
  ['leave in a large upload', ({ urls }) => leaveUpload(`${urls.partial}/count`, huge.length, false)],
  ['reset in a large upload', ({ urls }) => leaveUpload(`${urls.partial}/count`, huge.length, true)],
  ['cut response', ({ urls }) => readUntilClose(`${urls.rough}/cut`)],
  ['reset by the upstream', ({ urls }) => readUntilClose(`${urls.rough}/reset`)],
  ['upload reset by the upstream', ({ urls }) => readUntilClose(`${urls.rough}/reset`, 'POST', upload)],
  ['early response', ({ urls }) => readUntilClose(`${urls.rough}/early`, 'POST', huge)],
  ['idle connections of the upstream', ({ urls }) => readUntilClose(`${urls.rough}/small`)],
];
