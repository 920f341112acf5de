import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { surfaces } from '#operations/surfaces.ts';
import type { InstallationCredentials } from '#people/installation/bootstrap.ts';
import { type Answer, type Asked, rememberSecrets, surfaceOf } from './app.ts';

/** The gw command as a process of its own, as an operator runs it. */

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Child {
  readonly process: ChildProcess;
  readonly urls: Readonly<Record<string, string>>;
  readonly credentials: InstallationCredentials;
  out(): string;
  err(): string;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** Sends a signal, by default SIGTERM, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

export interface ChildOptions {
  /** Its data directory, unless the environment or the arguments name another. */
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Run before the program, such as `sh -c …`. */
  readonly prefix?: readonly string[];
  readonly cwd?: string;
}

const program = join(import.meta.dirname, '../../src/main.ts');
const logs = process.env.GW_TEST_LOGS;

/** Maximum output of a child that is kept. */
const keptCharacters = 1_000_000;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
/** A failed assertion skips the stop of its child, whose pipes would keep the test process alive for ever. */
after(stopChildren);

async function stopChildren(): Promise<void> {
  await Promise.all([...running].map(child => (child.kill('SIGKILL') ? once(child, 'close') : undefined)));
}

export interface Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out(): string;
  err(): string;
  /** Resolves when the condition holds for the output so far; rejects when the child ends first. */
  waitForOutput(holds: (out: string, err: string) => boolean): Promise<void>;
}

function launch(command: readonly string[], { directory, environment, prefix = [], cwd }: ChildOptions): Launched {
  const [file, ...args] = [...prefix, process.execPath, program, ...command] as [string, ...string[]];
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GW_') && !name.startsWith('NODE_'),
  );
  const engine = process.env.GW_TEST_HTTP1_ENGINE;
  const engineSetting = engine ? { GW_GATEWAY_HTTP1_ENGINE: engine } : {};
  const env = { ...Object.fromEntries(inherited), ...quiet, ...engineSetting, GW_DATA_DIR: directory, ...environment };
  const child = spawn(file, args, { cwd: cwd ?? tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const text = { out: '', err: '' };
  const waiting = new Set<() => void>();
  const collect = (stream: 'out' | 'err') => (chunk: Buffer) => {
    text[stream] = (text[stream] + chunk.toString()).slice(-keptCharacters);
    if (logs && stream === 'err') appendFileSync(join(logs, `child-${child.pid}.log`), chunk);
    for (const check of waiting) check();
  };
  child.stdout.on('data', collect('out'));
  child.stderr.on('data', collect('err'));
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, ...text } as Ended;
  });
  const waitForOutput = (holds: (out: string, err: string) => boolean) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (holds(text.out, text.err)) resolve();
      };
      waiting.add(check);
      check();
      ended.then(({ code, signal, err }) => reject(new Error(`gw ended with ${code ?? signal}: ${err}`)), reject);
    });
  return { child, ended, waitForOutput, out: () => text.out, err: () => text.err };
}

/** Defaults: any free port, one traffic thread, a quick start. */
const quiet = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/tests'),
  GW_GATEWAY_HOST: '127.0.0.1',
  GW_GATEWAY_PORT: '0',
  GW_DASHBOARD_PORT: '0',
  GW_PORTAL_PORT: '0',
  GW_GATEWAY_CONTROL_PORT: '0',
  GW_THREADS: '1',
};

/** Starts a command that runs until it is stopped. */
export const startCommand = (command: readonly string[], options: ChildOptions): Launched => launch(command, options);

/** Runs a command to its end. */
export const runChild = (command: readonly string[], options: ChildOptions): Promise<Ended> =>
  launch(command, options).ended;

/** Starts the product and waits until it reports that it is ready. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const launched = launch(['start', ...(options.args ?? [])], options);
  await launched.waitForOutput(out => /is ready.*credentials\.json.*\n$/s.test(out));
  const { child, ended, out, err } = launched;
  const found = out().matchAll(/^ {2}(\w+) +(http\S+)(?: .*)?$/gm);
  const urls = Object.fromEntries([...found].map(([, name, url]) => [name!, url!]));
  const credentials = credentialsIn(options.environment?.GW_DATA_DIR ?? options.directory);
  return {
    process: child,
    urls,
    credentials,
    out,
    err,
    ask: (method, path, asked) => ask(urls, credentials, method, path, asked),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

export function credentialsIn(directory: string): InstallationCredentials {
  const path = join(directory, 'credentials.json');
  const credentials = (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}) as InstallationCredentials;
  rememberSecrets(credentials);
  return credentials;
}

async function ask(
  urls: Child['urls'],
  credentials: InstallationCredentials,
  method: string,
  path: string,
  { body, headers = {}, credential }: Asked = {},
): Promise<Answer> {
  const surface = surfaceOf(path);
  const right = {
    dashboard: credentials.admin_access_key,
    admin: credentials.admin_secret,
    gateway: credentials.gateway_secret,
    portal: credentials.portal_token,
  };
  const base = surface === 'portal' ? urls.portal : (urls.dashboard ?? urls.control ?? urls.portal);
  const given =
    surface && credential !== null ? { [surfaces[surface].credentialHeader]: credential ?? right[surface] } : {};
  const reply = await fetch(base + path, {
    method,
    headers: { ...given, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const json = reply.headers.get('content-type')?.includes('json');
  return { status: reply.status, headers: reply.headers, text, body: json ? JSON.parse(text) : undefined };
}

/** A directory for the tests of one file; `remove` deletes it and stops the children that a failed test left. */
export function scratch(name: string) {
  const root = mkdtempSync(join(tmpdir(), `gw-${name}-`));
  let made = 0;
  return {
    root,
    fresh: () => join(root, String(++made)),
    async remove() {
      await stopChildren();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resolves when it holds. Asks again and again, with a bound. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const attempts = 1500;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (await holds()) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  throw new Error(`It did not happen: ${what}`);
}
