import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';

/** A process pinned to some cores, whose processor time can be read. */
export interface Measured {
  readonly child: ChildProcess;
  /** Microseconds of processor time it and its children have used. */
  cpuMicros(): number;
  /** Bytes it holds in memory. */
  memoryBytes(): number;
  stop(): Promise<void>;
}

export function startPinned(
  cores: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Measured {
  const child = spawn('taskset', ['-c', cores, command, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
  const family = () => [child.pid!, ...childrenOf(child.pid!)];
  return {
    child,
    cpuMicros: () => family().reduce((sum, pid) => sum + nanosOf(pid), 0) / 1000,
    memoryBytes: () => family().reduce((sum, pid) => sum + residentOf(pid), 0),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** What the scheduler counts for each of its threads: the first number is the time on a core. */
function nanosOf(pid: number): number {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10);
  }
  return nanos;
}

const pageBytes = 4096;
const residentOf = (pid: number) => Number(statOf(pid)?.[21] ?? 0) * pageBytes;

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);
  const direct = pids.filter(pid => Number(statOf(pid)?.[1]) === parent);
  return direct.flatMap(pid => [pid, ...childrenOf(pid)]);
}

/** Waits until the process listens; fails when it ends before. */
export async function listening(port: number, { child }: Pick<Measured, 'child'>): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the process for port ${port} ended`);
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
