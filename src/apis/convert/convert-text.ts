import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { parseDocumentText } from '#operations/body.ts';
import { convertAsyncApi } from './asyncapi.ts';
import { convertBlueprint } from './blueprint.ts';
import type { Converted } from './converted.ts';
import { convertCurl } from './curl.ts';
import {
  type ConvertFormat,
  convertFormats,
  type DocumentFormat,
  documentFormatNames,
  type unsupportedFormats,
} from './formats.ts';
import { convertHar } from './har.ts';
import { convertOpenApi } from './openapi.ts';
import { convertPostman } from './postman.ts';
import { createTextProblem, problem } from './problems.ts';
import { convertSwagger } from './swagger.ts';

type Convert = (document: JsonObject) => Converted;

/** Formats of JSON or YAML documents, each with its converter and the test that recognises it. */
const documentFormats = {
  openapi: { convert: convertOpenApi, matches: (it: JsonObject) => it.openapi !== undefined },
  swagger: { convert: convertSwagger, matches: (it: JsonObject) => it.swagger !== undefined },
  asyncapi: { convert: convertAsyncApi, matches: (it: JsonObject) => it.asyncapi !== undefined },
  har: { convert: convertHar, matches: (it: JsonObject) => isObject(it.log) && Array.isArray(it.log.entries) },
  postman: { convert: convertPostman, matches: isPostman },
} as const satisfies Readonly<Record<DocumentFormat, { convert: Convert; matches: (document: JsonObject) => boolean }>>;

function isPostman(document: JsonObject): boolean {
  const collection = objectOrEmpty(document.collection ?? document);
  return isObject(collection.info) && arrayOrEmpty(collection.item).length > 0;
}

const advice: Readonly<Record<(typeof unsupportedFormats)[number], string>> = {
  wsdl: 'describe the service in OpenAPI, with an operation for each SOAP action',
};

export interface ConvertInput {
  readonly format: ConvertFormat;
  readonly text: string;
  /** Bounds the values of a document. */
  readonly maxBytes: number;
}

export interface ConvertedText extends Converted {
  readonly format: Exclude<ConvertFormat, 'auto'>;
}

/** Converts a description of an API to OpenAPI, or to the document of a streams API. Nothing is fetched. */
export function convertText({ format, text, maxBytes }: ConvertInput): ConvertedText {
  const named = format === 'auto' ? recogniseText(text) : format;
  if (named === 'wsdl') throw problem.format_unsupported({ detail: { format: named, advice: advice[named] } });
  if (named === 'blueprint') return { format: named, ...convertBlueprint(text, maxBytes) };
  if (named === 'curl') return { format: named, ...convertCurl(text) };
  return convertParsed(named, parseDocumentText(text, maxBytes));
}

/** Converts a parsed document of JSON or YAML, such as that of a ZIP archive. */
export function convertParsed(named: 'auto' | DocumentFormat, document: unknown): ConvertedText {
  if (!isObject(document)) throw createTextProblem('must be an object in JSON or YAML');
  const found = named === 'auto' ? documentFormatNames.find(name => documentFormats[name].matches(document)) : named;
  if (!found) throw problem.format_unknown({ detail: { known: convertFormats.slice(1).join(', ') } });
  return { format: found, ...documentFormats[found].convert(document) };
}

/** Formats that are no JSON or YAML, by their first characters. */
function recogniseText(text: string): ConvertFormat {
  const start = text
    .slice(0, 2000)
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (/^([$>]\s*)?(\S*[/\\])?curl(\.exe)?\s/.test(start)) return 'curl';
  if (start.startsWith('<') && /<(\w+:)?(definitions|description)[\s>]/.test(start)) return 'wsdl';
  return /^FORMAT:\s*1A/i.test(start) ? 'blueprint' : 'auto';
}
