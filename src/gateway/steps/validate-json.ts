import type { Json } from '#base/json.ts';
import { isZeroValue } from '#base/json-tree.ts';
import { isUtf8ContentType } from '#base/media-type.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import { formatViolations } from '#languages/json-schema/error-text.ts';
import { InvalidSchema } from '#languages/json-schema/invalid-schema.ts';
import { compileJsonSchema, type Validate } from '#languages/json-schema/schema.ts';
import { noBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'settings'>;

const reads = { endpoints: ['validateJson'] } as const satisfies StepReads;

/** JSON Schema validation of request bodies (classic `validate_json`), whatever their content type. */
export const validateJsonStep: Step<Services, typeof reads> = {
  name: 'validate-json',
  reads,
  build({ model, version, services }) {
    const entries = version.endpoints.validateJson.map(({ path, method, schema, schemaBase64, errorResponseCode }) => ({
      path,
      method,
      status: errorResponseCode || 422,
      validate: compileSchema(path, isZeroValue(schema) ? decodeSchema(path, schemaBase64) : (schema as Json)),
    }));
    const matcher = createEndpointMatcher(entries, { model, version, settings: services.settings });
    if (!matcher) return undefined;
    const maxBodyBytes = services.settings['gateway.max_buffered_body_bytes'];
    const maxValues = services.settings['gateway.max_body_values'];
    return {
      request(call) {
        const entry = matcher.find(call);
        if (!entry) return undefined;
        if (!entry.validate) return refuse(call, 'schema_missing');
        if (call.body.stream === undefined) return checkBody(call, call.body.bytes ?? noBytes, entry, maxValues);
        return call.body.read(maxBodyBytes).then(bytes => checkBody(call, bytes, entry, maxValues));
      },
    };
  },
};

interface SchemaEntry {
  readonly status: number;
  readonly validate: Validate | undefined;
}

function checkBody(
  call: Exchange,
  bytes: Buffer,
  { status, validate }: SchemaEntry,
  maxValues: number,
): GatewayResponse | undefined {
  if (!isUtf8ContentType(call.headers.get('content-type') ?? ''))
    return refuse(call, 'json_unreadable', { detail: 'it is not UTF-8' });
  const read = parseStrictJson(bytes, maxValues);
  if ('fault' in read) return refuse(call, 'json_unreadable', { detail: read.fault });
  const faults = validate!(read.value);
  if (faults.length === 0) return undefined;
  const refused = refuse(call, 'json_invalid', { detail: formatViolations(faults, '(root)') });
  refused.status = status;
  return refused;
}

function compileSchema(path: string, schema: Json | undefined): Validate | undefined {
  if (schema === undefined) return undefined;
  try {
    return compileJsonSchema(schema);
  } catch (error) {
    if (error instanceof InvalidSchema) throw new ApiCompileError(`the schema of ${path} is invalid: ${error.message}`);
    throw error;
  }
}

/** The base64 form of a schema, used where the plain one is absent. */
function decodeSchema(path: string, base64: string): Json | undefined {
  if (base64 === '') return undefined;
  const read = parseStrictJson(Buffer.from(base64, 'base64'));
  if ('fault' in read) throw new ApiCompileError(`the schema of ${path} is invalid: ${read.fault}`);
  return read.value;
}
