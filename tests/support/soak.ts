import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from './app.ts';
import type { SoakTargets } from './soak-clients.ts';
import type { SoakCounts } from './soak-load.ts';
import { type ApiCounts, type ApiName, createApiCounts, soakApis } from './soak-upstream.ts';
import { type Definition, openApi, publish, waitUntilApplied } from './traffic.ts';
import { eventually } from './upstream.ts';

export interface SoakResult extends SoakCounts {
  /** Requests in the analytics, and those of them that succeeded. */
  readonly recorded: ApiCounts;
  readonly succeeded: ApiCounts;
  readonly reloads: number;
  /** Resident memory of the gateway, sampled once a second. */
  readonly memoryBytes: readonly number[];
  /** Connections of the gateway to clients and to the upstream after the load. */
  readonly connections: number;
  /** File descriptors before the load and after it. */
  readonly descriptors: { readonly before: number; readonly after: number };
}

const sampleIntervalMs = 1000;
const reloadIntervalMs = 3000;
/** Time for connections to end and records to be written after the load. */
const settleTimeoutMs = 30_000;

const tokenAuthentication = { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } };

/**
 * Soak of the HTTP/1.1 engine: mixed requests, aborts on both sides, slow readers and reloads for some time. Counts
 * requests at the clients, at the upstream and in the analytics; samples memory and file descriptors.
 */
export async function runSoak(durationMs: number, clients = 16): Promise<SoakResult> {
  const app = await startApp('sqlite', { settings: { 'log.level': 'error', threads: '2' } });
  const load = fork(join(import.meta.dirname, 'soak-load.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const failed = once(load, 'exit').then(([code]) => assert.fail(`the load exited with ${code}`));
    const [ports] = (await Promise.race([once(load, 'message'), failed])) as [{ steady: number; rough: number }];
    failed.catch(() => undefined);
    const create = (name: ApiName, more: Record<string, unknown> = {}) => {
      const port = name === 'rough' ? ports.rough : ports.steady;
      return openApi({ url: `http://127.0.0.1:${port}/${name}` }, { name, ...more });
    };
    const apis = {
      steady: create('steady'),
      guarded: create('guarded', tokenAuthentication),
      refused: create('refused', tokenAuthentication),
      rough: create('rough'),
      partial: create('partial'),
    };
    const urls = { steady: '', guarded: '', refused: '', rough: '', partial: '' };
    for (const name of soakApis) urls[name] = await publish(app, apis[name]);
    const token = await createToken(app, apis.guarded);
    const before = countDescriptors();
    load.send({ urls, token, clients } satisfies SoakTargets);
    const { memoryBytes, reloads } = await watch(durationMs, at => reload(app, apis[soakApis[at % soakApis.length]!]));
    const reported = once(load, 'message');
    load.send('stop');
    const [counts] = (await Promise.race([reported, failed])) as [SoakCounts];
    const recorded = await countRecorded(app, apis, counts);
    const gatewayPort = Number(new URL(urls.steady).port);
    const count = () => countConnections(gatewayPort, Object.values(ports));
    await eventually(() => assert.equal(count(), 0), settleTimeoutMs).catch(() => undefined);
    const descriptors = { before, after: countDescriptors() };
    return { ...counts, ...recorded, reloads, memoryBytes, connections: count(), descriptors };
  } finally {
    load.kill();
    await app.close();
  }
}

type App = Awaited<ReturnType<typeof startApp>>;

async function createToken(app: App, { api_id }: Definition): Promise<string> {
  const access_rights = { [api_id]: { api_id, versions: ['Default'] } };
  const body = { access_rights, rate: 1_000_000, per: 1, quota_max: 1_000_000_000, quota_renewal_rate: 3600 };
  const made = await app.ask('POST', '/api/keys', { body });
  assert.equal(made.status, 200, made.text);
  return String(made.body.key_id);
}

async function reload(app: App, definition: Definition): Promise<void> {
  const { status, text } = await app.ask('PUT', `/api/apis/${definition.api_id}`, {
    body: { api_definition: definition },
  });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
}

async function watch(durationMs: number, act: (at: number) => Promise<void>) {
  const memoryBytes: number[] = [];
  const end = Date.now() + durationMs;
  let nextReload = Date.now() + reloadIntervalMs;
  let reloads = 0;
  while (Date.now() < end) {
    await new Promise(resolve => setTimeout(resolve, Math.min(sampleIntervalMs, Math.max(1, end - Date.now()))));
    memoryBytes.push(process.memoryUsage.rss());
    if (Date.now() < nextReload) continue;
    nextReload = Date.now() + reloadIntervalMs;
    await act(reloads++);
  }
  return { memoryBytes, reloads };
}

/** Waits until as many records are counted as requests were sent; gives what is there otherwise. */
async function countRecorded(app: App, apis: Record<ApiName, Definition>, { sent }: SoakCounts) {
  const recorded = createApiCounts();
  const succeeded = createApiCounts();
  const count = async (): Promise<void> => {
    for (const name of soakApis) {
      const { body } = await app.ask('GET', `/api/usage/apis/${apis[name].api_id}/1/1/2020/31/12/2099`);
      const rows = body.data as { hits: number; success: number }[];
      recorded[name] = rows.reduce((sum, { hits }) => sum + hits, 0);
      succeeded[name] = rows.reduce((sum, { success }) => sum + success, 0);
    }
    assert.deepEqual(recorded, sent);
  };
  await eventually(count, settleTimeoutMs).catch(() => undefined);
  return { recorded, succeeded };
}

const countDescriptors = () => readdirSync('/proc/self/fd').length;

/** Sockets on the port of the gateway and to the upstreams, of this process, listening ones left out. */
function countConnections(gatewayPort: number, upstreamPorts: readonly number[]): number {
  const owned = new Set(readdirSync('/proc/self/fd').map(fd => readSocketInode(`/proc/self/fd/${fd}`)));
  const [, ...lines] = readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n');
  return lines.filter(line => {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/) as string[];
    const isOurs = toPort(local!) === gatewayPort || upstreamPorts.includes(toPort(remote!));
    return isOurs && state !== listening && owned.has(inode!);
  }).length;
}

const listening = '0A';

const toPort = (address: string): number => Number.parseInt(address.split(':')[1]!, 16);

function readSocketInode(path: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? '';
  } catch {
    // The descriptor of the directory listing itself.
    return '';
  }
}

/** Connections of the soak itself to the management interface, both ends. */
const maxManagementDescriptors = 8;

/** Growth of the memory in the second half that counts as a leak. */
const maxGrowthBytes = 40_000_000;
const minQuarterSamples = 15;

/** Findings of a soak: unequal counts, wrong responses, leaked descriptors, memory that grows. */
export function findSoakFaults(result: SoakResult): string[] {
  const { connections, descriptors } = result;
  const found = [...result.faults, ...compareCounts(result)];
  if (connections > 0) found.push(`${connections} connections are left open`);
  if (descriptors.after > descriptors.before + maxManagementDescriptors)
    found.push(`${descriptors.after - descriptors.before} file descriptors are left open`);
  const growthBytes = measureGrowth(result.memoryBytes);
  if (growthBytes > maxGrowthBytes) found.push(`memory grew by ${growthBytes} bytes in the second half`);
  return found;
}

/** Every request is recorded once, whichever side ended it; those that are answered reach the upstream once. */
function compareCounts({ sent, received, recorded, succeeded }: SoakResult): string[] {
  const found: string[] = [];
  const compare = (name: ApiName, what: string, count: number, expected = sent[name]) => {
    if (count !== expected) found.push(`${name}: ${sent[name]} requests sent, ${count} ${what}`);
  };
  for (const name of soakApis) compare(name, 'recorded', recorded[name]);
  for (const name of ['steady', 'guarded'] as const) {
    compare(name, 'received', received[name]);
    compare(name, 'recorded as successful', succeeded[name]);
  }
  compare('refused', 'received', received.refused, 0);
  compare('refused', 'recorded as successful', succeeded.refused, 0);
  compare('partial', 'recorded as successful', succeeded.partial, 0);
  if (received.partial > sent.partial) compare('partial', 'received', received.partial);
  return found;
}

/** Growth of the floor after collections between the last two quarters; a process that warms up for seconds has none. */
function measureGrowth(memoryBytes: readonly number[]): number {
  const quarter = Math.floor(memoryBytes.length / 4);
  if (quarter < minQuarterSamples) return 0;
  return Math.min(...memoryBytes.slice(-quarter)) - Math.min(...memoryBytes.slice(-2 * quarter, -quarter));
}
