import { maxJsonDepth } from '#base/json.ts';
import { findJsonExcess } from '#base/json-scan.ts';
import { pathRulesOf } from '../../http/path.ts';
import { createJsonResponse, createResponse, GatewayResponse } from '../../http/response.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { refusals, refuse } from '../../pipeline/refusals.ts';
import { createClientClaims } from '../../server/client-claims.ts';
import { type ArrivalOptions, badHeadAnswer } from '../../server/create-exchange.ts';
import type { BuiltInRoute, BuiltInRouteContext, DispatchRequest } from '../built-in-routes.ts';
import { type Kept, memorySink, type Room } from './memory-writer.ts';
import { Batch, callOf, type Part } from './parts.ts';

/** Several calls in one request, each through the whole chain of the API. */
const path = '/gw/batch/';

/** Of one request; the others wait for their turn. */
const partsAtOnce = 10;

interface Result {
  readonly relative_url: string;
  readonly code: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

export function batchRoutes({ model, services }: BuiltInRouteContext): [path: string, route: BuiltInRoute][] {
  if (!model.batch.enabled) return [];
  const { settings, clock } = services;
  const bytes = settings['gateway.max_batch_bytes'];
  const most = settings['gateway.max_batch_requests'];
  const maxValues = settings['gateway.max_body_values'];
  const timeoutMs = settings['gateway.batch_timeout_ms'];
  const options: ArrivalOptions = {
    clock,
    paths: pathRulesOf(settings),
    clientAddress: createClientAddressResolver([]),
    isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
    limits: { headers: settings['gateway.max_headers'] },
  };

  async function batch(whole: Exchange, inside: DispatchRequest): Promise<GatewayResponse> {
    if (whole.method !== 'POST') return createResponse(200);
    // A batch that comes inside of another, or comes round again, could go on for ever.
    if (whole.restrictedToApiId !== '' || whole.loopCount > 0) return refuse(whole, 'batch_nested');
    const asked = readBatch(await whole.body.read(bytes), maxValues);
    if (!asked) return malformed(whole);
    const parts = asked.requests ?? [];
    if (parts.length > most) return refuse(whole, 'batch_too_long', { limit: most });
    const atOnce = asked.suppress_parallel_execution ? 1 : partsAtOnce;
    const room: Room = { left: bytes };
    return createJsonResponse(200, await inTurn(whole, parts, atOnce, part => one(part, whole, inside, room)));
  }

  /** One part after another, some at the same time, until all are answered or the time is up; in the order asked. */
  async function inTurn(whole: Exchange, parts: readonly Part[], atOnce: number, run: (part: Part) => Running) {
    const results: Result[] = parts.map(failed);
    const running = new Set<Running>();
    let next = 0;
    let over = false;
    const stop = () => {
      over = true;
      for (const it of running) it.leave();
    };
    const timer = setTimeout(stop, timeoutMs);
    whole.onDisconnect = stop;
    async function worker(): Promise<void> {
      while (!over && next < parts.length) {
        const at = next++;
        const it = run(parts[at]!);
        running.add(it);
        const kept = await it.answered;
        running.delete(it);
        if (kept) results[at] = resultOf(parts[at]!, kept);
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(atOnce, parts.length) }, worker));
    } finally {
      clearTimeout(timer);
      whole.onDisconnect = undefined;
    }
    return results;
  }

  function one(part: Part, whole: Exchange, inside: DispatchRequest, room: Room): Running {
    const call = callOf(part, whole, options);
    if ('fault' in call) {
      const { headers, body } = badHeadAnswer(call);
      return { answered: Promise.resolve({ status: call.status, headers, body }), leave: () => undefined };
    }
    const { promise, resolve } = Promise.withResolvers<Kept | undefined>();
    /** Nobody waits for the rest. */
    const leave = () => {
      call.isClientDisconnected = true;
      call.onDisconnect?.();
      resolve(undefined);
    };
    inside(
      call,
      memorySink(room, kept => (kept ? resolve(kept) : leave())),
    );
    return { answered: promise, leave };
  }

  return [[path, batch]];
}

interface Running {
  /** Undefined when there was no answer, or none that could be kept. */
  readonly answered: Promise<Kept | undefined>;
  leave(): void;
}

function readBatch(bytes: Buffer, maxValues: number) {
  const text = bytes.toString();
  if (findJsonExcess(text, { maxValues, maxDepth: maxJsonDepth }) !== undefined) return undefined;
  try {
    const parsed = Batch.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Whatever is wrong with it, the caller is told the same.
    return undefined;
  }
}

/** In the notation of management answers, which clients of batches know. */
function malformed(call: Exchange): GatewayResponse {
  const { status, message } = refusals.batch_malformed;
  call.errorCode = 'batch_malformed';
  const { headers, body } = createJsonResponse(status, { status: 'error', message });
  return new GatewayResponse(status, headers, body, true);
}

const failed = ({ relative_url }: Part): Result => ({ relative_url, code: 0, headers: {}, body: '' });

function resultOf({ relative_url }: Part, { status, headers, body }: Kept): Result {
  const named = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const values = named.get(headers[at]!) ?? [];
    named.set(headers[at]!, [...values, headers[at + 1]!]);
  }
  return { relative_url, code: status, headers: Object.fromEntries(named), body: body.toString() };
}
