import { ProtobufReader } from '#base/protobuf/protobuf-reader.ts';
import { noBytes } from '../../http/body.ts';
import { createTextMap, readEntry, type TextMap } from './field-maps.ts';
import { objectFields, overrideFields, requestFields, responseFields } from './object-fields.ts';
import { readSession } from './session-state.ts';

/** Changes of a request that a server returned. */
export interface ReturnedRequest {
  readonly setHeaders: TextMap;
  readonly deleteHeaders: string[];
  readonly addParams: TextMap;
  readonly deleteParams: string[];
  url: string;
  method: string;
  rawBody: Buffer;
  overrides: ReturnedOverrides | undefined;
}

export interface ReturnedOverrides {
  code: number;
  error: string;
  body: string;
  overridesError: boolean;
  readonly headers: TextMap;
}

export interface ReturnedResponse {
  status: number;
  rawBody: Buffer;
  readonly headers: TextMap;
  readonly multivalueHeaders: { name: string; readonly values: string[] }[];
}

export interface ReturnedObject {
  request: ReturnedRequest | undefined;
  session: Record<string, unknown> | undefined;
  readonly metadata: TextMap;
  response: ReturnedResponse | undefined;
}

/** Response message of `Dispatch`; throws `ProtobufError`. */
export function decodeObject(message: Buffer): ReturnedObject {
  const reader = new ProtobufReader(message);
  const given: ReturnedObject = {
    request: undefined,
    session: undefined,
    metadata: createTextMap(),
    response: undefined,
  };
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === objectFields.request) given.request = readRequest(reader.readMessage());
    else if (field === objectFields.session) given.session = readSession(reader.readMessage());
    else if (field === objectFields.metadata) readEntry(reader, given.metadata);
    else if (field === objectFields.response) given.response = readResponse(reader.readMessage());
    else reader.skip();
  }
  return given;
}

function readRequest(reader: ProtobufReader): ReturnedRequest {
  const given: ReturnedRequest = {
    setHeaders: createTextMap(),
    deleteHeaders: [],
    addParams: createTextMap(),
    deleteParams: [],
    url: '',
    method: '',
    rawBody: noBytes,
    overrides: undefined,
  };
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === requestFields.setHeaders) readEntry(reader, given.setHeaders);
    else if (field === requestFields.deleteHeaders) given.deleteHeaders.push(reader.readString());
    else if (field === requestFields.url) given.url = reader.readString();
    else if (field === requestFields.addParams) readEntry(reader, given.addParams);
    else if (field === requestFields.deleteParams) given.deleteParams.push(reader.readString());
    else if (field === requestFields.returnOverrides) given.overrides = readOverrides(reader.readMessage());
    else if (field === requestFields.method) given.method = reader.readString();
    else if (field === requestFields.rawBody) given.rawBody = reader.readBytes();
    else reader.skip();
  }
  return given;
}

function readOverrides(reader: ProtobufReader): ReturnedOverrides {
  const given: ReturnedOverrides = { code: 0, error: '', body: '', overridesError: false, headers: createTextMap() };
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === overrideFields.responseCode) given.code = reader.readSigned();
    else if (field === overrideFields.responseError) given.error = reader.readString();
    else if (field === overrideFields.headers) readEntry(reader, given.headers);
    else if (field === overrideFields.overrideError) given.overridesError = reader.readFlag();
    else if (field === overrideFields.responseBody) given.body = reader.readString();
    else reader.skip();
  }
  return given;
}

function readResponse(reader: ProtobufReader): ReturnedResponse {
  const given: ReturnedResponse = { status: 0, rawBody: noBytes, headers: createTextMap(), multivalueHeaders: [] };
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === responseFields.statusCode) given.status = reader.readSigned();
    else if (field === responseFields.rawBody) given.rawBody = reader.readBytes();
    else if (field === responseFields.headers) readEntry(reader, given.headers);
    else if (field === responseFields.multivalueHeaders) given.multivalueHeaders.push(readHeader(reader.readMessage()));
    else reader.skip();
  }
  return given;
}

function readHeader(reader: ProtobufReader): { name: string; values: string[] } {
  const given = { name: '', values: [] as string[] };
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === 1) given.name = reader.readString();
    else if (field === 2) given.values.push(reader.readString());
    else reader.skip();
  }
  return given;
}
