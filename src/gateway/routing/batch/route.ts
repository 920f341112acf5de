import { maxJsonDepth } from '#base/json.ts';
import { findJsonExcess } from '#base/json-scan.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { pathRulesOf } from '../../http/path.ts';
import { createJsonResponse, createResponse, GatewayResponse } from '../../http/response.ts';
import type { BuiltInRoute, BuiltInRouteContext, DispatchRequest } from '../../pipeline/built-in-route.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { refusals, refuse } from '../../pipeline/refusals.ts';
import { createRequestIds, ensureRequestId } from '../../pipeline/request-id.ts';
import { type CreateExchangeOptions, createBadRequestResponse } from '../../server/create-exchange.ts';
import { type BufferedResponse, type ByteBudget, createMemoryWriter } from './memory-writer.ts';
import { Batch, createPartExchange, type Part } from './parts.ts';

/** Batch requests: several requests in one, each through the whole chain of the API. */
const batchPath = '/gw/batch/';

/** Parts of one batch in flight; the others wait. */
const maxConcurrentParts = 10;

interface Result {
  readonly relative_url: string;
  readonly code: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

export function createBatchRoutes({ model, services }: BuiltInRouteContext): [path: string, route: BuiltInRoute][] {
  if (!model.batch.enabled) return [];
  const { settings, clock } = services;
  const maxBatchBytes = settings['gateway.max_batch_bytes'];
  const maxParts = settings['gateway.max_batch_requests'];
  const maxValues = settings['gateway.max_body_values'];
  const timeoutMs = settings['gateway.batch_timeout_ms'];
  const options: CreateExchangeOptions = {
    clock,
    paths: pathRulesOf(settings),
    clientAddress: createClientAddressResolver([]),
    isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
    limits: { maxHeaders: settings['gateway.max_headers'] },
  };
  const requestIds = createRequestIds(settings);

  async function runBatch(whole: Exchange, inside: DispatchRequest): Promise<GatewayResponse> {
    if (whole.method !== 'POST') return createResponse(200);
    // A nested or looping batch could multiply without end.
    if (whole.restrictedToApiId !== '' || whole.loopCount > 0) return refuse(whole, 'batch_nested');
    const request = readBatch(await whole.body.read(maxBatchBytes), maxValues);
    if (!request) return refuseMalformed(whole);
    const parts = request.requests ?? [];
    if (parts.length > maxParts) return refuse(whole, 'batch_too_long', { limit: maxParts });
    const concurrency = request.suppress_parallel_execution ? 1 : maxConcurrentParts;
    const budget: ByteBudget = { remaining: maxBatchBytes };
    const id = ensureRequestId(whole);
    const start = (part: Part) => {
      const call = createPartExchange(part, whole, options);
      if (!('fault' in call)) {
        call.requestId = id;
        requestIds?.assign(call, id);
      }
      return startPart(call, inside, budget);
    };
    return createJsonResponse(200, await runParts(whole, parts, { concurrency, timeoutMs }, start));
  }

  return [[batchPath, runBatch]];
}

interface RunningPart {
  /** Undefined without a complete response. */
  readonly response: Promise<BufferedResponse | undefined>;
  abandon(): void;
}

/**
 * Runs the parts with bounded concurrency until all have a response or the batch times out; results keep the
 * request order.
 */
async function runParts(
  whole: Exchange,
  parts: readonly Part[],
  { concurrency, timeoutMs }: { readonly concurrency: number; readonly timeoutMs: number },
  start: (part: Part) => RunningPart,
): Promise<Result[]> {
  const results: Result[] = parts.map(toFailedResult);
  const running = new Set<RunningPart>();
  let next = 0;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    for (const it of running) it.abandon();
  };
  const timer = setTimeout(stop, timeoutMs);
  whole.onDisconnect = stop;
  async function worker(): Promise<void> {
    while (!isStopped && next < parts.length) {
      const at = next++;
      const it = start(parts[at]!);
      running.add(it);
      const kept = await it.response;
      running.delete(it);
      if (kept) results[at] = toResult(parts[at]!, kept);
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, parts.length) }, worker));
  } finally {
    clearTimeout(timer);
    whole.onDisconnect = undefined;
  }
  return results;
}

function startPart(
  call: ReturnType<typeof createPartExchange>,
  inside: DispatchRequest,
  budget: ByteBudget,
): RunningPart {
  if ('fault' in call) {
    const { headers, body } = createBadRequestResponse(call);
    return { response: Promise.resolve({ status: call.status, headers, body }), abandon: () => undefined };
  }
  const { promise, resolve } = Promise.withResolvers<BufferedResponse | undefined>();
  /** Cancels the part: its exchange sees a client disconnect. */
  const abandon = () => {
    call.isClientDisconnected = true;
    call.onDisconnect?.();
    resolve(undefined);
  };
  inside(
    call,
    createMemoryWriter(budget, kept => (kept ? resolve(kept) : abandon())),
  );
  return { response: promise, abandon };
}

function readBatch(bytes: Buffer, maxValues: number) {
  const text = bytes.toString();
  if (findJsonExcess(text, { maxValues, maxDepth: maxJsonDepth }) !== undefined) return undefined;
  try {
    const parsed = Batch.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Every parse error gets the same refusal.
    return undefined;
  }
}

/** Refusal in the format of management responses, which batch clients expect. */
function refuseMalformed(call: Exchange): GatewayResponse {
  const { status, message } = refusals.batch_malformed;
  call.errorCode = 'batch_malformed';
  const { headers, body } = createJsonResponse(status, { status: 'error', message });
  return new GatewayResponse(status, headers, body, true);
}

const toFailedResult = ({ relative_url }: Part): Result => ({ relative_url, code: 0, headers: {}, body: '' });

function toResult({ relative_url }: Part, { status, headers, body }: BufferedResponse): Result {
  const named = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const values = named.get(headers[at]!) ?? [];
    named.set(headers[at]!, [...values, headers[at + 1]!]);
  }
  return { relative_url, code: status, headers: Object.fromEntries(named), body: body.toString() };
}
