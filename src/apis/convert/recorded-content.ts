import type { JsonObject } from '#base/json-tree.ts';
import { parseMediaType } from '#base/media-type.ts';
import type { Warnings } from './converted.ts';
import { inferSchema, inferTextSchema } from './infer-schema.ts';
import type { RecordedBody } from './recorded-request.ts';

/** Bodies that are parsed for their types; longer ones are described as text. */
const maxInferredBodyLength = 1_000_000;

const isJsonType = (type: string) => /^application\/([\w.-]+\+)?json$/.test(type);
const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Media type and schema of a body. Bodies that are not JSON or a form are texts. */
export function toContent(
  { mediaType, text = '', fields }: RecordedBody,
  warnings: Warnings,
): readonly [string, JsonObject] {
  const type = parseMediaType(mediaType) || 'text/plain';
  if (fields || formTypes.includes(type)) return [type, toFormSchema(fields ?? parseFields(text))];
  if (!isJsonType(type))
    return [type, type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' }];
  if (text === '') return [type, {}];
  if (text.length > maxInferredBodyLength) {
    warnings.add(`bodies longer than ${maxInferredBodyLength} characters have no schema`);
    return [type, {}];
  }
  try {
    return [type, inferSchema(JSON.parse(text))];
  } catch {
    warnings.add('bodies that are declared as JSON and are none, such as templates, have no schema');
    return [type, {}];
  }
}

const parseFields = (text: string) => [...new URLSearchParams(text)].map(([name, value]) => ({ name, value }));

const maxFields = 500;

function toFormSchema(fields: NonNullable<RecordedBody['fields']>): JsonObject {
  const entries = fields
    .slice(0, maxFields)
    .filter(({ name }) => name !== '__proto__')
    .map(
      ({ name, value }) =>
        [name, value === undefined ? { type: 'string', format: 'binary' } : inferTextSchema(value)] as const,
    );
  return { type: 'object', properties: Object.fromEntries(entries) };
}
