import type { Json } from '#base/json.ts';
import { describeOperation } from '../openapi.ts';
import type { AnyOperation } from '../operation.ts';
import type { SchemaObject } from './schema-tree.ts';

/** The members of an Operation Object (OpenAPI 3.1) that a page shows. */
export interface OperationDetails {
  readonly parameters: readonly ParameterDetails[];
  readonly requestBody?: { readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: MediaTypes }>>;
}

export interface ParameterDetails {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: SchemaObject;
}

export type MediaTypes = Readonly<Record<string, { readonly schema: SchemaObject; readonly example?: Json }>>;

/** A body as the page and its form show it: the first media type of the operation. */
export interface BodyDetails {
  readonly type: string;
  readonly schema: SchemaObject;
  readonly example: string | undefined;
}

export const readDetails = (it: AnyOperation): OperationDetails => describeOperation(it) as unknown as OperationDetails;

export function readBodyDetails(content: MediaTypes | undefined): BodyDetails | undefined {
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  if (!type || !media) return undefined;
  return { type, schema: media.schema, example: media.example === undefined ? undefined : toText(media.example) };
}

const toText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
