import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { noBody } from '#gateway/http/body.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { Exchange } from '#gateway/pipeline/exchange.ts';
import { createRequestIds } from '#gateway/pipeline/request-id.ts';
import { createAccessLog } from '#gateway/recording/access-log.ts';
import { ApiAnalytics } from '#gateway/recording/api-analytics.ts';
import { RecorderMetrics } from '#gateway/recording/recorder-metrics.ts';

/**
 * Micro-benchmark of what a request pays for its access log line, id and metrics: processor time of the whole process,
 * writes of the batches included, in one process without sockets. `node bench/access-log.ts`
 */

const rounds = 9;
const requestsPerRound = 100_000;
/** Requests between two turns of the event loop, so that batches are written. */
const burst = 100;

const identity = {
  id: 'e9c71e4b0d6a4f0f8d1f3a5b7c9d1e2f',
  orgId: '5e9d9544a1dcd60001d0ed20',
  name: 'Orders',
  listenPath: '/orders/',
};
const api = new ApiAnalytics({
  ...identity,
  model: classicToModel({ name: 'Orders', api_id: identity.id, proxy: { listen_path: '/orders/' } }),
});
const headers = [
  ...['Host', 'api.example.org', 'Accept', '*/*', 'Accept-Encoding', 'gzip, br', 'Authorization', 'Bearer x'],
  ...['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ...['Referer', 'https://shop.example.org/cart?step=2'],
];

function createCall(): Exchange {
  const call = new Exchange({
    method: 'GET',
    target: '/orders/1742/items?page=2',
    path: '/orders/1742/items',
    query: 'page=2',
    host: 'api.example.org',
    headers: new HeaderList(headers.slice()),
    body: noBody(),
    peer: { address: '10.1.2.3', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '203.0.113.7',
    receivedAtMs: systemClock.now(),
    startedAt: performance.now(),
  });
  call.keyHash = 'a1b2c3d4';
  call.upstreamOrigin = 'http://10.0.0.5:9000';
  call.upstreamMs = 1.25;
  call.responseBytes = 512;
  return call;
}

type Work = (call: Exchange) => void;

/** Median of the microseconds per request, without those of creating the request. */
async function measure(work: Work): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const empty = await run(() => undefined);
    samples.push((await run(work)) - empty);
  }
  return samples.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

async function run(work: Work): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < requestsPerRound; done += burst) {
    for (let at = 0; at < burst; at++) work(createCall());
    await new Promise(resolve => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));

async function measureLog(name: string, more: Partial<Record<SettingName, string>>): Promise<void> {
  const flags = { 'access_log.output': 'file', 'access_log.file': join(directory, 'access.log'), ...more };
  const accessLog = (await createAccessLog({
    settings: readSettings({ flags }),
    clock: systemClock,
    log: createLog({ level: 'error', format: 'json' }),
    redact: text => text,
  }))!;
  const cost = await measure(call => accessLog.write(call, api, { status: 200, totalMs: 1.5, refusal: '' }));
  const { accepted = 0, dropped = 0 } = accessLog.drainCounts() ?? {};
  await accessLog.close();
  process.stdout.write(`${name.padEnd(44)} ${cost.toFixed(2)} µs  (${accepted} lines, ${dropped} dropped)\n`);
}

await measureLog('access log, JSON', {});
await measureLog('access log, combined', { 'access_log.format': 'combined' });
await measureLog('access log, JSON, query', { 'access_log.query': 'true' });
await measureLog('access log, JSON, 1 % of requests', { 'access_log.sample_share': '0.01' });
const requestIds = createRequestIds(readSettings({ flags: { 'gateway.request_id_header': 'X-Request-Id' } }))!;
const idCost = await measure(call => requestIds.assign(call));
process.stdout.write(`${'request id and header'.padEnd(44)} ${idCost.toFixed(2)} µs\n`);
const metrics = new RecorderMetrics();
const metricsCost = await measure(call => metrics.count(api, 200, 1.5, call.upstreamMs, ''));
process.stdout.write(`${'histograms and counters'.padEnd(44)} ${metricsCost.toFixed(2)} µs\n`);
rmSync(directory, { recursive: true });
