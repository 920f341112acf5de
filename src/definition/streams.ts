import { z } from 'zod';
import type { Checked, Fault } from './faults.ts';
import { faultsOf } from './faults.ts';
import type { OasDefinition } from './oas.ts';
import { isDocument, looseDocumentSchema } from './oas.ts';
import { documentLaws, extensionLaws, operationLaws } from './oas-laws.ts';

/** The member that holds the streams. */
export const streamingName = 'x-gw-streaming';

export interface StreamDefinition {
  input?: Record<string, unknown> | null;
  output?: Record<string, unknown> | null;
  pipeline?: { threads?: number; processors?: Record<string, unknown>[] | null } | null;
  [member: string]: unknown;
}

export interface StreamsDefinition extends OasDefinition {
  'x-gw-streaming': { streams: Record<string, StreamDefinition> };
}

const component = z.looseObject({
  label: z.string().optional(),
  processors: z.array(z.looseObject({})).nullable().optional(),
});
const components = z.array(component).nullable().optional();

/** One stream: where messages come from, what happens to them, where they go. Components are the engine's to know. */
const stream = z.looseObject({
  input: component.nullable().optional(),
  output: component.nullable().optional(),
  pipeline: z
    .strictObject({
      threads: z.int().min(-1).max(1024).optional(),
      processors: z.array(z.looseObject({})).nullable().optional(),
    })
    .nullable()
    .optional(),
  input_resources: components,
  output_resources: components,
  processor_resources: components,
  shutdown_delay: z.string().optional(),
  shutdown_timeout: z.string().optional(),
});

const streaming = z.strictObject({ streams: z.record(z.string(), stream) });

/** The rule of a request body that holds a streams document; the OpenAPI part may be left out. */
export const streamsSchema = looseDocumentSchema.extend({
  [streamingName]: streaming,
}) as unknown as z.ZodType<StreamsDefinition>;

/** Says everything that is wrong at once. What passes is the very value that was given. */
export function checkStreams(value: unknown): Checked<StreamsDefinition> {
  const parsed = streamsSchema.safeParse(value);
  const faults: Fault[] = parsed.success ? [] : faultsOf(parsed.error);
  if (isDocument(value)) faults.push(...extensionLaws(value, { upstream: false }));
  if (faults.length === 0) {
    const document = value as StreamsDefinition;
    faults.push(...documentLaws(document), ...operationLaws(document));
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition: value as StreamsDefinition };
}
