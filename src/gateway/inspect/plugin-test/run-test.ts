import { Key } from '#access/keys/schema.ts';
import { isObject } from '#base/json-tree.ts';
import { type Body, noBytes } from '../../http/body.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange, StepResult } from '../../pipeline/exchange.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { createHostCall } from '../../plugins/host-functions.ts';
import { PluginError } from '../../plugins/plugin-runner.ts';
import { type ApiPlugins, loadApiPlugins } from '../../plugins/plugin-set.ts';
import { applyRequestResult, encodeRequestCall, parseResult, readResultObject } from '../../plugins/request-hook.ts';
import { encodeSession } from '../../plugins/session.ts';
import { stripAhead } from '../../plugins/typescript/module-files.ts';
import { scopeServices } from '../../steps/organisation-services.ts';
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
  return { result: await runTest(task, call, restrictServices(task, services)) };
}

const keyFunctions = new Set(['GwGetKeyData', 'GwSetKeyData']);

/** Services of a test: those of the organisation, no files, and keys only for callers who may use them. */
function restrictServices({ orgId, mayUseKeys }: PluginTestTask, threadServices: StepServices): StepServices {
  const { services } = scopeServices(threadServices, orgId);
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

/** A test in progress: the exchange, and what the hook did to it. */
interface TestState {
  readonly task: PluginTestTask;
  readonly call: Exchange;
  readonly services: StepServices;
  /** Response of the upstream, for a response hook. */
  readonly response: GatewayResponse | undefined;
  /** Session that a hook of authentication returned. */
  authSession: unknown;
}

interface HookOutcome {
  readonly sent: StepResult;
  readonly logs: readonly string[];
}

const rules = { stripsListenPath: false, skipsResponseSteps: false };
const readBytes = ({ bytes }: Body) => bytes ?? noBytes;

function updateSession(call: Exchange, meta: unknown): void {
  if (!call.session || !isObject(meta) || Object.keys(meta).length === 0) return;
  call.session = { ...call.session, metaData: meta };
}

async function runResponseHook({ call }: TestState, response: GatewayResponse, { hooks, driver }: ApiPlugins) {
  const { members, logs } = await driver.runResponseHook(hooks.response[0]!, call, response, readBytes(response.body));
  applyResponseResult(call, response, readResultObject(members.Response, 'Response'));
  return { sent: response, logs };
}

async function runVirtualHook({ task, call, services }: TestState, { virtualScripts }: ApiPlugins) {
  const head = encodeRequestCall('virtual', task.name, call, encodeSession(call));
  const host = createHostCall(services, { id: task.apiId, orgId: task.orgId });
  const { text, logs } = await virtualScripts!.run({ head, body: readBytes(call.body).toString() }, host);
  const given = parseResult(text);
  updateSession(call, given.SessionMeta);
  return { sent: toVirtualResponse(call, given, rules), logs };
}

/** Result of the hook applied to the exchange, with the lines that it logged. */
async function runHook(state: TestState, plugins: ApiPlugins): Promise<HookOutcome> {
  const { call, response, task } = state;
  const { hook_type: type } = task.write;
  if (response) return runResponseHook(state, response, plugins);
  if (!isRequestType(type)) return runVirtualHook(state, plugins);
  const list = lists[type];
  const { members, logs } = await plugins.driver.runRequestHook(
    plugins.hooks[list][0]!,
    list,
    call,
    readBytes(call.body),
  );
  const sent = applyRequestResult(call, readResultObject(members.Request, 'Request'), rules);
  if (list === 'auth') state.authSession = members.Session;
  else updateSession(call, members.SessionMeta);
  return { sent, logs };
}

async function runTest(task: PluginTestTask, call: Exchange, services: StepServices): Promise<PluginTestOutcome> {
  const response = task.write.hook_type === 'response' ? buildTestedResponse(task.write.response ?? {}) : undefined;
  const state: TestState = { task, call, services, response, authSession: undefined };
  const before = {
    request_before: describeRequest(call),
    response_before: response ? describeResponse(response) : null,
  };
  let startedAt = performance.now();
  const describe = (logs: readonly string[]) => {
    const time = new Date(services.clock.now()).toISOString();
    const execution_ms = Math.round((performance.now() - startedAt) * 1000) / 1000;
    return { logs: logs.map(message => ({ level: 'info', message, time })), ...before, execution_ms };
  };
  try {
    const model = buildTestedModel(task);
    const plugins = loadApiPlugins({ model, version: model.versions[0]!, services })!;
    startedAt = performance.now();
    const { sent, logs } = await runHook(state, plugins);
    const session = call.session ? JSON.parse(encodeSession(call)) : null;
    return {
      ...describe(logs),
      request_after: describeRequest(call),
      response_after: sent ? describeResponse(sent) : null,
      session_after: state.authSession ?? session,
      error: null,
    };
  } catch (error) {
    if (!(error instanceof PluginError || error instanceof ApiCompileError)) throw error;
    const failed = { request_after: null, response_after: null, session_after: null };
    return { ...describe(error instanceof PluginError ? error.logs : []), ...failed, error: describeError(error) };
  }
}

/** Error of a plugin with its place, which is the front of its message. */
function describeError(error: PluginError | ApiCompileError): NonNullable<PluginTestOutcome['error']> {
  const text = error.message.replace(/^a plugin does not load: /, '');
  const [, file = '', line = '0', rest = text] = /^([^\s:]+):(\d+): (.*)$/s.exec(text) ?? [];
  const type = error instanceof ApiCompileError ? 'syntax' : (error.loadType ?? error.type);
  return { message: rest, type, file, line: Number(line) };
}
