import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { noBody } from '../src/gateway/http/body.ts';
import { HeaderList } from '../src/gateway/http/headers.ts';
import { Exchange } from '../src/gateway/pipeline/exchange.ts';
import type { Api } from '../src/gateway/routing/api.ts';
import type { SpanReport } from '../src/gateway/tracing/request-tracer.ts';
import { createTracer } from '../src/gateway/tracing/tracer.ts';

/*
 * Processor time of tracing per request: start of the trace, attempt, end with encoding, and the transfer of reports. The
 * exchange itself is not counted: each round also runs requests without a tracer, and the difference is the result.
 */
const requestsPerRound = 50_000;
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const headers = 'accept accept-encoding accept-language cache-control connection host user-agent x-request-id'.split(
  ' ',
);
const api = { id: 'a'.repeat(32), orgId: 'b'.repeat(24), name: 'Orders', listenPath: '/orders/' } as Api;

function createCall(): Exchange {
  const call = new Exchange({
    method: 'GET',
    target: '/orders/items/17?page=2',
    path: '/orders/items/17',
    query: 'page=2',
    host: 'api.example.org',
    headers: new HeaderList(headers.flatMap(name => [name, `value of ${name}`])),
    body: noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '10.0.0.7',
    receivedAtMs: 1_794_823_456_789,
    startedAt: performance.now(),
  });
  call.api = api;
  call.listenPath = api.listenPath;
  call.status = 200;
  return call;
}

function createRun(settings: Partial<Record<SettingName, string>>): () => void {
  const port = {
    postMessage(report: SpanReport, transfer: ArrayBuffer[]) {
      // Transfers the buffer, as a message to the main thread does.
      structuredClone(report, { transfer });
      tracer?.onReportAccepted();
    },
  };
  const tracer = createTracer({
    settings: readSettings({ flags: { 'tracing.interval_ms': '60000', ...settings } }),
    log: createLog({ level: 'error', format: 'json' }),
    redact: text => text,
    listCredentialParameters: () => [],
    port,
  });
  return () => {
    const call = createCall();
    tracer?.begin(call);
    call.upstreamStartedAt = performance.now();
    const attempt = {
      origin: 'http://10.1.2.3:8080',
      path: '/items/17?page=2',
      method: 'GET',
      headers: call.headers.flat,
    };
    call.trace?.startAttempt(call, attempt);
    call.trace?.receiveHead(200);
    tracer?.finish(call, true);
  };
}

function measureMicroseconds(run: () => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < requestsPerRound; i++) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

const endpoint = { 'tracing.endpoint': 'http://127.0.0.1:4318' };
const cases: Readonly<Record<string, () => void>> = {
  off: createRun({}),
  'protobuf, share 0.01': createRun({ ...endpoint, 'tracing.sample_share': '0.01' }),
  'protobuf, share 1': createRun(endpoint),
  'JSON, share 0.01': createRun({ ...endpoint, 'tracing.sample_share': '0.01', 'tracing.protocol': 'json' }),
  'JSON, share 1': createRun({ ...endpoint, 'tracing.protocol': 'json' }),
};
const extra = new Map<string, number[]>(Object.keys(cases).map(name => [name, []]));
for (let round = -2; round < rounds; round++) {
  const base = measureMicroseconds(cases.off!);
  for (const [name, run] of Object.entries(cases)) {
    const cost = measureMicroseconds(run) - base;
    // The first rounds warm up.
    if (round >= 0) extra.get(name)!.push(cost);
  }
}
process.stdout.write('| Tracing | µs CPU per request, median | best |\n|---|---|---|\n');
for (const [name, costs] of extra) {
  const sorted = costs.sort((a, b) => a - b);
  process.stdout.write(`| ${name} | ${sorted[sorted.length >> 1]!.toFixed(2)} | ${sorted[0]!.toFixed(2)} |\n`);
}
process.exit(0);
