import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A copy of the program in a directory of its own: to be installed, or changed while it runs. */

const root = join(import.meta.dirname, '../..');
const parts = ['bin', 'src', 'tools', 'package.json', 'package-lock.json'];

export function copyProgram(directory: string, { withPackages }: { withPackages: boolean }): void {
  mkdirSync(directory, { recursive: true });
  for (const part of parts) cpSync(join(root, part), join(directory, part), { recursive: true });
  if (withPackages) symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
}

/** The environment of a person who has just logged in: no Node of ours in PATH, nothing of the npm that runs the tests. */
export function plainEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const ours =
    /^(GW_|NODE_|npm_(package|lifecycle|command|execpath|node_execpath|config_(local|global)_prefix|config_prefix))/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name)) as [string, string][];
  const path = (process.env.PATH ?? '').split(delimiter).filter(it => !it.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), ...more };
}

export const anyPorts = {
  GW_GATEWAY_HOST: '127.0.0.1',
  GW_GATEWAY_PORT: '0',
  GW_DASHBOARD_PORT: '0',
  GW_PORTAL_PORT: '0',
  GW_THREADS: '1',
};

export interface Ran {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves when the output so far matches; rejects when the program ends first, or its watcher reports a failure. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  /** Ends the program and what it started. */
  stop(): Promise<number | null>;
}

const running = new Set<ChildProcess>();
const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals) => {
  try {
    process.kill(-pid!, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/** Ends what a failed test left running, before its directory is removed. */
export async function endLeftOver(): Promise<void> {
  const left = [...running];
  for (const child of left) signalGroup(child, 'SIGKILL');
  await Promise.all(left.map(child => child.exitCode ?? child.signalCode ?? once(child, 'close')));
}

/** Runs a command in a process group of its own, so that what npm starts ends with it. */
export function run(
  command: readonly [string, ...string[]],
  cwd: string,
  env: Readonly<Record<string, string>>,
  /** Another user, where the tests run as root. */
  identity?: { readonly uid: number; readonly gid: number },
): Ran {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...identity });
  running.add(child);
  let output = '';
  const waiting = new Set<() => void>();
  const collect = (chunk: Buffer) => {
    // A terminal ends its lines with both.
    output += chunk.toString().replaceAll('\r\n', '\n');
    for (const check of waiting) check();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  return {
    child,
    output: () => output,
    ended,
    until: pattern =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(output);
          if (found) resolve(found);
          else if (/Failed running/.test(output)) reject(new Error(output));
        };
        waiting.add(check);
        check();
        ended.then(code => reject(new Error(`${file} ended with ${code}: ${output}`)), reject);
      }),
    stop() {
      signalGroup(child, 'SIGTERM');
      return ended;
    },
  };
}

export const urlIn = (output: string, name: string): string =>
  new RegExp(`^ {2}${name} +(http\\S+)`, 'm').exec(output)?.[1] ?? '';
