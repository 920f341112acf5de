import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { checkDocumentMembers, streamingName } from './document-members.ts';
import { findUnknownNames } from './document-names.ts';
import type { UnknownMembers } from './members.ts';
import { toCheckResult } from './members.ts';
import type { OasDefinition } from './oas.ts';
import { isDocument, looseDocumentSchema } from './oas.ts';
import { validateDocument, validateExtension, validateOperationIds } from './oas-validation.ts';
import type { CheckResult } from './validation-error.ts';
import { fromZodError } from './validation-error.ts';

export interface StreamDefinition {
  input?: Record<string, unknown> | null;
  output?: Record<string, unknown> | null;
  pipeline?: { threads?: number; processors?: Record<string, unknown>[] | null } | null;
  [member: string]: unknown;
}

export interface StreamsDefinition extends OasDefinition {
  'x-gw-streaming': { streams: Record<string, StreamDefinition> };
}

/** What a component holds is the engine's to know, but for what the gateway reads of it. */
const anything = freeForm(z.looseObject({}));
const processors = z.array(anything).nullable().optional();
const component = freeForm(z.looseObject({ label: z.string().optional(), processors }));
const components = z.array(component).nullable().optional();
const settings = anything.nullable().optional();
const resources = z.array(anything).nullable().optional();

/** One stream: where messages come from, what happens to them, where they go. */
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

/** The rule of a request body that holds a streams document; the OpenAPI part may be left out. */
export const streamsSchema = looseDocumentSchema.extend({
  [streamingName]: streaming,
}) as unknown as z.ZodType<StreamsDefinition>;

/** Says everything that is wrong at once. What passes is the value that was given, without `null` for absent members. */
export function checkStreams(
  given: unknown,
  unknownMembers: UnknownMembers = 'refuse',
): CheckResult<StreamsDefinition> {
  const unknownNames = findUnknownNames(given);
  // A document of streams alone has no OpenAPI part to name operations of: what it says of them is reported.
  const isAlone = isDocument(given) && given.paths === undefined;
  const found = checkDocumentMembers(streamsSchema, given, unknownMembers, isAlone ? [] : unknownNames);
  const members = isAlone ? { ...found, warnings: [...found.warnings, ...unknownNames] } : found;
  const { value } = members;
  const parsed = streamsSchema.safeParse(value);
  const faults = [...members.errors, ...(parsed.success ? [] : fromZodError(parsed.error))];
  if (isDocument(value)) faults.push(...validateExtension(value));
  if (faults.length === 0) {
    const document = value as StreamsDefinition;
    faults.push(...validateDocument(document), ...validateOperationIds(document));
  }
  return toCheckResult(members, faults);
}
