import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from './app.ts';
import type { ApiName, SoakCounts, SoakTargets } from './soak-load.ts';
import { type Definition, openApi, publish, waitUntilApplied } from './traffic.ts';
import { eventually } from './upstream.ts';

export interface SoakResult extends SoakCounts {
  readonly recorded: Record<ApiName, number>;
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

/**
 * Soak of the HTTP/1.1 engine: mixed requests, aborts on both sides, slow readers and reloads for some time. Counts
 * requests at the clients, at the upstream and in the analytics; samples memory and file descriptors.
 */
export async function runSoak(durationMs: number, clients = 16): Promise<SoakResult> {
  const app = await startApp('sqlite', { settings: { 'log.level': 'error' } });
  const load = fork(join(import.meta.dirname, 'soak-load.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const [{ port }] = (await once(load, 'message')) as [{ port: number }];
    const create = (name: ApiName, more: Record<string, unknown> = {}) =>
      openApi({ url: `http://127.0.0.1:${port}/${name}` }, { name, ...more });
    const apis = {
      steady: create('steady'),
      guarded: create('guarded', { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } }),
      rough: create('rough'),
    };
    const urls = {
      steady: await publish(app, apis.steady),
      guarded: await publish(app, apis.guarded),
      rough: await publish(app, apis.rough),
    };
    const token = await createToken(app, apis.guarded);
    const before = countDescriptors();
    load.send({ ...urls, token, clients } satisfies SoakTargets);
    const { memoryBytes, reloads } = await watch(durationMs, () => reload(app, apis.steady));
    const reported = once(load, 'message');
    load.send('stop');
    const [counts] = (await reported) as [SoakCounts];
    const recorded = await countRecorded(app, apis, counts);
    const ports = { gateway: Number(new URL(urls.steady).port), upstream: port };
    await eventually(() => assert.equal(countConnections(ports), 0), settleTimeoutMs).catch(() => undefined);
    const connections = countConnections(ports);
    return {
      ...counts,
      recorded,
      reloads,
      memoryBytes,
      connections,
      descriptors: { before, after: countDescriptors() },
    };
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

async function watch(durationMs: number, act: () => Promise<void>) {
  const memoryBytes: number[] = [];
  const end = Date.now() + durationMs;
  let nextReload = Date.now() + reloadIntervalMs;
  let reloads = 0;
  while (Date.now() < end) {
    await new Promise(resolve => setTimeout(resolve, Math.min(sampleIntervalMs, Math.max(1, end - Date.now()))));
    memoryBytes.push(process.memoryUsage.rss());
    if (Date.now() < nextReload) continue;
    nextReload = Date.now() + reloadIntervalMs;
    await act();
    reloads++;
  }
  return { memoryBytes, reloads };
}

/** Waits until as many records are counted as requests were sent; gives what is there otherwise. */
async function countRecorded(app: App, apis: Record<ApiName, Definition>, { sent }: SoakCounts) {
  const recorded: Record<ApiName, number> = { steady: 0, guarded: 0, rough: 0 };
  const count = async (): Promise<void> => {
    for (const name of Object.keys(apis) as ApiName[]) {
      const { body } = await app.ask('GET', `/api/usage/apis/${apis[name].api_id}/1/1/2020/31/12/2099`);
      recorded[name] = (body.data as { hits: number }[]).reduce((sum, { hits }) => sum + hits, 0);
    }
    assert.deepEqual(recorded, sent);
  };
  await eventually(count, settleTimeoutMs).catch(() => undefined);
  return recorded;
}

const countDescriptors = () => readdirSync('/proc/self/fd').length;

/** Sockets on the port of the gateway and to the upstream, of this process, listening ones left out. */
function countConnections(ports: { readonly gateway: number; readonly upstream: number }): number {
  const owned = new Set(readdirSync('/proc/self/fd').map(fd => readSocketInode(`/proc/self/fd/${fd}`)));
  const [, ...lines] = readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n');
  return lines.filter(line => {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/) as string[];
    const isOurs = toPort(local!) === ports.gateway || toPort(remote!) === ports.upstream;
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
  const { sent, received, recorded, faults, connections, descriptors, memoryBytes } = result;
  const found = [...faults];
  for (const name of ['steady', 'guarded'] as const)
    if (sent[name] !== received[name]) found.push(`${name}: ${sent[name]} requests sent, ${received[name]} received`);
  for (const name of ['steady', 'guarded', 'rough'] as const)
    if (sent[name] !== recorded[name]) found.push(`${name}: ${sent[name]} requests sent, ${recorded[name]} recorded`);
  if (connections > 0) found.push(`${connections} connections are left open`);
  if (descriptors.after > descriptors.before + maxManagementDescriptors)
    found.push(`${descriptors.after - descriptors.before} file descriptors are left open`);
  const quarter = Math.floor(memoryBytes.length / 4);
  // The floor after collections: a process that warms up for seconds has none.
  const growthBytes =
    quarter < minQuarterSamples
      ? 0
      : Math.min(...memoryBytes.slice(-quarter)) - Math.min(...memoryBytes.slice(-2 * quarter, -quarter));
  if (growthBytes > maxGrowthBytes) found.push(`memory grew by ${growthBytes} bytes in the second half`);
  return found;
}
