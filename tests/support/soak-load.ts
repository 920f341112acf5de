import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/**
 * Load of a soak: an upstream, and clients that send mixed requests through the gateway. A process of its own, so that
 * memory and file descriptors of the gateway are those of the gateway.
 */
export interface SoakTargets {
  /** Every request is answered completely. */
  readonly steady: string;
  /** The same behind a token. */
  readonly guarded: string;
  /** Clients and upstream end requests before their time. */
  readonly rough: string;
  readonly token: string;
  readonly clients: number;
}

export type ApiName = 'steady' | 'guarded' | 'rough';

/** Requests that clients sent completely, and that the upstream received. */
export interface SoakCounts {
  readonly sent: Record<ApiName, number>;
  readonly received: Record<ApiName, number>;
  /** Responses that were not as expected, by text. */
  readonly faults: string[];
}

const sent: Record<ApiName, number> = { steady: 0, guarded: 0, rough: 0 };
const received: Record<ApiName, number> = { steady: 0, guarded: 0, rough: 0 };
const faults: string[] = [];
const maxFaults = 20;

const small = Buffer.alloc(130, 'a');
const upload = Buffer.alloc(10_240, 'b');
const large = Buffer.alloc(102_400, 'c');
const huge = Buffer.alloc(1_048_576, 'd');
const bodies: Readonly<Record<string, Buffer>> = { small, large, huge };

const fail = (fault: string) => void (faults.length < maxFaults && faults.push(fault));

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  const [, api, size] = incoming.url!.split('/') as [string, ApiName, string];
  received[api]++;
  incoming.resume();
  if (size === 'cut') {
    response.writeHead(200, { 'content-length': large.length });
    response.write(large.subarray(0, 1000), () => response.destroy());
    return;
  }
  // The client leaves before the response.
  if (size === 'never') return;
  const body = bodies[size] ?? small;
  incoming.once('end', () => {
    if (size === 'chunked') {
      response.write(small);
      response.end(small);
    } else response.writeHead(200, { 'content-length': body.length }).end(body);
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function send(
  url: string,
  api: ApiName,
  options: { method?: string; token?: string; chunks?: Buffer[]; size: number },
) {
  const { method = 'GET', token, chunks = [], size } = options;
  const done = Promise.withResolvers<void>();
  const headers = { ...(token ? { authorization: token } : {}), ...lengthOf(chunks) };
  sent[api]++;
  const outgoing = request(url, { method, headers, agent }, response => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.once('end', () => {
      if (response.statusCode !== 200 || bytes !== size)
        fail(`${method} ${url}: ${response.statusCode}, ${bytes} bytes`);
      done.resolve();
    });
    response.once('error', error => done.resolve(fail(`${method} ${url}: ${error.message}`)));
  });
  outgoing.once('error', error => done.resolve(fail(`${method} ${url}: ${error.message}`)));
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
  return done.promise;
}

/** One chunk has a length, more are chunked. */
const lengthOf = (chunks: readonly Buffer[]) =>
  chunks.length === 1 ? { 'content-length': String(chunks[0]!.length) } : {};

async function open(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const formatHead = ({ pathname }: URL, close = false) =>
  `GET ${pathname} HTTP/1.1\r\nHost: soak\r\n${close ? 'Connection: close\r\n' : ''}\r\n`;

const pipelinedRequests = 8;

async function pipeline(url: URL): Promise<void> {
  const socket = await open(url);
  let text = '';
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
  });
  sent.steady += pipelinedRequests;
  socket.write(formatHead(url).repeat(pipelinedRequests - 1) + formatHead(url, true));
  await once(socket, 'close');
  const found = text.match(/HTTP\/1\.1 200 OK/g)?.length ?? 0;
  if (found !== pipelinedRequests) fail(`pipelined: ${found} responses`);
}

/** Reads a response in small portions, with pauses. */
async function readSlowly(url: URL): Promise<void> {
  const socket = await open(url);
  let bytes = 0;
  sent.steady++;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  socket.write(formatHead(url, true));
  await once(socket, 'close');
  if (bytes < huge.length) fail(`slow reader: ${bytes} bytes`);
}

/** Sends a request and leaves: before the response, or in the middle of it. */
async function leave(url: URL, isReset: boolean): Promise<void> {
  const socket = await open(url);
  const closed = once(socket, 'close');
  sent.rough++;
  const written = new Promise<void>(resolve => void socket.write(formatHead(url), () => resolve()));
  // What is written before a FIN arrives; a reset could lose it, unless the response has begun.
  await (url.pathname.endsWith('never') ? written : once(socket, 'data'));
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

async function readCut(url: URL): Promise<void> {
  const socket = await open(url);
  sent.rough++;
  socket.write(formatHead(url, true));
  socket.resume();
  await once(socket, 'close');
}

const kinds: readonly ((targets: SoakTargets) => Promise<void>)[] = [
  ({ steady }) => send(`${steady}/small`, 'steady', { size: small.length }),
  ({ guarded, token }) => send(`${guarded}/small`, 'guarded', { token, size: small.length }),
  ({ steady }) => send(`${steady}/small`, 'steady', { method: 'POST', chunks: [upload], size: small.length }),
  ({ steady }) => send(`${steady}/small`, 'steady', { method: 'POST', chunks: [upload, upload], size: small.length }),
  ({ steady }) => send(`${steady}/chunked`, 'steady', { size: 2 * small.length }),
  ({ steady }) => send(`${steady}/small`, 'steady', { method: 'HEAD', size: 0 }),
  ({ steady }) => send(`${steady}/large`, 'steady', { size: large.length }),
  ({ steady }) => pipeline(new URL(`${steady}/small`)),
  ({ steady }) => readSlowly(new URL(`${steady}/huge`)),
  ({ rough }) => leave(new URL(`${rough}/huge`), false),
  ({ rough }) => leave(new URL(`${rough}/huge`), true),
  ({ rough }) => leave(new URL(`${rough}/never`), false),
  ({ rough }) => readCut(new URL(`${rough}/cut`)),
];

async function run(targets: SoakTargets, isRunning: () => boolean, offset: number): Promise<void> {
  for (let i = offset; isRunning(); i++) await kinds[i % kinds.length]!(targets);
}

/** Process of the load: `start` with the targets, `stop` ends and reports. */
async function main(report: (message: object) => void): Promise<void> {
  // The gateway has ended.
  process.once('disconnect', () => process.exit());
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  report({ port: (server.address() as AddressInfo).port });
  const [targets] = (await once(process, 'message')) as [SoakTargets];
  let isRunning = true;
  process.once('message', () => {
    isRunning = false;
  });
  await Promise.all(Array.from({ length: targets.clients }, (_none, at) => run(targets, () => isRunning, at)));
  agent.destroy();
  server.close();
  server.closeAllConnections();
  report({ sent, received, faults } satisfies SoakCounts);
}

if (process.send) await main(message => void process.send!(message));
