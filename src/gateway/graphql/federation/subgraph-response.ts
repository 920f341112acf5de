import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { SourceResponse } from '../data-graph.ts';
import { SourceError } from '../engine/source-error.ts';
import { type ResponseBounds, readSourceJson } from '../engine/source-response.ts';

export interface SubgraphError {
  readonly message: string;
  /** Empty: of the whole request. */
  readonly path: readonly (string | number)[];
  readonly extensions: JsonObject | undefined;
}

export interface SubgraphReply {
  /** Undefined where the response has none. */
  readonly data: JsonObject | undefined;
  readonly errors: readonly SubgraphError[];
}

/** Errors of one response that are read. */
const maxErrors = 100;

/** Data and errors of a subgraph, also with a status of an error. */
export async function readSubgraphResponse(
  source: DataSource,
  response: SourceResponse,
  bounds: ResponseBounds,
): Promise<SubgraphReply> {
  const { name } = source;
  const reply = await readSourceJson(source, response, bounds).catch(error => {
    if (error instanceof SourceError && response.status >= 400) throw describeStatus(name, response);
    throw error;
  });
  const read = toSubgraphReply(name, reply);
  if (read) return read;
  throw response.status >= 400
    ? describeStatus(name, response)
    : new SourceError(`the response of ${name} is no GraphQL`);
}

/** A response, or the payload of an event; undefined where it has neither data nor errors. */
export function toSubgraphReply(name: string, reply: unknown): SubgraphReply | undefined {
  const { data, errors } = isObject(reply) ? reply : {};
  const all = Array.isArray(errors) ? errors.filter(isObject) : [];
  if (!isObject(data) && all.length === 0) return undefined;
  const read = all.slice(0, maxErrors).map(toError);
  if (all.length > maxErrors)
    read.push({
      message: `the subgraph ${name} has ${all.length - maxErrors} further errors`,
      path: [],
      extensions: undefined,
    });
  return { data: isObject(data) ? data : undefined, errors: read };
}

const describeStatus = (name: string, { status }: SourceResponse) =>
  new SourceError(`the subgraph ${name} responded with status ${status}`);

const toError = ({ message, path, extensions }: JsonObject): SubgraphError => ({
  message: typeof message === 'string' ? message : 'the subgraph has an error',
  path: Array.isArray(path) ? path.filter(isStep) : [],
  extensions: isObject(extensions) ? extensions : undefined,
});

const isStep = (step: unknown): step is string | number => typeof step === 'string' || typeof step === 'number';
