import type { DocumentNode } from 'graphql';
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
