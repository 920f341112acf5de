import type { JsonObject } from '#base/json-tree.ts';

/** Parameter of an OpenAPI operation that is an argument of its tool. */
export interface RestParameter {
  /** Name of the argument. */
  readonly argument: string;
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly style: string;
  readonly isExploded: boolean;
  readonly isRequired: boolean;
}

export type RestBodyEncoding = 'json' | 'form' | 'text';

export interface RestBody {
  readonly contentType: string;
  readonly encoding: RestBodyEncoding;
  readonly isRequired: boolean;
}

export interface RestToolHints {
  readonly title?: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint?: boolean;
}

/** Operation of an OpenAPI document as a tool of the Model Context Protocol. */
export interface RestTool {
  readonly name: string;
  readonly description: string;
  readonly annotations: RestToolHints;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly RestParameter[];
  readonly body?: RestBody;
}

/** Name of the argument that is the request body. */
export const bodyArgument = 'body';
