import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBenchServices } from '../tools/services.ts';
import { type BenchGateway, startGateway } from './gateway.ts';
import { type Latency, type Load, measureLatency, measureThroughput, type Result } from './load.ts';
import { certificateFile, createCertificate, keyFile, startProxy, startUpstream } from './nginx.ts';
import { createScenarios, type Scenario } from './scenarios.ts';

/**
 * Benchmarks of the traffic path: each scenario against nginx, and against its baseline scenario. On a shared host the same
 * work costs twice as much a minute later: the compared processes therefore alternate within seconds, for many rounds, and
 * the result is the median of the ratios of all rounds. The measured process has the first core to itself, load generator
 * and upstream share the second.
 */
const gatewayCores = '0';
const otherCores = '1';
const connections = 32;
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const seconds = Number(process.env.BENCH_SECONDS ?? 2);
/** Time for V8 to optimize the functions of the traffic path. */
const warmUpSeconds = 10;
const upstreamPorts = { plain: 18_096, tls: 18_097 };
const proxyPorts = { plain: 18_098, tls: 18_099 };
const firstPort = 18_100;
/** Compares each scenario with itself on node:http and undici, instead of its baseline scenario. */
const comparesEngines = process.env.BENCH_ENGINES === '1';
/** Compares latencies of both engines at half the throughput of node:http and undici, instead of processor time. */
const comparesLatency = process.env.BENCH_HALF_LOAD === '1';
const nodeEngine = { GW_GATEWAY_HTTP1_ENGINE: 'node' };

/** A warm gateway and the load of its scenario. */
interface Contender {
  readonly gateway: BenchGateway;
  readonly load: Load;
  stop(): Promise<void>;
}

const nameParts = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
const all = createScenarios(directory);
/** Baseline scenarios, by name: they run until the end. */
const baselines = new Map<string, Contender>();
let startedGateways = 0;

await ensureBenchServices();
createCertificate(directory);
const upstream = await startUpstream(directory, upstreamPorts, otherCores);
const proxy = await startProxy(directory, proxyPorts, upstreamPorts, gatewayCores);
printHeader();
try {
  for (const scenario of all) {
    if (nameParts.length > 0 && !nameParts.some(part => scenario.name.includes(part))) continue;
    await (comparesLatency ? compareLatency(scenario) : compare(scenario));
  }
} finally {
  await Promise.all([upstream.stop(), proxy.stop(), ...[...baselines.values()].map(it => it.stop())]);
  rmSync(directory, { recursive: true, force: true });
}

async function compare(scenario: Scenario): Promise<void> {
  const base = comparesEngines ? await startContender(scenario, nodeEngine) : await findBaseline(scenario);
  const isBaseline = !comparesEngines && all.some(({ baseline }) => baseline === scenario.name);
  const contender = isBaseline ? await getBaseline(scenario.name) : await startContender(scenario);
  const nginxLoad: Load = {
    url: `${scenario.isTls ? `https://127.0.0.1:${proxyPorts.tls}` : `http://127.0.0.1:${proxyPorts.plain}`}${scenario.nginxPath}`,
    connections,
    ...(scenario.nginxScript === undefined ? {} : { script: scenario.nginxScript }),
  };
  const results: { it: Result; nginx: Result; base: Result | undefined }[] = [];
  for (let round = 0; round < rounds; round++) {
    const nginx = await measureThroughput(proxy, nginxLoad, 1, otherCores);
    const baseResult = base && (await measureThroughput(base.gateway, base.load, seconds, otherCores));
    const it = await measureThroughput(contender.gateway, contender.load, seconds, otherCores);
    results.push({ nginx, base: baseResult, it });
  }
  const cells = [
    scenario.name,
    median(results.map(({ it }) => it.cpuMicrosPerRequest)).toFixed(1),
    median(results.map(({ it }) => it.requestsPerSecond)).toFixed(0),
    median(results.map(({ it }) => it.p50Ms)).toFixed(2),
    median(results.map(({ it }) => it.p99Ms)).toFixed(2),
    median(results.map(({ nginx }) => nginx.cpuMicrosPerRequest)).toFixed(1),
    formatSpread(results.map(({ it, nginx }) => it.cpuMicrosPerRequest / nginx.cpuMicrosPerRequest)),
    base ? formatSpread(results.map(({ it, base: other }) => it.cpuMicrosPerRequest / other!.cpuMicrosPerRequest)) : '',
    base
      ? median(results.map(({ it, base: other }) => it.cpuMicrosPerRequest - other!.cpuMicrosPerRequest)).toFixed(1)
      : '',
    results.reduce((sum, { it }) => sum + it.failed, 0),
  ];
  console.log(`| ${cells.join(' | ')} |`);
  console.error(`  memory ${readMebibytes(contender)} MiB`);
  if (scenario.memoryRequests) await measureMemory(scenario.memoryRequests, contender);
  if (!isBaseline) await contender.stop();
  if (comparesEngines) await base!.stop();
}

function printHeader(): void {
  const columns = comparesLatency
    ? 'scenario | requests/s | direct p50 ms | p99 | nginx p50 | p99 | native p50 | p99 | node p50 | p99 | failed'
    : 'scenario | µs CPU per request | requests/s | p50 ms | p99 ms | nginx µs | ratio to nginx | cost | µs more | failed';
  console.log(`| ${columns} |`);
  console.log(`|${'---|'.repeat(columns.split('|').length)}`);
}

/** Compares latencies of direct requests to the upstream, through nginx and through both engines, alternating at one rate. */
async function compareLatency(scenario: Scenario): Promise<void> {
  const node = await startContender(scenario, nodeEngine);
  const native = await startContender(scenario);
  const direct = { url: `http://127.0.0.1:${upstreamPorts.plain}${scenario.nginxPath}`, connections };
  const viaNginx = { url: `http://127.0.0.1:${proxyPorts.plain}${scenario.nginxPath}`, connections };
  const { requestsPerSecond } = await measureThroughput(node.gateway, node.load, seconds, otherCores);
  const rate = requestsPerSecond / 2;
  const loads = [direct, viaNginx, native.load, node.load];
  const latencies: Latency[][] = loads.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, load] of loads.entries())
      latencies[at]!.push(await measureLatency(load, rate, seconds, otherCores));
  }
  const cells = [
    scenario.name,
    Math.round(rate),
    ...latencies.flatMap(results => [
      median(results.map(({ p50Ms }) => p50Ms)).toFixed(2),
      median(results.map(({ p99Ms }) => p99Ms)).toFixed(2),
    ]),
    latencies.flat().reduce((sum, { failed }) => sum + failed, 0),
  ];
  console.log(`| ${cells.join(' | ')} |`);
  await Promise.all([node.stop(), native.stop()]);
}

async function findBaseline({ baseline }: Scenario): Promise<Contender | undefined> {
  return baseline === undefined ? undefined : getBaseline(baseline);
}

/** Starts a baseline scenario on its first use. */
async function getBaseline(name: string): Promise<Contender> {
  const contender = baselines.get(name) ?? (await startContender(all.find(scenario => scenario.name === name)!));
  baselines.set(name, contender);
  return contender;
}

/** Starts a gateway for a scenario, creates its objects and warms it up. */
async function startContender(scenario: Scenario, settings: Readonly<Record<string, string>> = {}): Promise<Contender> {
  const first = firstPort + startedGateways++ * 3;
  const ports = { gateway: first, dashboard: first + 1, portal: first + 2 };
  const cores = (scenario.threads ?? 1) > 1 ? `${gatewayCores},${otherCores}` : gatewayCores;
  const tlsSettings = {
    GW_GATEWAY_TLS_ENABLED: 'true',
    GW_GATEWAY_TLS_CERTIFICATE_FILE: certificateFile(directory),
    GW_GATEWAY_TLS_KEY_FILE: keyFile(directory),
  };
  const allSettings = { ...settings, ...(scenario.isTls ? tlsSettings : {}), ...scenario.settings };
  const data = join(directory, `data-${startedGateways}`);
  const peer = await scenario.startPeer?.(otherCores);
  const gateway = await startGateway(data, ports, cores, scenario.threads ?? 1, allSettings);
  const target = scenario.isTls ? `https://127.0.0.1:${upstreamPorts.tls}` : `http://127.0.0.1:${upstreamPorts.plain}`;
  const load = {
    ...(await scenario.prepare(gateway, target, directory)),
    connections,
  };
  await gateway.waitUntilServed();
  await measureThroughput(gateway, load, scenario.warmUpSeconds ?? warmUpSeconds, otherCores);
  async function stop(): Promise<void> {
    await gateway.stop();
    await peer?.stop();
  }
  return { gateway, load, stop };
}

/** Prints the memory after each tenth of the requests; in the first one the heap reaches its size. */
async function measureMemory(requests: number, contender: Contender): Promise<void> {
  const mebibytes: number[] = [];
  for (let sent = 0; sent < requests; ) {
    sent += (await measureThroughput(contender.gateway, contender.load, seconds, otherCores)).requests;
    if (sent >= (requests / 10) * (mebibytes.length + 1)) mebibytes.push(readMebibytes(contender));
  }
  console.error(`  memory over ${requests} requests, MiB: ${mebibytes.join(', ')}`);
}

function readMebibytes({ gateway }: Contender): number {
  return Math.round(gateway.memoryBytes() / 1_048_576);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Formats the median and the interquartile range. */
function formatSpread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!.toFixed(2);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}
