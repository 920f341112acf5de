import { z } from 'zod';
import { classicDefinition, type DefinitionOfKind, toDocumentedSchema } from '#apis/api/schema.ts';
import { tokenPattern } from '#base/http-syntax.ts';
import { METHODS } from '#base/node-http.ts';
import { oasSchema } from '#definition/oas.ts';
import { warningList } from '#operations/shapes.ts';

/** Header value: one line, as in HTTP/1.1. */
const value = z.string().refine(text => !/[^\P{Cc}\t]/u.test(text), { error: 'must be one line of text' });
const values = z.union([value, z.array(value)], { error: 'must be one line of text, or an array of them' });

/** CONNECT opens a tunnel, not an API request. */
const methods = new Set(METHODS.filter(method => method !== 'CONNECT'));

const DebugRequest = z.object({
  method: z
    .string()
    .transform(method => method.toUpperCase() || 'GET')
    .refine(method => methods.has(method), { error: 'must be a method of HTTP' })
    .nullish()
    .describe('HTTP method; defaults to GET'),
  path: z
    .string()
    .regex(/^\S*$/, { error: 'must hold no space' })
    .nullish()
    .describe('Path below the listen path of the definition, with the query'),
  headers: z
    .record(z.string().regex(tokenPattern, { error: 'must be the name of a header' }), values)
    .nullish()
    .describe('Map from header name to values'),
  body: z.string().nullish(),
});

export const DebugWrite = z.object({
  oas: toDocumentedSchema(oasSchema)
    .optional()
    .describe('Definition in the OpenAPI format; takes precedence over spec'),
  spec: classicDefinition.optional().describe('Definition in the classic format'),
  request: DebugRequest.nullish().describe('Request to test'),
});

export const DebugResult = z.object({
  message: z.string().describe('`ok`, or the reason why the test could not be completed'),
  response: z.string().describe('Request to the upstream, and response to the client'),
  logs: z.string().describe('One JSON object per line: every step with its decision and reason'),
  warnings: warningList,
});

/** A debug run as sent to a traffic thread. */
export interface DebugTask {
  readonly definition: DefinitionOfKind;
  readonly request: z.output<typeof DebugRequest>;
  /** Address of the operator, used as the client address. */
  readonly address: string;
}

/** Result of a debug run. */
export interface DebugRun {
  /** False when the definition did not compile. */
  readonly built: boolean;
  readonly message: string;
  readonly response: string;
  readonly logs: string;
}
