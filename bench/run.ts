import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBenchServices } from '../tools/services.ts';
import { type BenchGateway, startGateway } from './gateway.ts';
import { call, callPaced, type Latency, type Load, type Result } from './load.ts';
import { certificateFile, createCertificate, keyFile, startProxy, startUpstream } from './nginx.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/**
 * Measures the traffic path against nginx, and a scenario against the plainer one it is compared with. On a shared host the
 * same work costs twice as much a minute later; so those compared take turns within seconds, for many rounds, and what is
 * told is the median of the rounds' ratios. The measured process has the first core to itself, load and upstream share the
 * second.
 */
const gatewayCores = '0';
const otherCores = '1';
const connections = 32;
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const seconds = Number(process.env.BENCH_SECONDS ?? 2);
/** Until what is called often has been compiled for that. */
const warmUpSeconds = 10;
const upstreamPorts = { plain: 18_096, tls: 18_097 };
const proxyPorts = { plain: 18_098, tls: 18_099 };
const firstPort = 18_100;
/** Compares each scenario with itself on node:http and undici, instead of the plainer one. */
const comparesEngines = process.env.BENCH_ENGINES === '1';
/** Compares latencies of both engines at half of what node:http and undici can serve, instead of processor time. */
const comparesLatency = process.env.BENCH_HALF_LOAD === '1';
const nodeEngine = { GW_GATEWAY_HTTP1_ENGINE: 'node' };

interface Contender {
  readonly gateway: BenchGateway;
  readonly load: Load;
}

const wanted = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
const all = scenarios(directory);
const kept = new Map<string, Contender>();
let started = 0;

await ensureBenchServices();
createCertificate(directory);
const upstream = await startUpstream(directory, upstreamPorts, otherCores);
const proxy = await startProxy(directory, proxyPorts, upstreamPorts, gatewayCores);
printHeader();
try {
  for (const scenario of all) {
    if (wanted.length > 0 && !wanted.some(text => scenario.name.includes(text))) continue;
    await (comparesLatency ? compareLatency(scenario) : compare(scenario));
  }
} finally {
  await Promise.all([upstream.stop(), proxy.stop(), ...[...kept.values()].map(({ gateway }) => gateway.stop())]);
  rmSync(directory, { recursive: true, force: true });
}

async function compare(scenario: Scenario): Promise<void> {
  const base = comparesEngines ? await ready(scenario, nodeEngine) : await findBase(scenario);
  const isPlain = !comparesEngines && all.some(({ against }) => against === scenario.name);
  const contender = isPlain ? await plainer(scenario.name) : await ready(scenario);
  const yardstick: Load = {
    url: `${scenario.isTls ? `https://127.0.0.1:${proxyPorts.tls}` : `http://127.0.0.1:${proxyPorts.plain}`}${scenario.yardstick}`,
    connections,
    ...(scenario.yardstickScript === undefined ? {} : { script: scenario.yardstickScript }),
  };
  const seen: { it: Result; nginx: Result; plain: Result | undefined }[] = [];
  for (let round = 0; round < rounds; round++) {
    const nginx = await call(proxy, yardstick, 1, otherCores);
    const plain = base && (await call(base.gateway, base.load, seconds, otherCores));
    seen.push({ nginx, plain, it: await call(contender.gateway, contender.load, seconds, otherCores) });
  }
  const cells = [
    scenario.name,
    median(seen.map(({ it }) => it.microsPerCall)).toFixed(1),
    median(seen.map(({ it }) => it.callsPerSecond)).toFixed(0),
    median(seen.map(({ it }) => it.p50Ms)).toFixed(2),
    median(seen.map(({ it }) => it.p99Ms)).toFixed(2),
    median(seen.map(({ nginx }) => nginx.microsPerCall)).toFixed(1),
    spread(seen.map(({ it, nginx }) => it.microsPerCall / nginx.microsPerCall)),
    base ? spread(seen.map(({ it, plain }) => it.microsPerCall / plain!.microsPerCall)) : '',
    seen.reduce((sum, { it }) => sum + it.failed, 0),
  ];
  console.log(`| ${cells.join(' | ')} |`);
  console.error(`  memory ${megabytes(contender)} MiB`);
  if (scenario.calls) await measureEndurance(scenario.calls, contender);
  if (!isPlain) await contender.gateway.stop();
  if (comparesEngines) await base!.gateway.stop();
}

function printHeader(): void {
  const columns = comparesLatency
    ? 'scenario | requests/s | direct p50 ms | p99 | nginx p50 | p99 | native p50 | p99 | node p50 | p99 | failed'
    : 'scenario | µs CPU per call | calls/s | p50 ms | p99 ms | nginx µs | ratio to nginx | cost | failed';
  console.log(`| ${columns} |`);
  console.log(`|${'---|'.repeat(columns.split('|').length)}`);
}

/** Direct requests to the upstream, those through nginx and through both engines, at the same rate and in turns. */
async function compareLatency(scenario: Scenario): Promise<void> {
  const node = await ready(scenario, nodeEngine);
  const native = await ready(scenario);
  const direct = { url: `http://127.0.0.1:${upstreamPorts.plain}${scenario.yardstick}`, connections };
  const viaNginx = { url: `http://127.0.0.1:${proxyPorts.plain}${scenario.yardstick}`, connections };
  const { callsPerSecond } = await call(node.gateway, node.load, seconds, otherCores);
  const loads = [direct, viaNginx, native.load, node.load];
  const seen: Latency[][] = loads.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, load] of loads.entries())
      seen[at]!.push(await callPaced(load, callsPerSecond / 2, seconds, otherCores));
  }
  const cells = [
    scenario.name,
    Math.round(callsPerSecond / 2),
    ...seen.flatMap(results => [
      median(results.map(({ p50Ms }) => p50Ms)).toFixed(2),
      median(results.map(({ p99Ms }) => p99Ms)).toFixed(2),
    ]),
    seen.flat().reduce((sum, { failed }) => sum + failed, 0),
  ];
  console.log(`| ${cells.join(' | ')} |`);
  await Promise.all([node.gateway.stop(), native.gateway.stop()]);
}

async function findBase({ against }: Scenario): Promise<Contender | undefined> {
  return against === undefined ? undefined : plainer(against);
}

/** A scenario others are compared with stays up until the end. */
async function plainer(name: string): Promise<Contender> {
  const contender = kept.get(name) ?? (await ready(all.find(scenario => scenario.name === name)!));
  kept.set(name, contender);
  return contender;
}

/** A gateway of the scenario's own, filled and warm. */
async function ready(scenario: Scenario, settings: Readonly<Record<string, string>> = {}): Promise<Contender> {
  const first = firstPort + started++ * 3;
  const ports = { gateway: first, dashboard: first + 1, portal: first + 2 };
  const cores = (scenario.threads ?? 1) > 1 ? `${gatewayCores},${otherCores}` : gatewayCores;
  const tlsSettings = {
    GW_GATEWAY_TLS_ENABLED: 'true',
    GW_GATEWAY_TLS_CERTIFICATE_FILE: certificateFile(directory),
    GW_GATEWAY_TLS_KEY_FILE: keyFile(directory),
  };
  const allSettings = { ...settings, ...(scenario.isTls ? tlsSettings : {}) };
  const data = join(directory, `data-${started}`);
  const gateway = await startGateway(data, ports, cores, scenario.threads ?? 1, allSettings);
  const target = scenario.isTls ? `https://127.0.0.1:${upstreamPorts.tls}` : `http://127.0.0.1:${upstreamPorts.plain}`;
  const load = {
    ...(await scenario.prepare(gateway, target, directory)),
    connections,
  };
  await gateway.settle();
  await call(gateway, load, scenario.warmUpSeconds ?? warmUpSeconds, otherCores);
  return { gateway, load };
}

/** Whether memory grows with the number of calls: the first tenth is the time a process takes to settle. */
async function measureEndurance(calls: number, contender: Contender): Promise<void> {
  const seen: number[] = [];
  for (let done = 0; done < calls; ) {
    done += (await call(contender.gateway, contender.load, seconds, otherCores)).calls;
    if (done >= (calls / 10) * (seen.length + 1)) seen.push(megabytes(contender));
  }
  console.error(`  memory over ${calls} calls, MiB: ${seen.join(', ')}`);
}

function megabytes({ gateway }: Contender): number {
  return Math.round(gateway.memoryBytes() / 1_048_576);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** The median, and between what the middle half of the rounds lies. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!.toFixed(2);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}
