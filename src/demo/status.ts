import { connect } from 'node:net';
import type { ReadableDirectory } from '#storage/data-directory.ts';
import { type DemoState, demoFile } from './state.ts';
import { toOrigin } from './upstream.ts';

/** Text of `gw demo`. */

const listeningFile = 'listening.json';

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function formatCall(url: string, { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {}) {
  const flags = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  if (body) flags.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`);
  return ['curl -sS', ...flags, url].join(' ');
}

/** A command for each API, with its description. */
function listSampleCommands({ keys, reporter }: DemoState, gateway: string): [string, string][] {
  const Authorization = keys[0]!.key;
  const headers = { Authorization };
  const toolCall = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listOrders', arguments: {} } };
  const tools = { ...headers, Accept: 'application/json, text/event-stream' };
  return [
    ['Orders: a key with a rate limit and a quota', formatCall(`${gateway}/shop/orders`, { headers })],
    ['Catalogue: open to all, cached', formatCall(`${gateway}/catalogue/products`)],
    ['Forecast: mock responses', formatCall(`${gateway}/weather/forecast/oslo`)],
    [
      'Bookshop: GraphQL',
      formatCall(`${gateway}/bookshop/`, { headers, body: { query: '{ books { title author { name } } }' } }),
    ],
    [
      'Payments: fails now and then, behind a timeout and a circuit breaker',
      formatCall(`${gateway}/payments/charges`, { headers, body: { amount: 9.5 } }),
    ],
    [
      'Reports: a user name and a password',
      `curl -sS -u ${quote(`${reporter.user}:${reporter.password}`)} ${gateway}/reports/sales`,
    ],
    [
      'Order tools: the operations of Orders for agents (MCP)',
      formatCall(`${gateway}/shop-tools/`, { headers: tools, body: toolCall }),
    ],
  ];
}

const readUrls = (directory: ReadableDirectory): Record<string, string | undefined> =>
  JSON.parse(directory.read(listeningFile) ?? '{}') as Record<string, string | undefined>;

const probeTimeoutMs = 2000;

/** True where the process accepts connections: a process that was killed leaves its file behind. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise(resolve => {
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port), timeout: probeTimeoutMs });
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  });
}

async function describeRun(path: string, { port }: DemoState, urls: Readonly<Record<string, string | undefined>>) {
  if (urls.gateway === undefined || !(await isListening(urls.gateway)))
    return `The demo in ${path} does not run: gw start --demo starts it`;
  if (!(await isListening(toOrigin(port))))
    return `The demo in ${path} has no upstream, and most of its APIs respond with 502: stop gw, then gw start --demo`;
  return `The demo in ${path} runs; its dashboard is ${urls.dashboard}, its portal ${urls.portal}`;
}

const describeDeveloper = ({ developer }: DemoState) =>
  developer ? [`A developer of the portal: ${developer.email}, password ${developer.password}`] : [];

/** Reads the copy of the state, without the lock of the data directory. */
export async function describeDemo(directory: ReadableDirectory, gatewayPort: number): Promise<string> {
  const text = directory.read(demoFile);
  if (text === undefined) return `There is no demo in ${directory.path}: gw start --demo creates one\n`;
  const state = JSON.parse(text) as DemoState;
  const urls = readUrls(directory);
  const commands = listSampleCommands(state, urls.gateway ?? `http://127.0.0.1:${gatewayPort}`);
  const width = Math.max(...state.keys.map(({ alias }) => alias.length));
  const keys = state.keys.map(({ alias, policy, key }) => `  ${alias.padEnd(width)}  ${policy.padEnd(11)}  ${key}`);
  return [
    await describeRun(directory.path, state, urls),
    'Its APIs:',
    ...commands.map(([about, command]) => `  # ${about}\n  ${command}`),
    `Keys:\n${keys.join('\n')}`,
    `A user of the dashboard who can only read: ${state.analyst.email}, password ${state.analyst.password}`,
    ...describeDeveloper(state),
    'To remove it: stop gw, then gw demo --remove',
  ]
    .map(part => `${part}\n`)
    .join('\n');
}
