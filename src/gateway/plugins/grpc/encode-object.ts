import { isUtf8 } from 'node:buffer';
import { ProtobufWriter } from '#base/protobuf/protobuf-writer.ts';
import type { HeaderList } from '../../http/headers.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { formatHookUrl, toCanonicalName } from '../request-hook.ts';
import { createTextMap, type TextMap, writeEntry, writeMap } from './field-maps.ts';
import { objectFields, overrideFields, requestFields, responseFields } from './object-fields.ts';
import { writeSession } from './session-state.ts';
import { frameHeadBytes } from './unary-response.ts';

/** Writers keep their buffer between calls up to this size. */
const maxRetainedBytes = 1_048_576;
const frameHead = new Uint8Array(frameHeadBytes);
let sharedWriter = new ProtobufWriter();

/** Frame with the fields that `fill` writes, and room for the head before them. */
export function encodeFrame(fill: (writer: ProtobufWriter) => void): Uint8Array {
  const writer = sharedWriter;
  writer.length = 0;
  writer.writeEncoded(frameHead);
  fill(writer);
  if (writer.capacityBytes > maxRetainedBytes) sharedWriter = new ProtobufWriter();
  return writer.drain();
}

export interface HookCall {
  readonly type: number;
  readonly name: string;
  readonly rawBodyOnly: boolean;
  /** Encoded `spec` fields of the API. */
  readonly spec: Uint8Array;
  readonly call: Exchange;
  readonly body: Buffer;
  /** Undefined where the hook gets no session. */
  readonly metadata: TextMap | undefined;
  readonly response: GatewayResponse | undefined;
}

/** `spec` of an API: the same bytes for every call. */
export function encodeSpec(spec: TextMap): Uint8Array {
  const writer = new ProtobufWriter(256);
  writeMap(writer, objectFields.spec, spec);
  return writer.drain();
}

/** Request message of `Dispatch`. */
export const encodeObject = (given: HookCall): Uint8Array =>
  encodeFrame(writer => {
    const { call, metadata, response } = given;
    writer.writeUnsigned(objectFields.hookType, given.type);
    writer.writeString(objectFields.hookName, given.name);
    writeRequest(writer, given);
    if (call.session && metadata) {
      writeSession(writer, objectFields.session, call, call.session, metadata);
      writeMap(writer, objectFields.metadata, metadata);
    }
    writer.writeEncoded(given.spec);
    if (response) writeResponse(writer, given, response);
  });

/** The body of a response hook is that of the response; the request has none. */
function writeRequest(writer: ProtobufWriter, { call, body, rawBodyOnly, response }: HookCall): void {
  const start = writer.beginMessage(objectFields.request);
  writeFirstValues(writer, requestFields.headers, call.headers);
  if (!call.headers.has('host')) writeEntry(writer, requestFields.headers, 'Host', call.host);
  writer.writeString(requestFields.url, formatHookUrl(call));
  const { query } = call.rewrittenTarget ?? call;
  if (query !== '') writeMap(writer, requestFields.params, listFirstParameters(query));
  const overrides = writer.beginMessage(requestFields.returnOverrides);
  writer.writeSigned(overrideFields.responseCode, -1);
  writer.endMessage(overrides);
  writer.writeString(requestFields.method, call.upstreamMethod ?? call.method);
  writer.writeString(requestFields.requestUri, call.target);
  writer.writeString(requestFields.scheme, call.peer.isTls ? 'https' : 'http');
  if (!response) writeBody(writer, body, requestFields.rawBody, rawBodyOnly ? 0 : requestFields.body);
  writer.endMessage(start);
}

function writeBody(writer: ProtobufWriter, body: Buffer, rawField: number, textField: number): void {
  if (body.length === 0) return;
  if (textField !== 0 && isUtf8(body)) writer.writeBytes(textField, body);
  writer.writeBytes(rawField, body);
}

/** First value of each name. */
function writeFirstValues(writer: ProtobufWriter, field: number, { flat }: HeaderList): void {
  const names = new Set<string>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = toCanonicalName(flat[i]!);
    if (names.has(name)) continue;
    names.add(name);
    writeEntry(writer, field, name, flat[i + 1]!);
  }
}

function listFirstParameters(query: string): TextMap {
  const first = createTextMap();
  for (const [name, value] of new URLSearchParams(query)) first[name] ??= value;
  return first;
}

function writeResponse(writer: ProtobufWriter, { body, rawBodyOnly }: HookCall, response: GatewayResponse): void {
  const start = writer.beginMessage(objectFields.response);
  writer.writeUnsigned(responseFields.statusCode, response.status);
  writeBody(writer, body, responseFields.rawBody, rawBodyOnly ? 0 : responseFields.body);
  const lists = listHeaderValues(response.headers);
  for (const [name, values] of lists) writeEntry(writer, responseFields.headers, name, values[0]!);
  for (const [name, values] of lists) {
    const header = writer.beginMessage(responseFields.multivalueHeaders);
    writer.writeString(1, name);
    for (const value of values) writer.writeString(2, value);
    writer.endMessage(header);
  }
  writer.endMessage(start);
}

/** Values by canonical name, in the order of their first occurrence. */
export function listHeaderValues({ flat }: HeaderList): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = toCanonicalName(flat[i]!);
    const values = lists.get(name);
    if (values) values.push(flat[i + 1]!);
    else lists.set(name, [flat[i + 1]!]);
  }
  return lists;
}
