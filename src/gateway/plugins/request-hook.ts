import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';
import { isObject } from '#base/json-tree.ts';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { framingHeaders, HeaderList } from '../http/headers.ts';
import { isAuthority } from '../http/request-head.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refusalResponse } from '../pipeline/refusals.ts';
import { PluginError } from './plugin-runner.ts';
import { parsePluginUrl } from './plugin-target.ts';

/** Kinds of calls that `guest-prelude.ts` decodes. */
export type HookKind = 'request' | 'response' | 'virtual';

/** Canonical names of plugins: `x-request-id` as `X-Request-Id`. */
export const toCanonicalName = (name: string): string => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase());

/** Lines of headers or parameters; a value with a line break cannot occur in a header and ends a parameter list. */
function pushPairs(lines: string[], flat: readonly string[]): number {
  let count = 0;
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const value = flat[i + 1]!;
    lines.push(toCanonicalName(flat[i]!), value.includes('\n') ? value.replaceAll('\n', ' ') : value);
    count++;
  }
  return count;
}

/** Flat list of query parameters. */
export function listParameters(query: string): string[] {
  if (query === '') return [];
  const flat: string[] = [];
  for (const [name, value] of new URLSearchParams(query))
    flat.push(name.replaceAll(/[\r\n]/g, ' '), value.replaceAll(/[\r\n]/g, ' '));
  return flat;
}

/** URL as a hook sees it: after rewrites, with the query. */
export function formatHookUrl(call: Exchange): string {
  const { path, query } = call.rewrittenTarget ?? call;
  return query === '' ? path : `${path}?${query}`;
}

/** Encodes a call of a hook without the seed; see `guest-prelude.ts` for the lines. */
export function encodeRequestCall(kind: HookKind, hook: string, call: Exchange, session: string): string {
  const pairs: string[] = [];
  const headers =
    pushPairs(pairs, call.headers.flat) + (call.headers.has('host') ? 0 : pushPairs(pairs, ['Host', call.host]));
  const flat = listParameters((call.rewrittenTarget ?? call).query);
  for (const text of flat) pairs.push(text);
  const scheme = call.peer.isTls ? 'https' : 'http';
  return [
    kind,
    hook,
    call.method,
    formatHookUrl(call),
    call.target,
    scheme,
    session,
    headers,
    flat.length / 2,
    0,
    ...pairs,
  ].join('\n');
}

export function encodeResponseCall(hook: string, call: Exchange, response: GatewayResponse, session: string): string {
  const pairs: string[] = [];
  const headers = pushPairs(pairs, response.headers.flat);
  const requestHeaders = pushPairs(pairs, call.headers.flat);
  const scheme = call.peer.isTls ? 'https' : 'http';
  return [
    'response',
    hook,
    call.method,
    formatHookUrl(call),
    call.target,
    scheme,
    session,
    headers,
    requestHeaders,
    response.status,
    ...pairs,
  ].join('\n');
}

/** Members of a result, each checked when it is read; a wrong type fails the plugin. */
export function parseResult(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new PluginError('runtime', 'the hook returned no object');
  return value;
}

/** Headers or parameters in one member of a result: setting one takes time with the number of all. */
const maxResultEntries = 200;

function checkEntryCount(count: number, name: string): void {
  if (count > maxResultEntries) throw new PluginError('runtime', `${name} has more than ${maxResultEntries} entries`);
}

function readStrings(value: unknown, name: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new PluginError('runtime', `${name} must be an object`);
  const entries = Object.entries(value);
  checkEntryCount(entries.length, name);
  for (const [key, it] of entries)
    if (typeof it !== 'string') throw new PluginError('runtime', `${name}.${key} must be a string`);
  return value as Record<string, string>;
}

function readList(value: unknown, name: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some(it => typeof it !== 'string'))
    throw new PluginError('runtime', `${name} must be an array of strings`);
  checkEntryCount(value.length, name);
  return value as string[];
}

export function readResultText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new PluginError('runtime', `${name} must be a string`);
  return value;
}

/** Body of a result: a text or bytes. */
export function readResultBody(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value;
  const body = readResultText(value, 'Body');
  return body === undefined ? undefined : Buffer.from(body);
}

/** Member of a result that is an object; an absent one has no members. */
export function readResultObject(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new PluginError('runtime', `${name} must be an object`);
  return value;
}

/** Headers that describe a body; those of the old one go with it. */
export const bodyHeaders: ReadonlySet<string> = new Set([
  ...['content-encoding', 'content-md5', 'digest', 'etag', 'accept-ranges'],
]);

/** Replaces all headers but framing headers by a flat list of names and values. */
export function replaceHeaders(headers: HeaderList, flat: readonly string[]): void {
  checkEntryCount(flat.length / 2, 'the list of headers');
  for (let i = 0; i + 1 < flat.length; i += 2) validateHeader(flat[i]!, flat[i + 1]!);
  const kept = [...headers].filter(([name]) => framingHeaders.has(name.toLowerCase())).flat();
  headers.flat.splice(0, headers.flat.length, ...kept, ...flat);
}

/** Removes, then sets headers. Framing headers are those of the connection and stay. */
export function applyHeaders(headers: HeaderList, given: Record<string, unknown>): void {
  const removed = new Set(readList(given.DeleteHeaders, 'DeleteHeaders').map(name => name.toLowerCase()));
  headers.removeAll(removed.difference(framingHeaders));
  for (const [name, value] of Object.entries(readStrings(given.SetHeaders, 'SetHeaders'))) {
    validateHeader(name, value);
    if (!framingHeaders.has(name.toLowerCase())) headers.set(name, value);
  }
  if (given.AddHeaders !== undefined) addHeaders(headers, given.AddHeaders);
}

/** Pairs of names and values. */
function addHeaders(headers: HeaderList, given: unknown): void {
  if (!Array.isArray(given)) throw new PluginError('runtime', 'AddHeaders must be an array');
  checkEntryCount(given.length, 'AddHeaders');
  for (const pair of given) {
    const [name = '', value = ''] = readList(pair, 'AddHeaders[]');
    validateHeader(name, value);
    if (!framingHeaders.has(name.toLowerCase())) headers.append(name, value);
  }
}

function validateHeader(name: string, value: string): void {
  if (!tokenPattern.test(name) || !fieldValuePattern.test(value))
    throw new PluginError('runtime', `${JSON.stringify(name.slice(0, 100))} is not a header, or its value is invalid`);
}

function applyParameters(query: string, given: Record<string, unknown>): string {
  const removed = readList(given.DeleteParams, 'DeleteParams');
  const added = readStrings(given.AddParams, 'AddParams');
  const extended = given.ExtendedParams;
  if (removed.length === 0 && Object.keys(added).length === 0 && extended === undefined) return query;
  const parameters = new URLSearchParams(query);
  for (const name of removed) parameters.delete(name);
  for (const [name, value] of Object.entries(added)) parameters.set(name, value);
  if (isObject(extended)) {
    const pairs = Object.entries(extended).flatMap(([name, values]) =>
      readList(values, `ExtendedParams.${name}`).map(value => [name, value] as const),
    );
    checkEntryCount(pairs.length, 'ExtendedParams');
    for (const [name, value] of pairs) parameters.append(name, value);
  }
  return parameters.toString();
}

export interface ApplyRules {
  readonly stripsListenPath: boolean;
  /** Responses of plugins before authentication skip the response phase. */
  readonly skipsResponseSteps: boolean;
}

/** Applies the result of a request hook; returns the response that a plugin sets. */
export function applyRequestResult(call: Exchange, given: Record<string, unknown>, rules: ApplyRules): StepResult {
  applyHeaders(call.headers, given);
  const host = readStrings(given.SetHeaders, 'SetHeaders').Host;
  if (host !== undefined && isAuthority(host)) call.upstreamHost = host;
  const url = readResultText(given.URL, 'URL');
  if (url !== undefined) redirect(call, url, rules);
  const target = call.rewrittenTarget;
  if (target) call.rewrittenTarget = { ...target, query: applyParameters(target.query, given) };
  else call.query = applyParameters(call.query, given);
  const body = readResultBody(given.Body);
  if (body !== undefined) {
    call.body.replace(body);
    call.headers.remove('content-encoding');
  }
  return isObject(given.ReturnOverrides) ? applyOverrides(call, given.ReturnOverrides, rules) : undefined;
}

function redirect(call: Exchange, url: string, { stripsListenPath }: ApplyRules): void {
  const target = parsePluginUrl(url, call, stripsListenPath);
  if ('fault' in target)
    throw new PluginError('runtime', `the URL ${JSON.stringify(url.slice(0, 200))} is refused: ${target.fault}`);
  call.rewrittenTarget = target;
}

/** Names in any case, as elsewhere in results of plugins. */
function pick(given: Record<string, unknown>, name: string): unknown {
  if (name in given) return given[name];
  const lower = name.toLowerCase();
  return Object.entries(given).find(([key]) => key.toLowerCase() === lower)?.[1];
}

function applyOverrides(call: Exchange, given: Record<string, unknown>, rules: ApplyRules): StepResult {
  const code = Number(pick(given, 'ResponseCode') ?? 0);
  const isRaw = pick(given, 'OverrideError') === true;
  if (code === 0 && !isRaw) return undefined;
  const status = code === 0 ? 200 : code;
  const headers = readStrings(pick(given, 'ResponseHeaders'), 'ResponseHeaders');
  const body =
    readResultText(pick(given, 'ResponseError'), 'ResponseError') ||
    (readResultText(pick(given, 'ResponseBody'), 'ResponseBody') ?? '');
  return createPluginResponse(call, { status, headers, body, isRaw: isRaw || status < 400 }, rules);
}

export interface PluginResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** False: the body is the message of an error response. */
  readonly isRaw: boolean;
}

/** Response of a plugin. A redirect to `gw://` continues at that API instead. */
export function createPluginResponse(call: Exchange, given: PluginResponse, rules: ApplyRules): StepResult {
  const { status, headers, body, isRaw } = given;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new PluginError('runtime', `the response code ${status} is not a status from 200 to 599`);
  const location = Object.entries(headers).find(([name]) => name.toLowerCase() === 'location')?.[1];
  if ((status === 301 || status === 302) && location?.startsWith('gw://')) {
    redirect(call, location, rules);
    return undefined;
  }
  for (const [name, value] of Object.entries(headers)) validateHeader(name, value);
  const sent = Object.entries(headers).filter(([name]) => !framingHeaders.has(name.toLowerCase()));
  if (!isRaw) {
    const response = refusalResponse(call, status, body);
    for (const [name, value] of sent) response.headers.set(name, value);
    return response;
  }
  const bytes = Buffer.from(body);
  const response = new GatewayResponse(
    status,
    new HeaderList(sent.flat()),
    bytes.length > 0 ? bodyFromBytes(bytes) : noBody(),
  );
  response.skipsResponseSteps = rules.skipsResponseSteps;
  return response;
}
