import type { Dispatcher } from 'undici';
import { toModel } from '#apis/api/rules.ts';
import { Exchange } from '../../pipeline/exchange.ts';
import type { RequestHandler } from '../../pipeline/response-writer.ts';
import type { UpstreamPools } from '../../proxy/pools.ts';
import { type Api, compileApi } from '../../routing/api.ts';
import { createEngine } from '../../routing/engine.ts';
import { prefetchReferences } from '../../routing/loader.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { StepServices } from '../../steps/step-services.ts';
import { arrived } from './build-request.ts';
import { badHeadText, bothTexts, collector, forwardedText, receivedText, shownBytes } from './http-dump.ts';
import { isolated, isolatedSnapshot } from './sandbox.ts';
import type { DebugAsked, DebugRun } from './schema.ts';
import { secretMask } from './secret-mask.ts';
import { createTrace, milliseconds, type Trace } from './trace.ts';
import { noteUpstream, tracedApi } from './traced-api.ts';

export interface DebugSurroundings {
  readonly services: StepServices;
  readonly pools: UpstreamPools;
  readonly snapshot: () => Snapshot;
}

/** Runs one call through a definition that is published nowhere, with the engine of traffic, and tells what happened. */
export async function runDebug(asked: DebugAsked, { services, pools, snapshot }: DebugSurroundings): Promise<DebugRun> {
  const model = toModel(asked.written);
  const trace = createTrace(services.clock, model.identity);
  const own = isolated(services, trace);
  try {
    let api: Api;
    try {
      await prefetchReferences([model], own.services);
      api = tracedApi(compileApi(model, own.services), trace);
    } catch (error) {
      const msg = `The definition cannot be made into an API: ${(error as Error).message}`;
      trace.note({ level: 'error', type: 'request', msg });
      return { built: false, message: 'error', response: '', logs: trace.text() };
    }
    if (api.unavailableReason)
      trace.note({ level: 'error', type: 'request', msg: `The API is not served: ${api.unavailableReason}` });
    const world = isolatedSnapshot(snapshot(), api, own.services, trace);
    const run = await answered(asked, own.services, pools, world, api, trace);
    const masked = secretMask(services);
    return { ...run, response: masked(run.response), logs: masked(run.logs) };
  } finally {
    await own.close();
  }
}

/** Takes the call through the engine, and waits for its answer as long as a test may take. */
async function answered(
  asked: DebugAsked,
  services: StepServices,
  pools: UpstreamPools,
  world: Snapshot,
  api: Api,
  trace: Trace,
): Promise<DebugRun> {
  const came = arrived(asked, api, world, services);
  const { call } = came;
  let request = receivedText(came);
  if (!(call instanceof Exchange)) {
    trace.note({
      level: 'warn',
      type: 'request',
      msg: `refused with ${call.status}: ${call.fault}`,
      code: call.status,
    });
    return { built: true, message: 'ok', response: bothTexts(request, badHeadText(call)), logs: trace.text() };
  }
  const watched = tracedPools(pools, options => {
    request = forwardedText(options);
    trace.at = 'the upstream';
    const address = `${options.origin}${options.path.split('?', 1)[0]}`;
    trace.note({ level: 'info', type: 'request', mw: 'upstream', msg: `sent ${options.method} ${address}` }, call.api);
  });
  const engine = createEngine({ snapshot: () => world, services, pools: watched, record: () => undefined });
  const { message, text } = await collected(call, engine, trace, services.settings['debug.timeout_ms']);
  return { built: true, message, response: bothTexts(request, text), logs: trace.text() };
}

const collected = (call: Exchange, engine: RequestHandler, trace: Trace, timeoutMs: number) =>
  new Promise<{ message: string; text: string }>(resolve => {
    function end(message: string): void {
      clearTimeout(timer);
      resolve({ message, text: answer.text() });
    }
    /** Nobody waits for the rest. */
    function leave(message: string): void {
      end(message);
      call.isClientDisconnected = true;
      call.onDisconnect?.();
    }
    function note(level: 'info' | 'warn', msg: string): void {
      const refused = call.errorCode ? { refusal: call.errorCode } : {};
      const took_ms = milliseconds(call.startedAt);
      trace.note({ level, type: 'response', msg, code: answer.status(), ...refused, took_ms });
    }
    const answer = collector({
      onStart: () => noteUpstream(call, trace),
      onEnd() {
        note('info', `the caller gets ${answer.status()}`);
        end('ok');
      },
      onBroken() {
        note('warn', 'the upstream broke off in the middle of its answer');
        end('ok');
      },
      onFull() {
        note('warn', `the answer is longer than ${shownBytes} bytes: the rest is not shown`);
        leave('ok');
      },
    });
    const timer = setTimeout(() => {
      const message = `The test was given up after ${timeoutMs} ms`;
      trace.note({ level: 'error', type: trace.side, msg: `${message}, waiting for ${trace.at}` }, call.api);
      leave(message);
    }, timeoutMs);
    engine.handle(call, answer.writer);
  });

/** The connections of traffic, with an eye on what goes out. */
export function tracedPools(
  pools: UpstreamPools,
  onSend: (options: Dispatcher.DispatchOptions) => void,
): UpstreamPools {
  return {
    ...pools,
    get(...which: Parameters<UpstreamPools['get']>) {
      const pool = pools.get(...which);
      const dispatch: Dispatcher['dispatch'] = (options, handler) => {
        onSend(options);
        return pool.dispatch(options, handler);
      };
      return new Proxy(pool, { get: (it, name) => (name === 'dispatch' ? dispatch : Reflect.get(it, name)) });
    },
  };
}
