import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import type { CheckResult } from './check-result.ts';
import { fromZodError } from './check-result.ts';
import { checkDocumentMembers, streamingName } from './document-members.ts';
import { findUnknownNames } from './document-names.ts';
import type { UnknownMembers } from './members.ts';
import { toCheckResult } from './members.ts';
import { isDocument, looseDocumentSchema, rejectMcpMarker } from './oas.ts';
import { validateDocument, validateExtension, validateOperationIds } from './oas-validation.ts';
import type { StreamsDefinition } from './wire-types.ts';

/** Components are validated by the stream engine, except for members the gateway reads. */
const anything = freeForm(z.looseObject({}));
const processors = z.array(anything).nullable().optional();
const component = freeForm(z.looseObject({ label: z.string().optional(), processors }));
const components = z.array(component).nullable().optional();
const settings = anything.nullable().optional();
const resources = z.array(anything).nullable().optional();

/** Stream: input, pipeline, output. */
const stream = z.looseObject({
  input: component.nullable().optional(),
  output: component.nullable().optional(),
  pipeline: z
    .looseObject({ threads: z.int().min(-1).max(1024).optional(), processors })
    .nullable()
    .optional(),
  input_resources: components,
  output_resources: components,
  processor_resources: components,
  cache_resources: resources,
  rate_limit_resources: resources,
  buffer: settings,
  http: settings,
  logger: settings,
  metrics: settings,
  tracer: settings,
  shutdown_delay: z.string().optional(),
  shutdown_timeout: z.string().optional(),
});

const streaming = z.looseObject({ streams: z.record(z.string(), stream) });

/** Schema of a request body with a streams document; the OpenAPI part is optional. */
export const streamsSchema = looseDocumentSchema.extend({
  [streamingName]: streaming,
}) as unknown as z.ZodType<StreamsDefinition>;

/**
 * Checks a streams document and reports all errors at once. Returns the value as given, without `null` for absent
 * members.
 */
export function checkStreams(
  document: unknown,
  unknownMembers: UnknownMembers = 'refuse',
): CheckResult<StreamsDefinition> {
  const unknownNames = findUnknownNames(document);
  // A document without paths has no operations to name: settings of operations are reported as warnings.
  const isAlone = isDocument(document) && document.paths === undefined;
  const found = checkDocumentMembers(streamsSchema, document, unknownMembers, isAlone ? [] : unknownNames);
  const members = isAlone ? { ...found, warnings: [...found.warnings, ...unknownNames] } : found;
  const { value } = members;
  const parsed = streamsSchema.safeParse(value);
  const errors = [...members.errors, ...(parsed.success ? [] : fromZodError(parsed.error))];
  if (isDocument(value)) errors.push(...validateExtension(value), ...rejectMcpMarker(value));
  if (errors.length === 0) {
    const document = value as StreamsDefinition;
    errors.push(...validateDocument(document), ...validateOperationIds(document));
  }
  return toCheckResult(members, errors);
}
