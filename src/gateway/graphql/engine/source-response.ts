import { isObject, type JsonObject } from '#base/json-tree.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import { problem } from '../../http/body.ts';
import {
  ContentCodingError,
  type DecompressionBounds,
  decodeContent,
  isEncoded,
} from '../../transform/content-coding.ts';
import type { SourceResponse } from '../data-graph.ts';
import type { UpstreamError } from './graphql-value.ts';
import { SourceError } from './source-error.ts';

export interface ResponseBounds {
  readonly decompression: DecompressionBounds;
  readonly maxValues: number;
}

/** Value of a REST source: JSON of a successful response, or of a status that its definition gives a type. */
export async function readRestResponse(
  source: DataSource,
  response: SourceResponse,
  bounds: ResponseBounds,
): Promise<unknown> {
  const { status } = response;
  const { name, typeNames, defaultTypeName } = source;
  const typeName = typeNames.get(status) ?? defaultTypeName;
  if ((status < 200 || status > 299) && !typeNames.has(status))
    throw new SourceError(`the data source ${name} responded with status ${status}`);
  const value = await readSourceJson(source, response, bounds);
  return typeName !== '' && isObject(value) ? { ...value, __typename: typeName } : value;
}

/** Errors of one response that are read: each is compared with every item of its lists. */
const maxErrors = 100;

/** Data and errors of a GraphQL source. */
export interface GraphqlReply {
  readonly data: JsonObject;
  readonly errors: readonly UpstreamError[];
  /** Errors without a path into the data. */
  readonly generalErrors: readonly string[];
}

export async function readGraphqlResponse(
  source: DataSource,
  response: SourceResponse,
  bounds: ResponseBounds,
): Promise<GraphqlReply> {
  const { name } = source;
  const reply = await readSourceJson(source, response, bounds).catch(error => {
    if (error instanceof SourceError && response.status >= 400)
      throw new SourceError(`the data source ${name} responded with status ${response.status}`);
    throw error;
  });
  return toGraphqlReply(name, reply);
}

/** A response, or the payload of an event. Throws where it has no data. */
export function toGraphqlReply(name: string, reply: unknown): GraphqlReply {
  const { data, errors } = isObject(reply) ? reply : {};
  const all = Array.isArray(errors) ? errors.filter(isObject) : [];
  const given = all.slice(0, maxErrors);
  if (all.length > maxErrors) given.push({ message: `the data source has ${all.length - maxErrors} further errors` });
  const messages = given.map(({ message }) => (typeof message === 'string' ? message : 'the data source has an error'));
  if (!isObject(data)) throw new SourceError(messages[0] ?? `the response of the data source ${name} is no GraphQL`);
  const paths = given.map(({ path }) => (Array.isArray(path) ? path.filter(isStep) : []));
  return {
    data,
    errors: messages.flatMap((message, at) => (paths[at]!.length > 0 ? [{ message, path: paths[at]! }] : [])),
    generalErrors: messages.filter((_message, at) => paths[at]!.length === 0),
  };
}

const isStep = (step: unknown): step is string | number => typeof step === 'string' || typeof step === 'number';

/** JSON of a response; null for an empty one. */
export async function readSourceJson(
  { name }: DataSource,
  response: SourceResponse,
  bounds: ResponseBounds,
): Promise<unknown> {
  const bytes = await decodeResponse(name, response, bounds);
  if (bytes.length === 0) return null;
  const read = parseStrictJson(bytes, bounds.maxValues);
  if ('fault' in read) throw new SourceError(`the response of the data source ${name} cannot be read: ${read.fault}`);
  return read.value;
}

async function decodeResponse(
  name: string,
  { headers, body, budget }: SourceResponse,
  { decompression }: ResponseBounds,
): Promise<Buffer> {
  const coding = findHeader(headers, 'content-encoding');
  if (!isEncoded(coding)) return body;
  try {
    // The bytes before decoding are counted already.
    const maxBytes = Math.min(decompression.maxBytes, Math.max(budget.remaining + body.length, 1));
    const decoded = await decodeContent(body, coding, { ...decompression, maxBytes });
    budget.remaining -= Math.max(decoded.length - body.length, 0);
    if (budget.remaining < 0) throw problem.too_large();
    return decoded;
  } catch (error) {
    const isTooLarge = (error as { code?: string }).code === problem.too_large.code;
    if (!isTooLarge && !(error instanceof ContentCodingError)) throw error;
    throw new SourceError(`the response of the data source ${name} cannot be decoded`);
  }
}

function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === name) return headers[at + 1];
  return undefined;
}
