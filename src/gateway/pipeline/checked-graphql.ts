import type { DocumentNode } from 'graphql';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { AnalysedOperation } from '#languages/graphql/operations.ts';

/** A GraphQL request whose document, variables and rights were checked. */
export interface CheckedGraphqlRequest {
  readonly document: DocumentNode;
  readonly operation: AnalysedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface CheckedGraphqlRequests {
  readonly requests: readonly CheckedGraphqlRequest[];
  readonly isBatch: boolean;
}

/** Decision about one operation in a WebSocket. */
export type SocketDecision =
  | { readonly kind: 'execute'; readonly request: CheckedGraphqlRequest }
  /** Result of meta fields, from the schema. */
  | { readonly kind: 'respond'; readonly result: string }
  | { readonly kind: 'refuse'; readonly errors: readonly object[] };

/** WebSocket of a client to an API whose operations the gateway executes: its subprotocol, and its checks. */
export interface GraphqlSocket {
  readonly protocol: 'graphql-transport-ws' | 'graphql-ws';
  readonly maxMessageBytes: number;
  /** Operations in progress. */
  readonly maxOperations: number;
  /** Interval of Ping frames; 0 for none. */
  readonly pingIntervalMs: number;
  /** Parses a message; undefined where it is none. */
  readMessage(text: string): Readonly<Record<string, unknown>> | undefined;
  /** Checks the payload of an operation, and counts it against the limits. One after the other. */
  check(payload: unknown): MaybePromise<SocketDecision>;
  /** Calls `close` with a close code when the key of the connection is revoked. Returns the function that ends it. */
  watch(close: (code: number) => void): () => void;
}
