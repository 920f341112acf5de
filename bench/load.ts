import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Measured } from './processes.ts';

const run = promisify(execFile);

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A wrk script, for bodies and for calls that differ. */
  readonly script?: string;
}

export interface Result {
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly microsPerCall: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

/** Calls as fast as it goes from the given cores, and what that cost the measured process. */
export async function call(measured: Measured, load: Load, seconds: number, cores: string): Promise<Result> {
  const before = measured.cpuMicros();
  const output = await wrk(load, seconds, cores);
  const spent = measured.cpuMicros() - before;
  const calls = numberIn(output, /(\d+) requests in/);
  return {
    calls,
    callsPerSecond: numberIn(output, /Requests\/sec:\s+([\d.]+)/),
    microsPerCall: spent / calls,
    p50Ms: milliseconds(output, '50%'),
    p99Ms: milliseconds(output, '99%'),
    failed: numberIn(output, /Non-2xx or 3xx responses: (\d+)/) + numberIn(output, /read (\d+),/),
  };
}

export interface Latency {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Requests at a fixed rate from the given cores, and their latencies. */
export async function callPaced(
  load: Load,
  requestsPerSecond: number,
  seconds: number,
  cores: string,
): Promise<Latency> {
  const { url, connections, headers = {} } = load;
  const script = join(import.meta.dirname, 'paced-load.ts');
  const args = [url, connections, Math.round(requestsPerSecond), seconds, JSON.stringify(headers)].map(String);
  return JSON.parse((await run('taskset', ['-c', cores, process.execPath, script, ...args])).stdout) as Latency;
}

async function wrk({ url, connections, headers = {}, script }: Load, seconds: number, cores: string): Promise<string> {
  const head = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = [
    '-c',
    cores,
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...head,
    ...(script ? ['-s', script] : []),
    url,
  ];
  return (await run('taskset', args)).stdout;
}

const numberIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);

const units: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

function milliseconds(output: string, label: string): number {
  const [, value, unit] = new RegExp(`${label}\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
  return Number(value ?? 0) * (units[unit ?? 'ms'] ?? 1);
}
