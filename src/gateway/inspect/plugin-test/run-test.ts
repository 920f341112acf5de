import { isDeepStrictEqual } from 'node:util';
import { Key } from '#access/keys/schema.ts';
import { isRecord } from '#access/keys/session.ts';
import type { Exchange, StepResult } from '../../pipeline/exchange.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { createHostCall } from '../../plugins/host-functions.ts';
import { PluginError } from '../../plugins/plugin-runner.ts';
import { type ApiPlugins, loadApiPlugins } from '../../plugins/plugin-set.ts';
import { applyRequestResult, encodeRequestCall, parseResult, readResultObject } from '../../plugins/request-hook.ts';
import { encodeSession } from '../../plugins/session.ts';
import { stripAhead } from '../../plugins/typescript/module-files.ts';
import { applyResponseResult } from '../../steps/response-plugins.ts';
import type { StepServices } from '../../steps/step-services.ts';
import { toVirtualResponse } from '../../steps/virtual-endpoint.ts';
import type { HookType, PluginTestOutcome, PluginTestReply, PluginTestTask } from './schema.ts';
import {
  buildTestedExchange,
  buildTestedResponse,
  describeRequest,
  describeResponse,
  setTestedSession,
} from './tested-exchange.ts';
import { buildTestedModel } from './tested-model.ts';

/** Runs one hook of the given code on an exchange, with the drivers and the sandbox of traffic. */
export async function runPluginTest(task: PluginTestTask, services: StepServices): Promise<PluginTestReply> {
  const { write } = task;
  const call = buildTestedExchange(write.request, services);
  if ('fault' in call) return { fault: call.fault, part: 'request' };
  if (write.session) {
    const key = Key.safeParse(write.session);
    const fault = key.success
      ? await setTestedSession(call, key.data, task.orgId, services)
      : `${key.error.issues[0]?.path.join('.')}: ${key.error.issues[0]?.message}`;
    if (fault !== undefined) return { fault, part: 'session' };
  }
  if (write.driver === 'typescript') await stripAhead(write.code);
  return { result: await createTestRun(task, call, restrictServices(task, services)).run() };
}

const keyFunctions = new Set(['GwGetKeyData', 'GwSetKeyData']);

/** Services of a test: no files, and keys only for callers who may use them. */
function restrictServices({ mayUseKeys }: PluginTestTask, services: StepServices): StepServices {
  const settings = { ...services.settings, 'plugins.directory': '' };
  if (mayUseKeys) return { ...services, settings };
  const rpc = (async (name: 'runPluginFunction', given: { readonly name: string }, timeoutMs: number) =>
    keyFunctions.has(given.name)
      ? { fault: `${given.name} needs the permission to write keys` }
      : services.rpc(name, given as never, timeoutMs)) as StepServices['rpc'];
  return { ...services, settings, rpc };
}

const lists = { pre: 'pre', post: 'post', post_key_auth: 'postAuth', auth_check: 'auth' } as const;
type RequestType = keyof typeof lists;
const isRequestType = (type: HookType): type is RequestType => type in lists;

function createTestRun(task: PluginTestTask, call: Exchange, services: StepServices) {
  const { write, name } = task;
  const { hook_type: type } = write;
  const rules = { stripsListenPath: false, skipsResponseSteps: false };
  const response = type === 'response' ? buildTestedResponse(write.response ?? {}) : undefined;
  const before = { request: describeRequest(call), response: response ? describeResponse(response) : null };
  const sessionBefore = call.session;
  let startedAt = performance.now();
  let session: unknown = null;

  function updateSession(meta: unknown): void {
    if (!call.session || !isRecord(meta) || isDeepStrictEqual(meta, sessionBefore?.metaData)) return;
    if (Object.keys(meta).length > 0) call.session = { ...call.session, metaData: meta };
  }

  /** Result of the hook applied to the exchange, with the lines it logged. */
  async function runHook(
    plugins: ApiPlugins,
  ): Promise<{ readonly sent: StepResult; readonly logs: readonly string[] }> {
    const body = call.body.bytes ?? Buffer.alloc(0);
    if (response) {
      const [hook] = plugins.hooks.response;
      const { members, logs } = await plugins.driver.runResponseHook(
        hook!,
        call,
        response,
        response.body.bytes ?? body,
      );
      applyResponseResult(call, response, readResultObject(members.Response, 'Response'));
      return { sent: response, logs };
    }
    if (!isRequestType(type)) {
      const head = encodeRequestCall('virtual', name, call, encodeSession(call));
      const host = createHostCall(services, { id: task.apiId, orgId: task.orgId });
      const { text, logs } = await plugins.virtualScripts!.run({ head, body: body.toString() }, host);
      const given = parseResult(text);
      updateSession(given.SessionMeta);
      return { sent: toVirtualResponse(call, given, rules), logs };
    }
    const [hook] = plugins.hooks[lists[type]];
    const { members, logs } = await plugins.driver.runRequestHook(hook!, lists[type], call, body);
    const sent = applyRequestResult(call, readResultObject(members.Request, 'Request'), rules);
    if (type === 'auth_check') session = members.Session ?? null;
    else updateSession(members.SessionMeta);
    return { sent, logs };
  }

  const describe = (logs: readonly string[]) => {
    const time = new Date(services.clock.now()).toISOString();
    return {
      logs: logs.map(message => ({ level: 'info', message, time })),
      request_before: before.request,
      response_before: before.response,
      execution_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
    };
  };

  return {
    async run(): Promise<PluginTestOutcome> {
      try {
        const model = buildTestedModel(task);
        const plugins = loadApiPlugins({ model, version: model.versions[0]!, services })!;
        startedAt = performance.now();
        const { sent, logs } = await runHook(plugins);
        if (session === null && call.session) session = JSON.parse(encodeSession(call));
        return {
          ...describe(logs),
          request_after: describeRequest(call),
          response_after: sent ? describeResponse(sent) : null,
          session_after: session,
          error: null,
        };
      } catch (error) {
        if (!(error instanceof PluginError || error instanceof ApiCompileError)) throw error;
        const logs = error instanceof PluginError ? error.logs : [];
        const failed = { request_after: null, response_after: null, session_after: null };
        return { ...describe(logs), ...failed, error: describeError(error) };
      }
    },
  };
}

/** Error of a plugin with its place, which is the front of its message. */
function describeError(error: PluginError | ApiCompileError): NonNullable<PluginTestOutcome['error']> {
  const text = error.message.replace(/^a plugin does not load: /, '');
  const [, file = '', line = '0', rest = text] = /^([^\s:]+):(\d+): (.*)$/s.exec(text) ?? [];
  const type = error instanceof ApiCompileError ? 'syntax' : (error.loadType ?? error.type);
  return { message: rest, type, file, line: Number(line) };
}
