import { isObject, type JsonObject } from '#base/json-tree.ts';
import { isUtf8ContentType, parseMediaType } from '#base/media-type.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { readDocumentHash, type TrustedDocuments } from './trusted-documents.ts';
import { findUnreadParameter, isUrlParameterName } from './url-parameters.ts';

/** Parameters of a request (GraphQL over HTTP, section 5.1). */
export interface GraphqlRequest {
  readonly query: string;
  /** The document is a trusted one that the client named by its hash. */
  readonly isResolved: boolean;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
}

/** Requests of a batch, or the only one. */
export interface ReadRequests {
  readonly requests: readonly GraphqlRequest[];
  readonly isBatch: boolean;
  /** The body is serialized again: the upstream could read another request from the received one. */
  readonly isRewritten: boolean;
}

/** The request cannot be read. */
export interface RequestFault {
  readonly code: RefusalCode;
  readonly detail: string;
}

export interface RequestBounds {
  readonly maxValues: number;
  readonly maxDocumentBytes: number;
  /** 0 refuses batches. */
  readonly maxBatchOperations: number;
  readonly trustedDocuments: TrustedDocuments | undefined;
}

const parameterNames: readonly string[] = ['query', 'operationName', 'variables', 'extensions'];
const isParameterName = (name: string): boolean => parameterNames.includes(name);

const createFault = (detail: string): RequestFault => ({ code: 'graphql_request_invalid', detail });
export const isFault = <T extends object>(value: T | RequestFault): value is RequestFault => 'code' in value;

/** Reads a GET request: parameters are in the URL. */
export function readQueryRequest({ query, body }: Exchange, bounds: RequestBounds): ReadRequests | RequestFault {
  if (!body.isEmpty) return createFault('a GET request has no body');
  const parameters = readUrlParameters(query, bounds);
  if (isFault(parameters)) return parameters;
  // The URL is forwarded as it is: a server could prefer the document that the id names.
  if ('query' in parameters && 'documentId' in parameters) return createFault('the URL has query and documentId');
  const request = checkParameters(parameters, bounds);
  return isFault(request) ? request : { requests: [request], isBatch: false, isRewritten: request.isResolved };
}

/** Reads a POST request by its media type. */
export function readBodyRequest(call: Exchange, bytes: Buffer, bounds: RequestBounds): ReadRequests | RequestFault {
  const contentType = call.headers.get('content-type') ?? '';
  const type = parseMediaType(contentType);
  if (type === 'multipart/form-data') return { code: 'graphql_upload_refused', detail: '' };
  if (type !== 'application/json' && type !== 'application/graphql')
    return { code: 'graphql_media_type_unsupported', detail: '' };
  if (!isUtf8ContentType(contentType)) return { code: 'graphql_media_type_unsupported', detail: '' };
  const inUrl = readUrlParameters(call.query, bounds);
  if (isFault(inUrl)) return inUrl;
  if (type === 'application/graphql') return readDocumentBody(bytes, inUrl, bounds);
  // Some servers prefer parameters of the URL to those of the body: they would execute an unchecked document.
  if (Object.keys(inUrl).length > 0) return createFault('parameters are in the URL and in the body');
  return readJsonBody(bytes, bounds);
}

/** `application/graphql`: the body is the document, the other parameters are in the URL. */
function readDocumentBody(bytes: Buffer, inUrl: Record<string, unknown>, bounds: RequestBounds) {
  if ('query' in inUrl) return createFault('parameters are in the URL and in the body');
  const request = checkParameters({ ...inUrl, query: bytes.toString() }, bounds);
  return isFault(request) ? request : { requests: [request], isBatch: false, isRewritten: true };
}

function readJsonBody(bytes: Buffer, bounds: RequestBounds): ReadRequests | RequestFault {
  const read = parseStrictJson(bytes, bounds.maxValues);
  if ('fault' in read) return createFault(read.fault);
  if (!Array.isArray(read.value)) {
    const request = checkParameters(read.value, bounds);
    if (isFault(request)) return request;
    return { requests: [request], isBatch: false, isRewritten: request.isResolved || hasOthers(read.value) };
  }
  const { maxBatchOperations } = bounds;
  if (maxBatchOperations === 0) return { code: 'graphql_batch_refused', detail: 'batches are not allowed' };
  if (read.value.length > maxBatchOperations)
    return { code: 'graphql_batch_refused', detail: `a batch has at most ${maxBatchOperations} operations` };
  if (read.value.length === 0) return createFault('the batch is empty');
  const requests: GraphqlRequest[] = [];
  for (const item of read.value) {
    const request = checkParameters(item, bounds);
    if (isFault(request)) return request;
    requests.push(request);
  }
  const isResolved = requests.some(request => request.isResolved);
  return { requests, isBatch: true, isRewritten: isResolved || read.value.some(hasOthers) };
}

/**
 * Members that the gateway does not check are not forwarded: parsers that ignore case would read `Query` as `query`, and
 * a server with persisted queries would execute the one that a hash names.
 */
const hasOthers = (value: unknown): boolean =>
  isObject(value) &&
  (Object.keys(value).some(name => !isParameterName(name)) ||
    (isObject(value.extensions) && 'persistedQuery' in value.extensions));

/** The document of a request, by its text or its hash. */
function findDocument(
  { query, documentId, extensions }: JsonObject,
  trusted: TrustedDocuments | undefined,
): string | RequestFault {
  if (query === undefined || query === null) {
    const hash = readDocumentHash(documentId, extensions);
    if (hash !== undefined) return trusted?.find(hash) ?? { code: 'graphql_document_unknown', detail: '' };
  }
  if (typeof query !== 'string' || query.trim() === '') return createFault('query must be a document');
  if (trusted?.isRequired && !trusted.isTrusted(query)) return { code: 'graphql_document_untrusted', detail: '' };
  return query;
}

function checkParameters(
  value: unknown,
  { maxDocumentBytes, trustedDocuments }: RequestBounds,
): GraphqlRequest | RequestFault {
  if (!isObject(value)) return createFault('a request is an object');
  const { operationName, variables, extensions } = value;
  const query = findDocument(value, trustedDocuments);
  if (typeof query !== 'string') return query;
  if (Buffer.byteLength(query) > maxDocumentBytes)
    return createFault(`the document is longer than ${maxDocumentBytes} bytes`);
  if (operationName != null && typeof operationName !== 'string') return createFault('operationName must be a string');
  if (variables != null && !isObject(variables)) return createFault('variables must be an object');
  if (extensions != null && !isObject(extensions)) return createFault('extensions must be an object');
  return {
    query,
    isResolved: value.query !== query,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
    extensions: extensions ?? undefined,
  };
}

/** Parameters in the URL; variables and extensions are JSON. */
function readUrlParameters(query: string, { maxValues }: RequestBounds): Record<string, unknown> | RequestFault {
  const found: Record<string, unknown> = {};
  if (query === '') return found;
  const unread = findUnreadParameter(query);
  if (unread !== undefined) return createFault(`the URL has the parameter ${JSON.stringify(unread)}`);
  const seen = new Set<string>();
  for (const [name, text] of new URLSearchParams(query)) {
    if (!isUrlParameterName(name)) continue;
    if (seen.has(name)) return createFault(`the parameter ${name} occurs twice`);
    seen.add(name);
    if (name === 'query' || name === 'operationName' || name === 'documentId') found[name] = text;
    else if (text !== '') {
      const read = parseStrictJson(Buffer.from(text), maxValues);
      if ('fault' in read) return createFault(`${name}: ${read.fault}`);
      found[name] = read.value;
    }
  }
  return found;
}

/** Reads the payload of a message: it is forwarded as it is, or not at all. */
export function readSocketRequest(payload: unknown, bounds: RequestBounds): GraphqlRequest | RequestFault {
  const request = checkParameters(payload, bounds);
  if (isFault(request)) return request;
  return request.isResolved || hasOthers(payload) ? createFault('the payload holds other members') : request;
}

/** Reads the payload of a message for an API whose operations the gateway executes: other members are not used. */
export const readExecutedRequest = checkParameters;

/** The body that is sent in place of the received one. */
export function writeRequests({ requests, isBatch }: ReadRequests): Buffer {
  const bodies = requests.map(({ query, operationName, variables, extensions }) => {
    const { persistedQuery: _dropped, ...others } = extensions ?? {};
    return { query, operationName, variables, ...(Object.keys(others).length > 0 && { extensions: others }) };
  });
  return Buffer.from(JSON.stringify(isBatch ? bodies : bodies[0]));
}
