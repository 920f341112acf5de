import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';

/** Process pinned to cores, with its processor time and memory. */
export interface MeasuredProcess {
  readonly child: ChildProcess;
  /** Microseconds of processor time of the process and its children. */
  cpuMicros(): number;
  /** Resident memory of the process and its children. */
  memoryBytes(): number;
  stop(): Promise<void>;
}

export function startPinned(
  cores: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): MeasuredProcess {
  const child = spawn('taskset', ['-c', cores, command, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
  const listPids = () => [child.pid!, ...listDescendants(child.pid!)];
  return {
    child,
    cpuMicros: () => listPids().reduce((sum, pid) => sum + readCpuNanos(pid), 0) / 1000,
    memoryBytes: () => listPids().reduce((sum, pid) => sum + readResidentBytes(pid), 0),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Processor time of all threads: the first number of `schedstat`. */
function readCpuNanos(pid: number): number {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10);
  }
  return nanos;
}

const pageBytes = 4096;
const readResidentBytes = (pid: number) => Number(readStat(pid)?.[21] ?? 0) * pageBytes;

function listDescendants(parent: number): number[] {
  const pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);
  const direct = pids.filter(pid => Number(readStat(pid)?.[1]) === parent);
  return direct.flatMap(pid => [pid, ...listDescendants(pid)]);
}

/** Waits until the process listens; rejects when it exits before. */
export async function waitForPort(port: number, { child }: Pick<MeasuredProcess, 'child'>): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the process for port ${port} exited`);
    const isOpen = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
