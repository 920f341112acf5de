import { getPriority, hostname, setPriority } from 'node:os';

/** Process output, environment, signals, exit code, and facts about the process. */

export const print = (text: string): void => {
  process.stdout.write(text);
};

/** True where standard output is a terminal. */
export const isTerminal = (): boolean => process.stdout.isTTY === true;

/** Progress of long work: one line of standard error that each text replaces; nothing where it is no terminal. */
export const printProgress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}\r`);
};

export const printError = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Drops output after its reader has closed the pipe (`gw start | head`): lost output must not end a running gateway. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/**
 * Lowers the scheduling priority of the calling thread. On Linux, where `setpriority` means a thread; elsewhere it would
 * mean the whole process.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + addedNiceness, maxNiceness));
}

/** Scheduling priority of the calling thread, on Linux; undefined elsewhere. */
export const readThreadNiceness = (): number | undefined => (process.platform === 'linux' ? getPriority() : undefined);

/** Sets it. False where the process may not raise a priority (`CAP_SYS_NICE`). */
export function setThreadNiceness(niceness: number | undefined): boolean {
  if (niceness === undefined || niceness === getPriority()) return true;
  try {
    setPriority(niceness);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SYSTEM_ERROR') throw error;
    return false;
  }
}

/** A third of the processor time of a thread with normal priority, where both want it. */
const addedNiceness = 5;
const maxNiceness = 19;

/** Processor time of this thread so far, in milliseconds. */
export function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

export const readEnvironment = (): Record<string, string | undefined> => process.env;

export const setExitCode = (code: number): void => {
  process.exitCode = code;
};

/** Graceful shutdown on SIGTERM and SIGINT. A second signal, or `graceMs` without success, exits at once. */
export function onShutdownSignal(stop: (signal: string) => Promise<void>, graceMs: number): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), graceMs).unref();
    stop(signal).catch(error => {
      printError(`shutdown failed: ${(error as Error).message}`);
      process.exit(1);
    });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** SIGHUP, which ends a process without a handler; returns the removal of the handler. */
export function onHangup(handle: () => void): () => void {
  process.on('SIGHUP', handle);
  return () => process.off('SIGHUP', handle);
}

/** Aborts at the first SIGTERM or SIGINT, for work that ends by itself; the second signal ends the process at once. */
export function createStopSignal(): AbortSignal {
  const controller = new AbortController();
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return controller.signal;
}

export const describeProcess = () => ({
  hostname: hostname(),
  pid: process.pid,
  nodeVersion: process.versions.node,
  startedAtMs: Math.round(performance.timeOrigin),
  residentBytes: process.memoryUsage.rss(),
});
