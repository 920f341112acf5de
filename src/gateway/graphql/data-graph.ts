import type { Readable } from 'node:stream';
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

/** An open connection to a source: a response that streams, or a WebSocket (status 101), whose stream is a Duplex. */
export interface SourceConnection {
  readonly status: number;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  readonly stream: Readable;
  /** No response of the source: the gateway could not get one. */
  readonly isFailed: boolean;
}

export interface OpeningConnection {
  /** Undefined without a response. */
  readonly connection: Promise<SourceConnection | undefined>;
  /** Ends the connection, also one that is open. */
  abandon(): void;
}

/** How a subscription reaches its sources. */
export interface SubscriptionTransport {
  /** For the requests of one event, whose responses have a budget of their own. */
  createSend(): SendToSource;
  connect(request: SourceRequest, upgrade: '' | 'websocket'): OpeningConnection;
}

/** A subscription in progress, as its sources see it. */
export interface SubscriptionCall {
  /** Of this operation alone: a WebSocket has several. */
  readonly call: Exchange;
  readonly transport: SubscriptionTransport;
  /** Aborted when the client ends the subscription. */
  readonly signal: AbortSignal;
}

/** Compiled data graph of an API. */
export interface DataGraph {
  /** Lower-case names of client headers with credentials: see `receivesCredential`; the API may strip them. */
  readonly credentialHeaders: readonly string[];
  /** Executes a checked operation; the result of GraphQL, with data and errors. Never rejects for a source. */
  execute(call: Exchange, request: CheckedGraphqlRequest, send: SendToSource): Promise<object>;
  /** Results of a checked subscription, one for each event. Throws `SourceError` where its source fails. */
  subscribe(request: CheckedGraphqlRequest, own: SubscriptionCall): AsyncGenerator<object, void>;
}
