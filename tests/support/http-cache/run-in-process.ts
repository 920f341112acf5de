import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import type { ResponseCache } from '#gateway/cache/response-cache.ts';
import { createSharedMemoryCache } from '#gateway/cache/shared-memory-cache.ts';
import { createSlabBuffer } from '#gateway/cache/shared-slab.ts';
import { bodyFromBytes, noBody } from '#gateway/http/body.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { GatewayResponse } from '#gateway/http/response.ts';
import { Exchange, type StepHooks } from '#gateway/pipeline/exchange.ts';
import { refuse } from '#gateway/pipeline/refusals.ts';
import { cacheStep } from '#gateway/steps/cache.ts';
import { caseStartMs, checkStep, type HttpCase, type Observed, type Reply, replyTo, type StepOptions } from './case.ts';

const settings = readSettings({ flags: { 'cache.status_header': 'true' } });

const createModel = (options: object) =>
  classicToModel({
    ...{ api_id: 'api', org_id: 'org', name: 'A', use_keyless: true },
    cache_options: { enable_cache: true, mode: 'http', cache_all_safe_requests: true, ...options },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  } as unknown as ClassicDefinition);

function createCall({
  method = 'GET',
  path = '/a',
  headers = {},
  key = '',
  address = '10.0.0.1',
}: StepOptions): Exchange {
  const [pathname = '', query = ''] = path.split('?');
  const call = new Exchange({
    ...{ method, target: `/api${path}`, path: `/api${pathname}`, query, host: 'example.org' },
    headers: new HeaderList(Object.entries({ host: 'example.org', ...headers }).flat()),
    body: noBody(),
    peer: { address, isTls: false, serverName: '', certificate: undefined },
    ...{ clientAddress: address, receivedAtMs: 0, startedAt: 0 },
  });
  call.innerPath = pathname;
  call.keyId = key;
  return call;
}

const toRecord = (headers: HeaderList): Record<string, string> => {
  const record: Record<string, string> = {};
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    record[lower] = lower in record ? `${record[lower]}, ${value}` : value;
  }
  return record;
};

/** The cache step of an API on a virtual clock, with an upstream that responds as the case states. */
export function createHttpCacheBench(options: object = {}, cache?: (clock: { now(): number }) => ResponseCache) {
  const time = { ms: caseStartMs };
  const clock = { now: () => time.ms };
  const model = createModel(options);
  const buffer = createSlabBuffer(1_000_000)!;
  const responseCache = cache?.(clock) ?? createSharedMemoryCache({ buffer, maxLocalBytes: 100_000, clock });
  const services = { clock, settings, responseCache } as never;
  const hooks = cacheStep.build({ model, version: model.versions[0]!, services } as never) as Required<StepHooks>;
  let reply: Reply = {};
  let requests = 0;
  let sent: Record<string, string> = {};

  /** The upstream and the response phase, as `respond.ts` runs them. */
  function forward(call: Exchange, delaySeconds: number): GatewayResponse {
    requests++;
    sent = toRecord(call.headers);
    const body = `body ${requests}`;
    time.ms += delaySeconds * 1000;
    if (reply.fails) return hooks.replaceRefusal(call) ?? refuse(call, 'upstream_failed');
    const made = replyTo(reply, sent, body);
    const response = new GatewayResponse(made.status, new HeaderList(made.headers.flat()), noBody());
    call.status = made.status;
    const replacement = hooks.finalizeResponse(call, response);
    if (replacement) return replacement;
    const bytes = Buffer.from(call.method === 'HEAD' ? '' : made.body);
    hooks.captureBody(call, response)?.complete(bytes);
    response.body = bodyFromBytes(bytes);
    return response;
  }

  async function send(step: StepOptions): Promise<Observed> {
    if (step.reply) reply = step.reply;
    const before = requests;
    const call = createCall(step);
    const response = (await hooks.request(call)) ?? forward(call, step.delay ?? 0);
    hooks.onFinish(call);
    if (call.background) {
      forward(call.background, 0);
      hooks.onFinish(call.background);
    }
    const isRefused = response.isGatewayError;
    return {
      status: response.status,
      headers: { ...toRecord(response.headers), ...(isRefused && { 'x-generator': 'gatewright' }) },
      body: response.body.bytes?.toString() ?? '',
      requests: requests - before,
      sent,
    };
  }

  return { send, time, clock, responseCache, hooks, forward, createCall };
}

export async function runInProcess(
  given: HttpCase,
  cache?: (clock: { now(): number }) => ResponseCache,
): Promise<void> {
  const bench = createHttpCacheBench(given.options, cache);
  let isFirst = true;
  for (const step of given.steps) {
    const [seconds, , more = {}] = step;
    bench.time.ms += seconds * 1000;
    const observed = await bench.send(isFirst && given.reply ? { reply: given.reply, ...more } : more);
    isFirst = false;
    checkStep(given.title, step, observed);
  }
}
