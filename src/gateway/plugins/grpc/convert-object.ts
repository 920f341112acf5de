import { metadataNames } from '#access/keys/metadata-names.ts';
import { tokenPattern } from '#base/http-syntax.ts';
import { isObject } from '#base/json-tree.ts';
import { ProtobufError } from '#base/protobuf/protobuf-reader.ts';
import { framingHeaders } from '../../http/headers.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { RefusalCode } from '../../pipeline/refusals-table.ts';
import type { HookList, HookReturn } from '../driver.ts';
import { PluginError } from '../plugin-runner.ts';
import { bodyHeaders } from '../request-hook.ts';
import type { ReturnedObject, ReturnedOverrides, ReturnedResponse } from './decode-object.ts';
import { listHeaderValues } from './encode-object.ts';
import type { TextMap } from './field-maps.ts';
import { GrpcError } from './grpc-error.ts';

/** Message of an error response whose text the server left empty. */
const defaultMessage = 'Key not authorised';

/** True for a response that is an error with a message of the server, as a refused client gets it. */
export const isErrorOverride = (given: ReturnedOverrides | undefined): boolean =>
  given !== undefined && given.code >= 400 && !given.overridesError;

/** Undefined where the request continues. */
export function convertOverrides(given: ReturnedOverrides | undefined): Record<string, unknown> | undefined {
  if (!given || given.code <= 0) return undefined;
  return {
    ResponseCode: given.code,
    ResponseError: given.error || given.body || (isErrorOverride(given) ? defaultMessage : ''),
    ResponseHeaders: given.headers,
    OverrideError: given.overridesError,
  };
}

/** Responses to clients by hook; the reason goes to the log. */
const refusalOf = (list: HookList): RefusalCode =>
  list === 'auth' ? 'plugin_auth_failed' : list === 'response' ? 'response_plugin_failed' : 'plugin_call_failed';

export function toPluginError(error: unknown, list: HookList): Error {
  if (error instanceof GrpcError) return new PluginError(error.reason, error.message, [], refusalOf(list));
  if (error instanceof ProtobufError) return new PluginError('protocol', error.message, [], refusalOf(list));
  return error as Error;
}

/** Metadata that the server changed holds for the rest of the request; unchanged members keep their types. */
export function applyMetadata(call: Exchange, sent: TextMap, given: unknown): void {
  const { session } = call;
  if (!session || !isObject(given)) return;
  const names = Object.keys(given);
  if (names.length === Object.keys(sent).length && names.every(name => given[name] === sent[name])) return;
  const { metaData: before } = session;
  const metaData = names.map(name => [name, given[name] === sent[name] ? before[name] : given[name]] as const);
  call.session = { ...session, metaData: Object.fromEntries(metaData) };
}

export function applyMethod(call: Exchange, method: string, list: HookList): void {
  if (method === '' || method === (call.upstreamMethod ?? call.method)) return;
  if (!tokenPattern.test(method))
    throw toPluginError(new GrpcError('protocol', 'the method that the server returned is not a token'), list);
  call.upstreamMethod = method;
}

/** A session with a token is mandatory: without one the client gets 403. */
export function readAuthMembers(object: ReturnedObject, Request: Record<string, unknown>): HookReturn['members'] {
  if (Request.ReturnOverrides) return { Request };
  const { session, metadata } = object;
  const metaData = { ...metadata, ...(isObject(session?.meta_data) ? session.meta_data : undefined) };
  const token = metaData[metadataNames.token];
  if (session && typeof token === 'string' && token !== '')
    return { Request, Session: { ...session, meta_data: metaData }, AuthValue: token };
  return { Request: { ...Request, ReturnOverrides: { ResponseCode: 403, ResponseError: 'Forbidden' } } };
}

/** Lists of values replace all headers; the map of first values wins where the server changed it. */
export function convertResponse(
  given: ReturnedResponse,
  response: GatewayResponse,
  body: Buffer,
): Record<string, unknown> {
  const sent = listHeaderValues(response.headers);
  const lists = new Map(given.multivalueHeaders.map(({ name, values }) => [name, values]));
  const names = Object.keys(given.headers);
  const isChanged = names.length !== sent.size || names.some(name => sent.get(name)?.[0] !== given.headers[name]);
  if (isChanged) {
    for (const name of lists.keys()) if (given.headers[name] === undefined) lists.delete(name);
    for (const name of names) if (lists.get(name)?.[0] !== given.headers[name]) lists.set(name, [given.headers[name]!]);
  }
  if (given.status === 0)
    throw toPluginError(new GrpcError('protocol', 'the server returned a response without a status'), 'response');
  const isBodyChanged = !given.rawBody.equals(body);
  const isStale = (name: string, values: readonly string[]) =>
    isBodyChanged && bodyHeaders.has(name.toLowerCase()) && sent.get(name)?.[0] === values[0];
  const kept = [...lists].filter(([name, values]) => !framingHeaders.has(name.toLowerCase()) && !isStale(name, values));
  return {
    HeaderList: kept.flatMap(([name, values]) => values.flatMap(value => [name, value])),
    StatusCode: given.status,
    ...(isBodyChanged ? { Body: given.rawBody } : undefined),
  };
}
