import { toModel } from '#apis/api/rules.ts';
import { Exchange } from '../../pipeline/exchange.ts';
import type { RequestHandler } from '../../pipeline/response-writer.ts';
import type { UpstreamPools } from '../../proxy/pools.ts';
import { type Api, compileApi } from '../../routing/api.ts';
import { createDispatcher } from '../../routing/dispatch.ts';
import { prefetchReferences } from '../../routing/loader.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { StepServices } from '../../steps/step-services.ts';
import { buildRequest } from './build-request.ts';
import {
  createResponseCollector,
  formatForwarded,
  formatInvalidRequest,
  formatReceived,
  joinDumps,
  maxDumpBytes,
} from './http-dump.ts';
import { createSandbox, createSandboxSnapshot } from './sandbox.ts';
import type { DebugRun, DebugTask } from './schema.ts';
import { createSecretMask } from './secret-mask.ts';
import { createTrace, measureMs, type Trace } from './trace.ts';
import { noteUpstream, traceApi } from './traced-api.ts';
import { tracePools } from './traced-pools.ts';

export interface DebugContext {
  readonly services: StepServices;
  readonly pools: UpstreamPools;
  readonly snapshot: () => Snapshot;
}

/** Debug run: one request through an unpublished definition with the dispatcher of traffic, in a sandbox, with a trace. */
export async function runDebug(task: DebugTask, { services, pools, snapshot }: DebugContext): Promise<DebugRun> {
  const model = toModel(task.definition);
  const trace = createTrace(services.clock, model.identity);
  const sandbox = createSandbox(services, trace);
  try {
    let api: Api;
    try {
      await prefetchReferences([model], sandbox.services);
      api = traceApi(compileApi(model, sandbox.services), trace);
    } catch (error) {
      const msg = `The definition cannot be compiled: ${(error as Error).message}`;
      trace.note({ level: 'error', type: 'request', msg });
      return { built: false, message: 'error', response: '', logs: trace.text() };
    }
    if (api.unavailableReason)
      trace.note({ level: 'error', type: 'request', msg: `The API is not served: ${api.unavailableReason}` });
    const sandboxSnapshot = createSandboxSnapshot(snapshot(), api, sandbox.services, trace);
    const run = await runExchange(task, sandbox.services, pools, sandboxSnapshot, api, trace);
    const mask = createSecretMask(services);
    return { ...run, response: mask(run.response), logs: mask(run.logs) };
  } finally {
    await sandbox.close();
  }
}

/** Runs the exchange through the dispatcher, within the debug timeout. */
async function runExchange(
  task: DebugTask,
  services: StepServices,
  pools: UpstreamPools,
  snapshot: Snapshot,
  api: Api,
  trace: Trace,
): Promise<DebugRun> {
  const built = buildRequest(task, api, snapshot, services);
  const { call } = built;
  let request = formatReceived(built);
  if (!(call instanceof Exchange)) {
    trace.note({
      level: 'warn',
      type: 'request',
      msg: `refused with ${call.status}: ${call.fault}`,
      code: call.status,
    });
    return { built: true, message: 'ok', response: joinDumps(request, formatInvalidRequest(call)), logs: trace.text() };
  }
  const watched = tracePools(pools, options => {
    request = formatForwarded(options);
    trace.waitingFor = 'the upstream';
    const address = `${options.origin}${options.path.split('?', 1)[0]}`;
    trace.note({ level: 'info', type: 'request', mw: 'upstream', msg: `sent ${options.method} ${address}` }, call.api);
  });
  const dispatcher = createDispatcher({ snapshot: () => snapshot, services, pools: watched, record: () => undefined });
  const { message, text } = await collectResponse(call, dispatcher, trace, services.settings['debug.timeout_ms']);
  return { built: true, message, response: joinDumps(request, text), logs: trace.text() };
}

const collectResponse = (call: Exchange, dispatcher: RequestHandler, trace: Trace, timeoutMs: number) =>
  new Promise<{ message: string; text: string }>(resolve => {
    function end(message: string): void {
      clearTimeout(timer);
      resolve({ message, text: answer.text() });
    }
    /** Cancels the exchange as a client disconnect. */
    function abandon(message: string): void {
      end(message);
      call.isClientDisconnected = true;
      call.onDisconnect?.();
    }
    function note(level: 'info' | 'warn', msg: string): void {
      const refused = call.errorCode ? { refusal: call.errorCode } : {};
      const took_ms = measureMs(call.startedAt);
      trace.note({ level, type: 'response', msg, code: answer.status(), ...refused, took_ms });
    }
    const answer = createResponseCollector({
      onStart: () => noteUpstream(call, trace),
      onEnd() {
        note('info', `the client gets status ${answer.status()}`);
        end('ok');
      },
      onAbort() {
        note('warn', 'the upstream truncated its response');
        end('ok');
      },
      onFull() {
        note('warn', `the response is longer than ${maxDumpBytes} bytes: the rest is not shown`);
        abandon('ok');
      },
    });
    const timer = setTimeout(() => {
      const message = `The test timed out after ${timeoutMs} ms`;
      trace.note({ level: 'error', type: trace.phase, msg: `${message}, waiting for ${trace.waitingFor}` }, call.api);
      abandon(message);
    }, timeoutMs);
    dispatcher.handle(call, answer.writer);
  });
