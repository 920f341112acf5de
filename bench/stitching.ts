import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFederation } from '../src/languages/lazy-languages.ts';
import { ensureBenchServices } from '../tools/services.ts';
import { benchSupergraph, confirmSupergraph, supergraphSchemas } from './federation.ts';
import { startGateway } from './gateway.ts';
import { measureThroughput, type Result } from './load.ts';
import { type MeasuredProcess, startPinned, waitForPort } from './processes.ts';

const [measuredCore, otherCore] = ['0', '1'];
const ports = { gateway: 18_480, dashboard: 18_481, portal: 18_482, subgraphs: 18_483, stitching: 18_484 };
const rounds = Number(process.env.BENCH_ROUNDS ?? '5');
const seconds = Number(process.env.BENCH_SECONDS ?? '2');
/** Optimised code of both needs requests, not seconds: the cost of the first thousands is several times that of later ones. */
const warmUpRequests = Number(process.env.BENCH_WARM_UP_REQUESTS ?? '20000');
const connections = 8;

/** No dependency of the product: exact versions, of which the newest do not install from the registry. */
const compared = {
  private: true,
  dependencies: { '@graphql-tools/federation': '4.5.1', '@graphql-tools/executor': '1.5.0', graphql: '16.15.0' },
  overrides: { '@graphql-tools/delegate': '12.2.1', '@graphql-tools/batch-execute': '10.2.0' },
};

function installCompared(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), JSON.stringify(compared));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'], { cwd: directory });
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Compile cache and web apps, as `npm ci` leaves them: a gateway without them builds them in a child process. */
function warmCaches(): void {
  const script = join(import.meta.dirname, '../tools/warm.ts');
  execFileSync(process.execPath, ['--no-allocation-site-pretenuring', '--expose-gc', script], { stdio: 'ignore' });
}

/** The gateway and @graphql-tools/federation in turns: the same query, the same subgraphs, bodies compared. */
async function run(directory: string): Promise<void> {
  const packages = join(directory, 'packages');
  installCompared(packages);
  const script = (name: string) => join(import.meta.dirname, name);
  const subgraphsUrl = `http://127.0.0.1:${ports.subgraphs}`;
  const started: MeasuredProcess[] = [];
  const start = async (core: string, port: number, args: readonly string[]) => {
    const measured = startPinned(core, process.execPath, args);
    started.push(measured);
    await waitForPort(port, measured);
    return measured;
  };
  try {
    await start(otherCore!, ports.subgraphs, [script('subgraph-server.ts'), String(ports.subgraphs)]);
    const composed = loadFederation().composeSupergraph(supergraphSchemas());
    if ('errors' in composed) throw new Error(JSON.stringify(composed.errors));
    const file = join(directory, 'supergraph.graphql');
    writeFileSync(file, composed.supergraphSdl);
    const theirs = await start(measuredCore!, ports.stitching, [
      script('stitching-server.ts'),
      ...[packages, String(ports.stitching), file, subgraphsUrl],
    ]);
    const gateway = await startGateway(join(directory, 'data'), ports, measuredCore!, 1);
    started.push(gateway);
    const definition = {
      ...{ api_id: 'supergraph', name: 'supergraph', active: true, use_keyless: true },
      proxy: { listen_path: '/supergraph/', target_url: '', strip_listen_path: true },
      graphql: benchSupergraph(subgraphsUrl, ''),
    };
    const { status, body } = await gateway.send('POST', '/gw/apis', definition);
    if (status !== 200) throw new Error(JSON.stringify(body));
    await gateway.waitUntilServed();
    const [ours, other] = [
      { measured: gateway as MeasuredProcess, url: await confirmSupergraph(`${gateway.url}/supergraph/`) },
      { measured: theirs, url: await confirmSupergraph(`http://127.0.0.1:${ports.stitching}/`) },
    ];
    await compare(ours!, other!);
  } finally {
    for (const it of started.reverse()) await it.stop();
  }
}

interface Side {
  readonly measured: MeasuredProcess;
  readonly url: string;
}

async function compare(ours: Side, other: Side): Promise<void> {
  const load = async ({ measured, url }: Side, duration: number): Promise<Result> => {
    const result = await measureThroughput(measured, { url, connections }, duration, otherCore!);
    if (result.failed > 0) throw new Error(`${result.failed} requests failed`);
    return result;
  };
  for (const side of [ours, other])
    for (let sent = 0; sent < warmUpRequests; ) sent += (await load(side, seconds)).requests;
  const results: (readonly [Result, Result])[] = [];
  for (let round = 0; round < rounds; round++) results.push([await load(ours, seconds), await load(other, seconds)]);
  const ratios = results.map(([mine, their]) => their.cpuMicrosPerRequest / mine.cpuMicrosPerRequest);
  const micros = (at: 0 | 1) => Math.round(median(results.map(pair => pair[at].cpuMicrosPerRequest)));
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  console.log(`supergraph, 3 subgraphs: ${micros(0)} µs of processor time per request`);
  console.log(`@graphql-tools/federation 4.5.1: ${micros(1)} µs`);
  console.log(`ratio: ${median(ratios).toFixed(2)} (${range}), ${rounds} rounds`);
}

ensureBenchServices();
warmCaches();
const directory = mkdtempSync(join(tmpdir(), 'gw-bench-stitching-'));
try {
  await run(directory);
} finally {
  rmSync(directory, { recursive: true });
}
