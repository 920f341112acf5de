import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { MeasuredProcess } from './processes.ts';

const run = promisify(execFile);

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** wrk script, for bodies and for requests that differ. */
  readonly script?: string;
}

export interface Result {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/** Sends as many requests as possible from the given cores; returns rate, latency and processor time of the measured process. */
export async function measureThroughput(
  measured: MeasuredProcess,
  load: Load,
  seconds: number,
  cores: string,
): Promise<Result> {
  const before = measured.cpuMicros();
  const output = await runWrk(load, seconds, cores);
  const cpuMicros = measured.cpuMicros() - before;
  const requests = parseNumber(output, /(\d+) requests in/);
  return {
    requests,
    requestsPerSecond: parseNumber(output, /Requests\/sec:\s+([\d.]+)/),
    cpuMicrosPerRequest: cpuMicros / requests,
    p50Ms: parseMilliseconds(output, '50%'),
    p99Ms: parseMilliseconds(output, '99%'),
    failed: parseNumber(output, /Non-2xx or 3xx responses: (\d+)/) + parseSocketErrors(output),
  };
}

export interface Latency {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Above other programs of the bench on the same cores, which would delay its clock. Without the permission it has none. */
const loadNiceness = -10;

/** Sends requests at a fixed rate from the given cores; returns their latencies. */
export async function measureLatency(
  load: Load,
  requestsPerSecond: number,
  seconds: number,
  cores: string,
): Promise<Latency> {
  const { url, connections, headers = {} } = load;
  const script = join(import.meta.dirname, 'paced-load.ts');
  const args = [url, connections, Math.round(requestsPerSecond), seconds, JSON.stringify(headers)].map(String);
  const command = ['-n', String(loadNiceness), 'taskset', '-c', cores, process.execPath, script, ...args];
  return JSON.parse((await run('nice', command)).stdout) as Latency;
}

async function runWrk(
  { url, connections, headers = {}, script }: Load,
  seconds: number,
  cores: string,
): Promise<string> {
  const head = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = [
    '-c',
    cores,
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '--timeout',
    '30s',
    ...head,
    ...(script ? ['-s', script] : []),
    url,
  ];
  return (await run('taskset', args)).stdout;
}

const parseSocketErrors = (output: string) =>
  [/connect (\d+),/, /read (\d+),/, /timeout (\d+)/].reduce((sum, pattern) => sum + parseNumber(output, pattern), 0);

const parseNumber = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);

const units: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

function parseMilliseconds(output: string, label: string): number {
  const [, value, unit] = new RegExp(`${label}\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
  return Number(value ?? 0) * (units[unit ?? 'ms'] ?? 1);
}
