import { isObject } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import type { ReadUpstreamTls } from '../auth/mirrored-metadata.ts';
import { createUpstreamTls } from '../proxy/connection-options.ts';
import type { PluginContext } from './driver.ts';
import { type HostCall, HostFault } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

/** Bounds of requests of plugins. */
const maxResponseBytes = 262_144;
const maxBatchRequests = 20;
/** Requests of the plugins of one organisation that a thread has in progress. */
const maxRequestsPerOrganisation = 50;
/** Calls of plugins to the main thread that a thread has in progress: other parts of the gateway use the same channel. */
const maxMainCalls = 100;
const maxMainCallsPerOrganisation = 25;
const storageTimeoutMs = 2000;

/** Requests in progress by organisation. */
const inProgress = new Map<string, number>();

/** Calls to the main thread in progress, by organisation. */
const mainCalls = new Map<string, number>();
let mainCallCount = 0;

type HostServices = Pick<PluginServices, 'outbound' | 'log' | 'rpc'>;

/** API whose plugins call. */
export interface PluginOwner {
  readonly id: string;
  readonly orgId: string;
}

/** Organisation of a plugin, TLS options of its API, and the end of its time. */
interface Caller extends HostServices {
  readonly orgId: string;
  readonly readTls: ReadUpstreamTls | undefined;
  readonly until: number;
}

const storageNames = ['Get', 'Set', 'SetNX', 'Del', 'TTL', 'Incr'].map(verb => `GwStorage${verb}`);

/** Functions of the plugins of an API; requests have the TLS options of its upstream. */
export const createApiHostCall = (
  services: HostServices & Pick<PluginServices, 'certificates' | 'upstreamAuthorities'>,
  model: PluginContext['model'],
): HostCall => createHostCall(services, model.identity, createUpstreamTls(model, services));

/** Functions that wait, by their names in scripts. */
export function createHostCall(services: HostServices, owner: PluginOwner, readTls?: ReadUpstreamTls): HostCall {
  const { orgId } = owner;
  const functions: Record<string, (args: readonly unknown[], until: number) => Promise<unknown>> = {
    GwMakeHttpRequest: ([text], until) => makeRequest({ ...services, orgId, readTls, until }, parseArgument(text)),
    GwBatchRequest: ([text], until) => makeBatch({ ...services, orgId, readTls, until }, parseArgument(text)),
  };
  for (const name of ['GwGetKeyData', 'GwSetKeyData'])
    functions[name] = (args, until) => callMain(services, owner, name, args, until - performance.now());
  for (const name of storageNames)
    functions[name] = (args, until) =>
      callMain(services, owner, name, args, Math.min(until - performance.now(), storageTimeoutMs));
  return async (name, args, timeoutMs) => {
    const call = functions[name];
    if (!call) throw new HostFault(`${name} is not available`);
    return call(args, performance.now() + timeoutMs);
  };
}

/** Runs a function on the main thread, within the bounds of calls in progress. */
export async function callMain(
  { rpc, log }: Pick<HostServices, 'rpc' | 'log'>,
  { id: apiId, orgId }: PluginOwner,
  name: string,
  args: readonly unknown[],
  timeoutMs: number,
): Promise<unknown> {
  const running = mainCalls.get(orgId) ?? 0;
  if (running >= maxMainCallsPerOrganisation || mainCallCount >= maxMainCalls)
    throw new HostFault('too many calls of plugins are in progress');
  if (timeoutMs <= 0) throw new HostFault(`${name} has no time left`);
  mainCalls.set(orgId, running + 1);
  mainCallCount++;
  try {
    const result = await rpc('runPluginFunction', { name, orgId, apiId, args }, timeoutMs);
    if ('fault' in result) throw new HostFault(result.fault);
    return result.value;
  } catch (error) {
    if (error instanceof HostFault) throw error;
    if (error instanceof Problem) throw new HostFault(error.message);
    log.error({ err: error, function: name, api: apiId }, 'plugin function failed');
    throw new HostFault(`${name} failed`);
  } finally {
    mainCallCount--;
    const left = mainCalls.get(orgId)! - 1;
    if (left === 0) mainCalls.delete(orgId);
    else mainCalls.set(orgId, left);
  }
}

function parseArgument(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : text;
    if (isObject(value)) return value;
  } catch {
    throw new HostFault('the argument must be a JSON object');
  }
  throw new HostFault('the argument must be a JSON object');
}

interface PluginRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function readHeaders(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

/** Undefined where no response was received, as scripts expect it. */
async function makeRequest(caller: Caller, given: Record<string, unknown>): Promise<string | undefined> {
  const form = readHeaders(given.FormData);
  const isForm = Object.keys(form).length > 0;
  const headers = readHeaders(given.Headers);
  const response = await send(caller, {
    method: text(given.Method).toUpperCase() || 'GET',
    url: text(given.Domain) + text(given.Resource),
    headers: isForm ? { ...headers, 'content-type': 'application/x-www-form-urlencoded' } : headers,
    body: isForm ? new URLSearchParams(form).toString() : text(given.Body),
  });
  if (!response) return undefined;
  const { code, body, headers: received } = response;
  const lists = Object.fromEntries(Object.entries(received).map(([name, value]) => [name, [value]]));
  return JSON.stringify({ Code: code, Body: body, Headers: lists, code, body, headers: lists });
}

async function makeBatch(caller: Caller, given: Record<string, unknown>): Promise<string> {
  const requests = Array.isArray(given.requests) ? given.requests.filter(isObject) : [];
  if (requests.length > maxBatchRequests) throw new HostFault(`a batch has at most ${maxBatchRequests} requests`);
  const run = async (it: Record<string, unknown>) => {
    const url = text(it.relative_url);
    const response = await send(caller, {
      method: text(it.method).toUpperCase() || 'GET',
      url,
      headers: readHeaders(it.headers),
      body: text(it.body),
    });
    return {
      relative_url: url,
      code: response?.code ?? 0,
      headers: response?.headers ?? {},
      body: response?.body ?? '',
    };
  };
  const replies: unknown[] = [];
  if (given.suppress_parallel_execution === true) for (const it of requests) replies.push(await run(it));
  else replies.push(...(await Promise.all(requests.map(run))));
  return JSON.stringify(replies);
}

/** Undefined for the options of all requests, which share connections. */
function findTls(url: string, readTls: ReadUpstreamTls | undefined): ReturnType<ReadUpstreamTls> | undefined {
  const { protocol, origin } = URL.parse(url) ?? {};
  if (!readTls || origin === undefined || protocol !== 'https:') return undefined;
  const tls = readTls(origin);
  return Object.keys(tls).length > 0 ? tls : undefined;
}

/** Undefined where no response was received in time. */
async function send({ outbound, log, orgId, readTls, until }: Caller, { method, url, headers, body }: PluginRequest) {
  const running = inProgress.get(orgId) ?? 0;
  if (running >= maxRequestsPerOrganisation) throw new HostFault('too many requests of plugins are in progress');
  const timeoutMs = Math.floor(until - performance.now());
  if (timeoutMs <= 0) return undefined;
  const tls = findTls(url, readTls);
  inProgress.set(orgId, running + 1);
  try {
    const response = await outbound.fetch({
      url,
      method,
      headers,
      ...(body === '' ? {} : { body }),
      audience: 'operator',
      orgId,
      timeoutMs,
      maxBytes: maxResponseBytes,
      ...(tls ? { tls } : {}),
    });
    return { code: response.status, headers: response.headers, body: response.body.toString() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn({ orgId, reason: error.message }, 'plugin request failed');
    return undefined;
  } finally {
    const left = inProgress.get(orgId)! - 1;
    if (left === 0) inProgress.delete(orgId);
    else inProgress.set(orgId, left);
  }
}
