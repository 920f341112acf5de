import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../tests/support/services/postgres.ts';
import { ensureBenchServices } from '../tools/services.ts';
import { runConcurrentClients } from './concurrent-clients.ts';
import { type Cost, costHeading, measureCosts, medianCpuMs, printCosts } from './costs.ts';
import { type BenchGateway, startGateway } from './gateway.ts';
import { createCertificate, startUpstream } from './nginx.ts';

/**
 * Measures the management API of a large installation: lists, searches and the publication of one change, then many
 * clients at once beside traffic. The gateway has the first core to itself; load and upstream share the second. A page
 * or search beyond `maxReadCpuMs`, an error or a lost write of a client ends it with exit code 1. `BENCH_SCALE=0.01`
 * loads a hundredth of the objects, `BENCH_KEYS=1000` that number of keys. `BENCH_DATABASE=postgres` starts PostgreSQL
 * on the second core; its processor time is not counted.
 */
const gatewayCores = '0';
const otherCores = '1';
const ports = { gateway: 18_180, dashboard: 18_181, portal: 18_182 };
const upstreamPorts = { plain: 18_183, tls: 18_184 };
const scale = Number(process.env.BENCH_SCALE ?? 1);
const clientSeconds = Number(process.env.BENCH_SECONDS ?? 60);
const counts = {
  apis: Math.ceil(10_000 * scale),
  policies: Math.ceil(10_000 * scale),
  keys: Number(process.env.BENCH_KEYS ?? Math.ceil(100_000 * scale)),
  users: Math.ceil(1000 * scale),
};
const requestsAtOnce = 20;
const repetitions = 15;
/** Bound of the processor time of one page or search. */
const maxReadCpuMs = 50;
/** APIs of the installation whose publication is the measure for the large one: one change compiles one API in both. */
const fewApis = Math.min(20, counts.apis);

const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
await ensureBenchServices();
// This process is the load, and PostgreSQL inherits its cores.
execFileSync('taskset', ['-cp', otherCores, String(process.pid)]);
const postgres = process.env.BENCH_DATABASE === 'postgres' ? await startPostgres({ fsync: true }) : undefined;
const settings: Record<string, string> = postgres ? { GW_DATABASE_URL: (await postgres.database()).url } : {};
createCertificate(directory);
const upstream = await startUpstream(directory, upstreamPorts, otherCores);
const gateway = await startGateway(join(directory, 'data'), ports, gatewayCores, 1, settings);
const target = `http://127.0.0.1:${upstreamPorts.plain}`;
const failures: string[] = [];
try {
  await create('APIs', 0, fewApis, createApi);
  await gateway.waitUntilServed();
  const ofFew = await measurePublication();
  await load();
  await gateway.waitUntilServed();
  console.log(costHeading);
  printCosts(`\`PUT /api/apis/{apiId}\` until served, of ${fewApis} APIs`, ofFew);
  printCosts(`\`PUT /api/apis/{apiId}\` until served, of ${counts.apis} APIs`, await measurePublication());
  await measureReads();
  failures.push(...(await runConcurrentClients({ gateway, target, seconds: clientSeconds, cores: otherCores })));
} finally {
  await Promise.all([gateway.stop(), upstream.stop()]);
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

function definitionOf(n: number, targetUrl = target) {
  return {
    api_id: `api${n}`,
    name: `Service ${n}`,
    active: true,
    use_keyless: true,
    proxy: { listen_path: `/api${n}`, target_url: targetUrl, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  };
}

async function load(): Promise<void> {
  const rights = (n: number) => ({
    [`api${n % counts.apis}`]: { api_id: `api${n % counts.apis}`, versions: ['Default'] },
  });
  const limits = { rate: 100, per: 60, quota_max: -1 };
  await create('APIs', fewApis, counts.apis, createApi);
  await create('policies', 0, counts.policies, n =>
    send('POST', '/api/portal/policies', { name: `Plan ${n}`, state: 'active', ...limits, access_rights: rights(n) }),
  );
  await create('keys', 0, counts.keys, n =>
    send('POST', `/api/keys/bench${n}`, { alias: `Key ${n}`, ...limits, access_rights: rights(n) }),
  );
  await create('users', 0, counts.users, n => {
    const user = { first_name: 'Ann', last_name: `Number ${n}`, email_address: `ann${n}@example.org` };
    return send('POST', '/api/users', { ...user, active: true, user_permissions: { apis: 'read' } });
  });
}

function createApi(n: number): Promise<unknown> {
  return send('POST', '/api/apis', { api_definition: definitionOf(n) });
}

/** Creates the objects with the numbers from `first` to before `end`. */
async function create(
  title: string,
  first: number,
  end: number,
  createOne: (n: number) => Promise<unknown>,
): Promise<void> {
  const count = end - first;
  if (count === 0) return;
  const before = gateway.cpuMicros();
  for (let n = first; n < end; n += requestsAtOnce)
    await Promise.all(Array.from({ length: Math.min(requestsAtOnce, end - n) }, (_, more) => createOne(n + more)));
  const perObjectMs = (gateway.cpuMicros() - before) / count / 1000;
  console.error(
    `${count} ${title}: ${perObjectMs.toFixed(2)} ms CPU each, ${Math.round(gateway.memoryBytes() / 1_048_576)} MiB`,
  );
}

async function send(method: string, path: string, body?: unknown): ReturnType<BenchGateway['send']> {
  const answer = await gateway.send(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

async function measureReads(): Promise<void> {
  const { apis, policies, keys, users } = counts;
  const lastPage = (count: number) => Math.ceil(count / 10);
  const paths = [
    '/api/apis?p=1',
    `/api/apis?p=${lastPage(apis)}`,
    '/api/apis/search?q=Service%20777',
    '/api/apis/search?q=unknown',
    '/api/portal/policies?p=1',
    `/api/portal/policies?p=${lastPage(policies)}`,
    '/api/portal/policies/search?q=Plan%20777',
    '/api/keys/detailed?p=1',
    `/api/keys/detailed?p=${lastPage(keys)}`,
    '/api/keys/detailed?q=bench777',
    '/api/keys/detailed?q=bench&state=active',
    '/api/keys/detailed?q=bench&search=key&kind=token',
    '/api/keys/detailed?state=active',
    '/api/search?q=unknown',
    '/api/search?q=e',
    '/api/apis/keys?p=1',
    '/api/users?p=1',
    `/api/users?p=${lastPage(users)}`,
    '/api/users/search?q=ann77',
  ];
  for (const path of paths) {
    const costs = await measureCosts(gateway, repetitions, () => send('GET', path));
    printCosts(`\`GET ${path}\``, costs);
    const cpuMs = medianCpuMs(costs);
    if (cpuMs > maxReadCpuMs) failures.push(`GET ${path}: ${cpuMs.toFixed(1)} ms CPU, more than ${maxReadCpuMs}`);
  }
}

/** From the request that changes an API to the first response of the changed API. */
async function measurePublication(): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let n = 0; n < repetitions; n++) {
    const id = n % fewApis;
    const cpu = gateway.cpuMicros();
    const started = performance.now();
    // A path that the upstream does not have: the status differs between the old target and the new one.
    await send('PUT', `/api/apis/api${id}`, { api_definition: definitionOf(id, `${target}/changed`) });
    while ((await fetch(`${gateway.url}/api${id}/small`)).status !== 404);
    costs.push({ cpuMs: (gateway.cpuMicros() - cpu) / 1000, tookMs: performance.now() - started });
    await send('PUT', `/api/apis/api${id}`, { api_definition: definitionOf(id) });
    while ((await fetch(`${gateway.url}/api${id}/small`)).status === 404);
  }
  return costs;
}
