import type { BenchGateway } from './gateway.ts';
import { type Latency, measureLatency } from './load.ts';

export interface ConcurrentClients {
  readonly gateway: BenchGateway;
  readonly target: string;
  readonly seconds: number;
  readonly cores: string;
}

const clientCount = 100;
const trafficPerSecond = 500;
const trafficConnections = 16;

interface Tally {
  requests: number;
  readonly errors: string[];
}

/**
 * Clients that create, change, read, list and delete APIs, policies and keys at the same time, beside traffic at a fixed
 * rate. Each reads what it wrote, finds nothing that it deleted, and leaves one API, which the gateway must serve in the
 * end: a lost write is an error, as is every unexpected status. Returns the failures.
 */
export async function runConcurrentClients(options: ConcurrentClients): Promise<string[]> {
  const { gateway, target, seconds, cores } = options;
  await expectOk(gateway, 'POST', '/api/apis', { api_definition: definitionOf('steady', target) });
  await gateway.waitUntilServed();
  const load = { url: `${gateway.url}/steady/small`, connections: trafficConnections };
  const before = await measureLatency(load, trafficPerSecond, Math.min(seconds, 10), cores);
  const tally: Tally = { requests: 0, errors: [] };
  const endMs = performance.now() + seconds * 1000;
  const clients = Array.from({ length: clientCount }, (_, n) => runClient(gateway, target, n, endMs, tally));
  const [during] = await Promise.all([measureLatency(load, trafficPerSecond, seconds, cores), ...clients]);
  tally.errors.push(...(await findLostApis(gateway)));
  const afterwards = await measureLatency(load, trafficPerSecond, Math.min(seconds, 10), cores);
  report(tally, seconds, { 'alone, before': before, 'beside the clients': during, 'alone, afterwards': afterwards });
  const failed = during.failed > 0 ? [`${during.failed} requests of the traffic beside the clients failed`] : [];
  return [...tally.errors.slice(0, maxReportedErrors), ...failed];
}

const maxReportedErrors = 20;
const finalId = (n: number) => `client${n}last`;

/** APIs that the clients wrote last and that are not stored, or not served. */
async function findLostApis(gateway: BenchGateway): Promise<string[]> {
  await gateway.waitUntilServed();
  const lost: string[] = [];
  for (let n = 0; n < clientCount; n++) {
    const id = finalId(n);
    const { status } = await gateway.send('GET', `/api/apis/${id}`);
    if (status !== 200) lost.push(`${id} is lost: status ${status}`);
    const served = await fetch(`${gateway.url}/${id}/small`);
    if (served.status !== 200) lost.push(`${id} is not served: status ${served.status}`);
  }
  return lost;
}

async function runClient(gateway: BenchGateway, target: string, n: number, endMs: number, tally: Tally): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    tally.requests++;
    return expectOk(gateway, method, path, body);
  };
  for (let round = 0; performance.now() < endMs; round++) {
    try {
      const id = `client${n}round${round}`;
      await writeAndReadBack(send, target, id);
      const { status } = await gateway.send('GET', `/api/apis/${id}`);
      if (status !== 404) throw new Error(`the deletion of ${id} is lost: status ${status}`);
    } catch (error) {
      tally.errors.push((error as Error).message);
    }
  }
  try {
    await send('POST', '/api/apis', { api_definition: definitionOf(finalId(n), target) });
  } catch (error) {
    tally.errors.push((error as Error).message);
  }
}

type Send = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

async function writeAndReadBack(send: Send, target: string, id: string): Promise<void> {
  await send('POST', '/api/apis', { api_definition: definitionOf(id, target) });
  await send('PUT', `/api/apis/${id}`, { api_definition: definitionOf(id, target, `${id} changed`) });
  const { api_definition: api } = await send('GET', `/api/apis/${id}`);
  if ((api as { name: string }).name !== `${id} changed`) throw new Error(`the change of ${id} is lost`);
  const access_rights = { [id]: { api_id: id, versions: ['Default'] } };
  const { Message: policyId } = await send('POST', '/api/portal/policies', {
    name: id,
    state: 'active',
    access_rights,
  });
  const { key_id: keyId } = await send('POST', '/api/keys', {
    alias: id,
    access_rights,
    rate: 1,
    per: 1,
    quota_max: -1,
  });
  await send('GET', '/api/apis?p=1');
  await send('GET', `/api/portal/policies/search?q=${id}`);
  const { data } = await send('GET', `/api/keys/${keyId}`);
  if ((data as { alias: string }).alias !== id) throw new Error(`the key of ${id} is lost`);
  await send('DELETE', `/api/keys/${keyId}`);
  await send('DELETE', `/api/portal/policies/${policyId}`);
  await send('DELETE', `/api/apis/${id}`);
}

async function expectOk(gateway: BenchGateway, method: string, path: string, body?: unknown) {
  const answer = await gateway.send(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function definitionOf(id: string, target: string, name = id) {
  return {
    api_id: id,
    name,
    active: true,
    use_keyless: true,
    proxy: { listen_path: `/${id}`, target_url: target, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  };
}

function report({ requests, errors }: Tally, seconds: number, traffic: Readonly<Record<string, Latency>>): void {
  const perSecond = Math.round(requests / seconds);
  console.log(
    `\n${clientCount} clients for ${seconds} s: ${requests} requests (${perSecond}/s), ${errors.length} errors`,
  );
  for (const message of new Set(errors.slice(0, maxReportedErrors))) console.log(`  ${message}`);
  console.log(`\n| traffic at ${trafficPerSecond}/s | requests | failed | p50 ms | p99 ms |\n|---|---|---|---|---|`);
  for (const [title, it] of Object.entries(traffic))
    console.log(`| ${title} | ${it.requests} | ${it.failed} | ${it.p50Ms.toFixed(2)} | ${it.p99Ms.toFixed(2)} |`);
}
