import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBenchServices } from '../tools/services.ts';
import { type BenchGateway, startGateway } from './gateway.ts';
import { type Latency, measureLatency } from './load.ts';
import { createCertificate, startUpstream } from './nginx.ts';

/**
 * Latency of a keyless API alone, beside an API with a harmless plugin, and beside one with a hostile plugin, in
 * alternating rounds of one process. The harmless plugin takes as much of the processor as the hostile one: one that
 * computes as long as its worker lets it, or one whose calls are short. The ratio to it is the harm of the attack; the
 * ratio to the API alone has the cost of the load. Clients of the plugins send their next request when the last one
 * ended; the keyless API gets requests at a fixed rate. The gateway has all cores, as its plugin workers would anywhere,
 * and shares them with load generator and upstream.
 */
const allCores = '0,1';
const otherCores = '1';
const requestsPerSecond = 500;
const connections = 16;
const attackers = 4;
const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const upstreamPorts = { plain: 18_096, tls: 18_097 };
const ports = { gateway: 18_100, dashboard: 18_101, portal: 18_102 };

/** Harmless plugins: bodies of a pre hook. */
const harmless = {
  computes: 'let n = 0; for (let i = 0; i < 5e5; i++) n += i % 7; request.SetHeaders.n = String(n);',
  short: "request.SetHeaders['X-Plugin'] = 'yes';",
} as const;

interface Attack {
  readonly body: string;
  /** Plugin that takes as much of the processor. */
  readonly like: keyof typeof harmless;
}

const attacks: Readonly<Record<string, Attack>> = {
  'none, sets a header': { body: harmless.short, like: 'short' },
  'none, computes': { body: harmless.computes, like: 'computes' },
  'endless loop': { body: 'for (;;);', like: 'computes' },
  'endless loop in every 50th call': { body: "if (request.Headers['X-Attack']) for (;;);", like: 'short' },
  'loop in native code': { body: '[].reverse.call({ length: 2 ** 40 });', like: 'computes' },
  'endless recursion': { body: 'const f = () => f() + 1; f();', like: 'short' },
  'memory bomb': { body: 'const a = []; for (;;) a.push(new Array(1e5).fill(1));', like: 'computes' },
  'answer of 100 MB': { body: "request.Body = 'x'.repeat(1e8);", like: 'short' },
  'regular expression with backtracking': { body: "/^(a+)+$/.test('a'.repeat(60) + 'b');", like: 'computes' },
  'leak of 100 kB a call': { body: "globalThis.kept = 'x'.repeat(1e5) + Math.random();", like: 'short' },
};
/** Calls of a client from one with the header of attacks to the next. */
const callsPerAttack = 50;
const nameParts = process.argv.slice(2);

const encodeHook = (body: string) =>
  Buffer.from(`const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request) { ${body} return mw.ReturnData(request, {}); });`).toString('base64');

async function createApi(gateway: BenchGateway, id: string, members: Record<string, unknown> = {}): Promise<string> {
  const definition = {
    api_id: id,
    name: id,
    active: true,
    use_keyless: true,
    do_not_track: true,
    proxy: { listen_path: `/${id}`, target_url: `http://127.0.0.1:${upstreamPorts.plain}`, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...members,
  };
  const { status, body } = await gateway.send('POST', '/api/apis', { api_definition: definition });
  if (status !== 200) throw new Error(`${id}: ${JSON.stringify(body)}`);
  return `${gateway.url}/${id}/small`;
}

/** Clients of an API with a plugin; `stop` returns how many requests ended. */
function startClients(url: string): { stop(): Promise<number> } {
  let isStopped = false;
  const run = async () => {
    let count = 0;
    for (; !isStopped; count++) {
      const headers: Record<string, string> = count % callsPerAttack === 0 ? { 'x-attack': '1' } : {};
      await (await fetch(url, { headers })).arrayBuffer();
    }
    return count;
  };
  const clients = Array.from({ length: attackers }, run);
  return {
    async stop() {
      isStopped = true;
      return (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    },
  };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const quarter = (values: readonly number[], at: 1 | 3): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length * at) / 4)]!;

/** Latency of the keyless API, and processor time of the gateway in cores, while clients call an API with a plugin. */
interface Measured extends Latency {
  readonly cores: number;
  readonly calls: number;
}

async function compare(gateway: BenchGateway, open: string, name: string, like: string, hostile: string) {
  async function measure(url = ''): Promise<Measured> {
    const clients = url === '' ? undefined : startClients(url);
    const before = gateway.cpuMicros();
    const latency = await measureLatency({ url: open, connections }, requestsPerSecond, seconds, otherCores);
    const cores = (gateway.cpuMicros() - before) / 1e6 / seconds;
    return { ...latency, cores, calls: (await clients?.stop()) ?? 0 };
  }
  const measured: { alone: Measured; harmless: Measured; hostile: Measured }[] = [];
  for (let round = 0; round < rounds; round++)
    measured.push({ alone: await measure(), harmless: await measure(like), hostile: await measure(hostile) });
  const of = (pick: (it: (typeof measured)[number]) => number) => median(measured.map(pick));
  const ratios = measured.map(it => it.hostile.p99Ms / it.harmless.p99Ms);
  const failed = measured.reduce((sum, it) => sum + it.alone.failed + it.harmless.failed + it.hostile.failed, 0);
  const cells = [
    name,
    of(it => it.hostile.calls),
    ...[of(it => it.harmless.cores), of(it => it.hostile.cores)].map(it => it.toFixed(2)),
    ...[of(it => it.alone.p99Ms), of(it => it.harmless.p99Ms), of(it => it.hostile.p99Ms)].map(it => it.toFixed(1)),
    `${median(ratios).toFixed(2)} (${quarter(ratios, 1).toFixed(2)} to ${quarter(ratios, 3).toFixed(2)})`,
    of(it => it.hostile.p99Ms / it.alone.p99Ms).toFixed(2),
    failed,
    Math.round(gateway.memoryBytes() / 1_048_576),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

await ensureBenchServices();
const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
createCertificate(directory);
const upstream = await startUpstream(directory, upstreamPorts, otherCores);
// Without a warning for each attack.
const settings = { GW_PLUGINS_TIMEOUT_MS: '1000', GW_LOG_LEVEL: 'error' };
const gateway = await startGateway(join(directory, 'data'), ports, allCores, 1, settings);
try {
  const open = await createApi(gateway, 'open');
  const publish = (id: string, body: string) => {
    const custom_middleware = { driver: 'javascript', pre: [{ name: 'mw', path: '', code: encodeHook(body) }] };
    return createApi(gateway, id, { custom_middleware });
  };
  const likes = {
    computes: await publish('computes', harmless.computes),
    short: await publish('short', harmless.short),
  };
  console.log(
    '| attack | calls | cores harmless | cores hostile | p99 alone | p99 harmless | p99 hostile | hostile to harmless | hostile to alone | failed | MiB after |',
  );
  console.log(`|${'---|'.repeat(11)}`);
  for (const [i, [name, { body, like }]] of Object.entries(attacks).entries()) {
    if (nameParts.length > 0 && !nameParts.some(part => name.includes(part))) continue;
    const hostile = await publish(`hook${i}`, body);
    await gateway.waitUntilServed();
    await measureLatency({ url: open, connections }, requestsPerSecond, 2, otherCores);
    await compare(gateway, open, name, likes[like], hostile);
  }
} finally {
  await Promise.all([upstream.stop(), gateway.stop()]);
  rmSync(directory, { recursive: true, force: true });
}
