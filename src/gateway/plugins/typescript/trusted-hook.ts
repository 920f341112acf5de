import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import {
  type DriverContext,
  decodeHookBody,
  describeApi,
  type HookList,
  type HookReturn,
  needsSession,
  type PluginHook,
  type TypedHook,
  toRequestReturn,
  toResponseReturn,
} from '../driver.ts';
import { createApiHostCall } from '../host-functions.ts';
import { type HostCall, PluginError } from '../plugin-runner.ts';
import { formatHookUrl, listParameters } from '../request-hook.ts';
import { encodeSession } from '../session.ts';
import type { HookSession } from './contract.ts';
import {
  collectRequestChanges,
  collectResponseChanges,
  type HookHost,
  type RequestSource,
  TypedContext,
  TypedRequest,
  TypedResponse,
} from './hook-objects.ts';
import { describeThrown, HookTimeout, limitTime } from './trusted-modules.ts';

/** Log lines of one call; further ones are dropped. */
const maxLogLines = 50;

/** Host functions of one call, with its log lines. */
export class TrustedHost implements HookHost {
  readonly logs: string[] = [];
  readonly #hostCall: HostCall;
  readonly #timeoutMs: number;

  constructor(hostCall: HostCall, timeoutMs: number) {
    this.#hostCall = hostCall;
    this.#timeoutMs = timeoutMs;
  }

  log(text: string): void {
    if (this.logs.length < maxLogLines) this.logs.push(text);
  }

  call(name: string, args: readonly unknown[]): Promise<unknown> {
    return this.#hostCall(name, args, this.#timeoutMs);
  }
}

class CallSource implements RequestSource {
  readonly method: string;
  readonly scheme: string;
  readonly url: string;
  readonly receivedUrl: string;
  readonly readBody: () => string;
  readonly #call: Exchange;

  constructor(call: Exchange, readBody: () => string) {
    this.method = call.method;
    this.scheme = call.peer.isTls ? 'https' : 'http';
    this.url = formatHookUrl(call);
    this.receivedUrl = call.target;
    this.readBody = readBody;
    this.#call = call;
  }

  listHeaders(): readonly string[] {
    const { headers, host } = this.#call;
    return headers.has('host') ? headers.flat : [...headers.flat, 'Host', host];
  }

  listParameters(): readonly string[] {
    return listParameters((this.#call.rewrittenTarget ?? this.#call).query);
  }
}

const readNothing = () => '';
const listNothing = () => [];

/** Hook of a trusted file: runs in the traffic thread, and may be asynchronous. */
export function createTrustedHook(hook: PluginHook, context: DriverContext): TypedHook {
  const { model, services } = context;
  const { functionName, path } = hook;
  const run = services.trustedModules.find(path)[functionName];
  if (typeof run !== 'function') throw new ApiCompileError(`the plugin ${path} exports no function ${functionName}`);
  const hostCall = createApiHostCall(services, model);
  const timeoutMs = services.settings['plugins.timeout_ms'];
  // A copy: a plugin that changes it changes no definition.
  const data = structuredClone(describeApi(context));
  const createContext = (list: HookList, call: Exchange, host: TrustedHost) => {
    const session = needsSession(hook, list) ? encodeSession(call) : '';
    return new TypedContext(data, session === '' ? undefined : (JSON.parse(session) as HookSession), host);
  };
  return {
    runRequest(list, call, body) {
      const host = new TrustedHost(hostCall, timeoutMs);
      const request = new TypedRequest(new CallSource(call, () => decodeHookBody(hook, body)));
      const hookContext = createContext(list, call, host);
      return execute(
        timeoutMs,
        host,
        () => run(request, hookContext),
        result => toRequestReturn(hook, collectRequestChanges(request, hookContext, result), host.logs),
      );
    },
    runResponse(call, received, body) {
      const host = new TrustedHost(hostCall, timeoutMs);
      const request = new TypedRequest(new CallSource(call, readNothing));
      const source = { listHeaders: () => received.headers.flat, listParameters: listNothing };
      const response = new TypedResponse(received.status, source, () => decodeHookBody(hook, body));
      const hookContext = createContext('response', call, host);
      return execute(
        timeoutMs,
        host,
        () => run(response, request, hookContext),
        result => toResponseReturn(hook, collectResponseChanges(response, result), host.logs),
      );
    },
  };
}

/** Runs a hook and collects its changes; an exception is a failure of the plugin, with file and line. */
function execute(
  timeoutMs: number,
  { logs }: TrustedHost,
  run: () => unknown,
  collect: (result: unknown) => HookReturn,
): MaybePromise<HookReturn> {
  const fail = (error: unknown): never => {
    const type = error instanceof HookTimeout ? 'timeout' : 'runtime';
    throw new PluginError(type, describeThrown(error), logs);
  };
  try {
    const result = run();
    return result instanceof Promise ? limitTime(result, timeoutMs).then(collect).catch(fail) : collect(result);
  } catch (error) {
    return fail(error);
  }
}
