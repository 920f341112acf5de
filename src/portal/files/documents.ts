import { isObject } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import { type FileContent, parseDocumentText, type Upload } from '#operations/body.ts';
import { problem } from '../problems.ts';

/** Documents of products: their content is checked when it is uploaded, and stored as sent. */
export type DocumentKind = 'oas' | 'graphql';

export const documentTypes = {
  oas: ['application/x-yaml', 'application/json'],
  graphql: ['application/graphql', 'application/json'],
} as const;

type Refusal = typeof problem.document_refused | typeof problem.schema_refused;

const startsAsJson = (text: string) => /^\s*[[{]/.test(text);

function decodeDocument(bytes: Buffer, refusal: Refusal): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refusal({ detail: { reason: 'is not UTF-8 text' }, cause });
  }
}

/** Runs a parser; its refusals become those of the upload. */
function parseWith(parse: () => unknown, refusal: Refusal): unknown {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw refusal({ detail: { reason: cause.message }, cause });
  }
}

const versions = { openapi: /^3\.\d+\.\d+/, swagger: /^2\.0$/, asyncapi: /^[23]\.\d+\.\d+/ } as const;

/** OpenAPI 3, Swagger 2.0 or AsyncAPI, in JSON or YAML. */
function checkApiDocument({ bytes }: Upload, maxBytes: number): FileContent {
  const text = decodeDocument(bytes, problem.document_refused);
  const document = parseWith(() => parseDocumentText(text, maxBytes), problem.document_refused);
  const isKnown =
    isObject(document) &&
    Object.entries(versions).some(([name, version]) => version.test(String(document[name] ?? ''))) &&
    isObject(document.info);
  if (!isKnown)
    throw problem.document_refused({
      detail: { reason: 'must be an OpenAPI 3, Swagger 2.0 or AsyncAPI document with info' },
    });
  return { mediaType: startsAsJson(text) ? 'application/json' : 'application/x-yaml', bytes };
}

/** A schema in the schema definition language, or the JSON of an introspection. */
function checkSchemaFile({ bytes }: Upload, maxBytes: number, refusal: Refusal): FileContent {
  const text = decodeDocument(bytes, refusal);
  const { checkGraphqlSchema, printIntrospection, InvalidGraphqlSchema } = loadGraphqlLanguage();
  // A type definition cannot begin with a brace.
  const isJson = startsAsJson(text);
  try {
    if (isJson) printIntrospection(parseWith(() => parseDocumentText(text, maxBytes), refusal));
    else checkGraphqlSchema(text);
  } catch (cause) {
    if (!(cause instanceof InvalidGraphqlSchema)) throw cause;
    throw refusal({ detail: { reason: cause.message.slice(0, 2000) }, cause });
  }
  return { mediaType: isJson ? 'application/json' : 'application/graphql', bytes };
}

/** The checked document of an upload. */
export const checkProductDocument = (
  kind: DocumentKind,
  upload: Upload,
  maxBytes: number,
  schemaRefusal: Refusal = problem.schema_refused,
): FileContent =>
  kind === 'oas' ? checkApiDocument(upload, maxBytes) : checkSchemaFile(upload, maxBytes, schemaRefusal);
