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

/** The kernel counts processor time in ticks of this length. */
const microsPerTick = 10_000;

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
    cpuMicros: () => family().reduce((sum, pid) => sum + ticksOf(pid), 0) * microsPerTick,
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

/** User and system time, fields 14 and 15 of the line, counted from after the name. */
const ticksOf = (pid: number) => {
  const stat = statOf(pid);
  return stat ? Number(stat[11]) + Number(stat[12]) : 0;
};
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
