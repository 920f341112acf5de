import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Identity {
  uid: number;
  gid: number;
}

/** A program that serves on one loopback port and can be killed and started again there. */
export interface Server {
  readonly port: number;
  pause(): void;
  resume(): void;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  restartOnSamePort(): Promise<void>;
  /** Ends it without waiting, for use when this process itself ends. */
  killNow(): void;
}

export interface ServerOptions {
  program: string;
  args(port: number): string[];
  identity?: Identity | undefined;
  /** What ends it at once and lets it take its own children along. */
  killSignal?: NodeJS.Signals;
  /** Resolves once the server answers on the port, rejects while it does not. */
  answers(port: number): Promise<unknown>;
}

const startAttempts = 5;
const startTimeoutMs = 60_000;
const pollMs = 20;

export async function startServer(options: ServerOptions): Promise<Server> {
  // Another process can take a free port before the server binds it, so a failed start retries with another one.
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return serverOn(port, options, await launch(port, options));
    } catch (error) {
      if (attempt === startAttempts) throw error;
    }
  }
}

function serverOn(port: number, options: ServerOptions, first: ChildProcess): Server {
  let child = first;
  const alive = () => child.exitCode === null && child.signalCode === null;
  const signal = options.killSignal ?? 'SIGKILL';
  const kill = async () => {
    if (!alive()) return;
    const ended = once(child.ref() ?? child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await ended;
  };
  return {
    port,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    async restartOnSamePort() {
      await kill();
      child = await launch(port, options);
    },
    killNow: () => void child.kill(signal),
  };
}

/** Servers are detached, so the starting process stops them on every exit. */
const running = new Map<ChildProcess, NodeJS.Signals>();

function takeAlong(child: ChildProcess, signal: NodeJS.Signals): void {
  watchEnd();
  running.set(child, signal);
  child.once('exit', () => running.delete(child));
}

let watching = false;
function watchEnd(): void {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const [child, signal] of running) child.kill(signal);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Other signal listeners decide when to exit.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(1);
    });
  }
}

async function launch(port: number, options: ServerOptions): Promise<ChildProcess> {
  let output = '';
  // Detached, so that Ctrl-C in a terminal reaches the tests first and they end their servers in order.
  const child = spawn(options.program, options.args(port), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options.identity,
  });
  takeAlong(child, options.killSignal ?? 'SIGKILL');
  let failure: Error | undefined;
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  child.once('error', error => {
    failure = error;
  });
  child.once('exit', code => {
    failure ??= new Error(`${options.program} ended with ${code ?? child.signalCode}: ${output.trim()}`);
  });
  const attempts = startTimeoutMs / pollMs;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (failure) throw failure;
    if (await accepts(() => options.answers(port))) {
      if (failure) throw failure;
      letGo(child);
      return child;
    }
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
  child.kill('SIGKILL');
  throw new Error(`${options.program} did not answer on port ${port}: ${output.trim()}`);
}

/** The server must not keep a finished test process alive. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
}

async function accepts(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch {
    return false;
  }
}

/** Below the ports that the system gives to connections and to listeners without a port of their own. */
const portRange = { from: 20_000, to: 32_000 };

/** A loopback port without a listener, which no other process gets by chance before its use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portRange.from, portRange.to);
    const probe = createServer().listen(port, '127.0.0.1');
    if (!(await listens(probe))) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

const listens = (probe: ReturnType<typeof createServer>) =>
  once(probe, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );
