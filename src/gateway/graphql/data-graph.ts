import type { CheckedGraphqlRequest } from '../pipeline/checked-graphql.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';

/** A request to a data source. */
export interface SourceRequest {
  /** Member path of the source in the definition: one without a name may be named like another. */
  readonly sourcePlace: string;
  readonly sourceName: string;
  readonly method: string;
  readonly address: UpstreamAddress;
  readonly path: string;
  readonly query: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** The server is the upstream of the API: it gets the credential of the client. Others get it by a template alone. */
  readonly receivesCredential?: boolean;
}

export interface SourceResponse {
  readonly status: number;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Bytes that responses may still have together; what decoding adds is taken from it. */
  readonly budget: { remaining: number };
  /** No response of the source: the gateway could not get one. */
  readonly isFailed: boolean;
}

export interface RunningSourceRequest {
  /** Undefined without a complete response, also where it was beyond the bounds of bodies. */
  readonly response: Promise<SourceResponse | undefined>;
  abandon(): void;
}

/** `counter`: requests of the operation, also of graphs behind its sources. */
export type SendToSource = (request: SourceRequest, counter: { count: number }) => RunningSourceRequest;

/** Compiled data graph of an API. */
export interface DataGraph {
  /** Lower-case names of client headers with credentials: see `receivesCredential`; the API may strip them. */
  readonly credentialHeaders: readonly string[];
  /** Executes a checked operation; the result of GraphQL, with data and errors. Never rejects for a source. */
  execute(call: Exchange, request: CheckedGraphqlRequest, send: SendToSource): Promise<object>;
}
