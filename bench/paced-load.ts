import { connect, type Socket } from 'node:net';

/**
 * Sends requests at a fixed rate over keep-alive connections and prints the latencies: `paced-load.ts URL CONNECTIONS RATE
 * SECONDS HEADERS`. The schedule does not wait for responses, and a latency starts at the scheduled time: a stall of the
 * measured process counts for every request that was due meanwhile. Responses must have a `Content-Length`.
 */
const [address, connectionCount, rate, seconds, headerJson] = process.argv.slice(2);
const url = new URL(address!);
const perMs = Number(rate) / 1000;
const endMs = Number(seconds) * 1000;
const headerLines = Object.entries(JSON.parse(headerJson ?? '{}') as Record<string, string>)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const requestText = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${headerLines}\r\n`;

interface Connection {
  readonly socket: Socket;
  dueMs: number;
  received: string;
}

const idle: Connection[] = [];
const due: number[] = [];
const latenciesMs: number[] = [];
let failed = 0;

const connections = await Promise.all(Array.from({ length: Number(connectionCount) }, open));
idle.push(...connections);
const startMs = performance.now();
let sent = 0;
const timer = setInterval(() => {
  const elapsedMs = performance.now() - startMs;
  for (; sent < Math.min(elapsedMs, endMs) * perMs; sent++) due.push(startMs + sent / perMs);
  while (due.length > 0 && idle.length > 0) send(idle.pop()!, due.shift()!);
  if (elapsedMs > endMs && due.length === 0 && idle.length === connections.length) finish();
}, 1);

function open(): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    const connection: Connection = { socket, dueMs: 0, received: '' };
    socket.setNoDelay(true).setEncoding('latin1');
    socket.once('connect', () => resolve(connection)).on('error', reject);
    socket.on('data', (text: string) => receive(connection, text));
  });
}

function send(connection: Connection, dueMs: number): void {
  connection.dueMs = dueMs;
  connection.received = '';
  connection.socket.write(requestText);
}

function receive(connection: Connection, text: string): void {
  connection.received += text;
  const headEnd = connection.received.indexOf('\r\n\r\n');
  if (headEnd < 0) return;
  const length = Number(/content-length: (\d+)/i.exec(connection.received)?.[1]);
  if (connection.received.length < headEnd + 4 + length) return;
  if (!connection.received.startsWith('HTTP/1.1 200')) failed++;
  latenciesMs.push(performance.now() - connection.dueMs);
  idle.push(connection);
  if (due.length > 0) send(idle.pop()!, due.shift()!);
}

function finish(): void {
  clearInterval(timer);
  for (const { socket } of connections) socket.destroy();
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)];
  console.log(JSON.stringify({ requests: sorted.length, failed, p50Ms: at(0.5), p99Ms: at(0.99) }));
}
