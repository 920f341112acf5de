import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBenchTools } from '../tools/services.ts';
import { startGateway } from './gateway.ts';
import { type Load, measure, type Result } from './load.ts';
import { startProxy, startUpstream } from './nginx.ts';
import type { Measured } from './processes.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/**
 * Measures the traffic path against nginx in the same run: the machine may be slow or busy, the ratio is not. The measured
 * process has the first core to itself, load and upstream share the second.
 */
const gatewayCores = '0';
const otherCores = '1';
const connections = 32;
const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const ports = { upstream: 18_100, proxy: 18_101, gateway: 18_102, dashboard: 18_103, portal: 18_104 };

const wanted = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));

await ensureBenchTools();
const upstream = await startUpstream(directory, ports.upstream, otherCores);
const proxy = await startProxy(directory, ports.proxy, ports.upstream, gatewayCores);
console.log('| scenario | µs CPU per call | calls/s | p50 ms | p99 ms | nginx µs | ratio | failed |');
console.log('|---|---|---|---|---|---|---|---|');
try {
  for (const [index, scenario] of scenarios(directory).entries()) {
    if (wanted.length > 0 && !wanted.some(text => scenario.name.includes(text))) continue;
    await one(scenario, join(directory, `data-${index}`));
  }
} finally {
  await Promise.all([upstream.stop(), proxy.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

async function one(scenario: Scenario, data: string): Promise<void> {
  const script = scenario.yardstickScript === undefined ? {} : { script: scenario.yardstickScript };
  const url = `http://127.0.0.1:${ports.proxy}${scenario.yardstick}`;
  const yardstick = await measure(proxy, { url, connections, seconds, ...script }, otherCores);
  const cores = (scenario.threads ?? 1) > 1 ? `${gatewayCores},${otherCores}` : gatewayCores;
  const gateway = await startGateway(data, ports, cores, scenario.threads ?? 1);
  try {
    const load = await scenario.prepare(gateway, `http://127.0.0.1:${ports.upstream}`, directory);
    await gateway.settled();
    const result = await measure(gateway, { ...load, connections, seconds }, otherCores);
    console.log(line(scenario.name, result, yardstick));
    console.error(`  memory ${megabytes(gateway)} MiB`);
    if (scenario.calls) await endured(scenario.calls, gateway, { ...load, connections, seconds });
  } finally {
    await gateway.stop();
  }
}

/** Whether memory grows with the number of calls: the first tenth is the time a process takes to settle. */
async function endured(calls: number, gateway: Measured, load: Load): Promise<void> {
  const seen: string[] = [];
  for (let done = 0; done < calls; ) {
    done += (await measure(gateway, load, otherCores)).calls;
    if (done >= (calls / 10) * (seen.length + 1)) seen.push(`${megabytes(gateway)}`);
  }
  console.error(`  memory over ${calls} calls, MiB: ${seen.join(', ')}`);
}

function megabytes(gateway: Measured): number {
  return Math.round(gateway.memoryBytes() / 1_048_576);
}

function line(name: string, it: Result, nginx: Result): string {
  const cells = [
    name,
    it.microsPerCall.toFixed(1),
    Math.round(it.callsPerSecond),
    it.p50Ms.toFixed(2),
    it.p99Ms.toFixed(2),
    nginx.microsPerCall.toFixed(1),
    (it.microsPerCall / nginx.microsPerCall).toFixed(2),
    it.failed,
  ];
  return `| ${cells.join(' | ')} |`;
}
