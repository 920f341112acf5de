import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Log } from '#base/log.ts';

export interface BuildOptions {
  /** In order of preference; the first that can be written. */
  readonly directories: readonly string[];
  readonly log: Log;
}

export interface RunningBuild {
  isRunning(): boolean;
  stop(): void;
}

const maxBuildMs = 180_000;
const maxOutputChars = 4000;
const program = join(import.meta.dirname, 'main.ts');

/**
 * Builds the web apps in a child process, which gets none of the environment: it may hold secrets. A failed build leaves
 * the landing page in place.
 */
export function startBuild({ directories, log }: BuildOptions): RunningBuild {
  log.info('web app is being built');
  const child = spawn(process.execPath, ['--no-warnings', program, ...directories], {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: maxBuildMs,
  });
  let isRunning = true;
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-maxOutputChars);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const finish = (reason: string | undefined) => {
    if (!isRunning) return;
    isRunning = false;
    if (reason === undefined) log.info('web app built');
    else log.error({ reason, output }, 'web app not built, browsers get the landing page');
  };
  child.on('error', error => finish(error.message));
  child.on('close', (code, signal) => finish(code === 0 ? undefined : `exit ${code ?? signal}`));
  child.unref();
  return {
    isRunning: () => isRunning,
    stop() {
      isRunning = false;
      child.kill();
    },
  };
}
