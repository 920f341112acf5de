import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, isObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { dereference, inlineSchema } from './inline-schema.ts';
import { bodyArgument, type RestBody, type RestBodyEncoding, type RestParameter } from './rest-tool.ts';
import { maxToolParameters, ToolBoundsError, type ToolBudget } from './tool-bounds.ts';

export interface DescribedParameter extends RestParameter {
  readonly schema: JsonObject;
}

/** OpenAPI document with the budget of the schemas that are read from it. */
export interface SourceDocument {
  readonly document: Readonly<JsonObject>;
  readonly budget: ToolBudget;
}

const places = ['path', 'query', 'header'] as const;
/** OpenAPI ignores parameters with these names (Parameter Object); the gateway decides the others. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'last-event-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
]);
const reservedPrefix = /^(?:mcp|proxy|x-forwarded|x-gw)-/;

const styles: Readonly<Record<RestParameter['place'], readonly string[]>> = {
  path: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
};

/**
 * Parameters of an operation and of its path item, which the operation's replace. Undefined where a required one cannot
 * be sent: the operation is then no tool. Cookies belong to the client and are left out.
 */
export function readParameters(
  source: SourceDocument,
  item: JsonObject,
  operation: JsonObject,
): DescribedParameter[] | undefined {
  const declared = new Map<string, JsonObject>();
  const listed = [...arrayOrEmpty(item.parameters), ...arrayOrEmpty(operation.parameters)];
  if (listed.length > maxToolParameters) {
    const name = textOrEmpty(operation.operationId).slice(0, 128) || 'one';
    throw new ToolBoundsError(`cannot be tools: ${name} has more than ${maxToolParameters} parameters`);
  }
  for (const given of listed) {
    const parameter = dereference(source.document, given);
    if (parameter) declared.set(`${textOrEmpty(parameter.in)} ${textOrEmpty(parameter.name)}`, parameter);
  }
  const used = new Set<string>(operation.requestBody === undefined ? [] : [bodyArgument]);
  const parameters: DescribedParameter[] = [];
  for (const parameter of declared.values()) {
    const read = readParameter(source, parameter, used);
    if (read) parameters.push(read);
    else if (parameter.required === true && parameter.in !== 'cookie' && !isReserved(parameter)) return undefined;
  }
  return parameters;
}

function isReserved({ in: place, name }: JsonObject): boolean {
  const header = textOrEmpty(name).toLowerCase();
  return place === 'header' && (reservedHeaders.has(header) || reservedPrefix.test(header));
}

function readParameter(
  { document, budget }: SourceDocument,
  parameter: JsonObject,
  used: Set<string>,
): DescribedParameter | undefined {
  const name = textOrEmpty(parameter.name);
  const place = places.find(it => it === parameter.in);
  if (name === '' || !place || isReserved(parameter)) return undefined;
  const style = textOrEmpty(parameter.style) || styles[place][0]!;
  if (!styles[place].includes(style)) return undefined;
  const argument = [name, `${place}_${name}`].find(it => !used.has(it));
  if (argument === undefined || argument === '__proto__') return undefined;
  used.add(argument);
  const [content] = Object.values(objectOrEmpty(parameter.content));
  const schema = inlineSchema(document, parameter.schema ?? objectOrEmpty(content).schema, budget);
  const description = textOrEmpty(parameter.description);
  budget.takeText(name);
  budget.takeText(description);
  return {
    argument,
    name,
    place,
    style,
    isExploded: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form',
    isRequired: place === 'path' || parameter.required === true,
    schema: description === '' ? schema : { ...schema, description },
  };
}

export interface DescribedBody extends RestBody {
  readonly schema: JsonObject;
}

/** Body of an operation, as JSON where the document offers it; `unsupported` where a required one cannot be sent. */
export function readRequestBody(
  { document, budget }: SourceDocument,
  operation: JsonObject,
): DescribedBody | 'unsupported' | undefined {
  if (operation.requestBody === undefined) return undefined;
  const body = dereference(document, operation.requestBody);
  const offered = Object.entries(objectOrEmpty(body?.content));
  budget.take(offered.length);
  for (const encoding of ['json', 'form', 'text'] as const) {
    const found = offered.find(([type]) => findEncoding(parseMediaType(type)) === encoding);
    if (!found) continue;
    const [contentType, media] = found;
    const schema =
      encoding === 'text' ? { type: 'string' } : inlineSchema(document, objectOrEmpty(media).schema, budget);
    const description = textOrEmpty(body?.description);
    budget.takeText(description);
    return {
      contentType: contentType.includes('*') ? defaultTypes[encoding] : contentType,
      encoding,
      isRequired: body?.required === true,
      schema: description === '' || schema.description !== undefined ? schema : { ...schema, description },
    };
  }
  return body?.required === true ? 'unsupported' : undefined;
}

const defaultTypes: Readonly<Record<RestBodyEncoding, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
};

function findEncoding(type: string): RestBodyEncoding | undefined {
  if (isJsonType(type) || type === '*/*' || type === 'application/*') return 'json';
  if (type === defaultTypes.form) return 'form';
  return type.startsWith('text/') ? 'text' : undefined;
}

/** Schema of the success responses: only where all of them are JSON objects, since results must match it. */
export function readOutputSchema({ document, budget }: SourceDocument, operation: JsonObject): JsonObject | undefined {
  const responses = Object.entries(objectOrEmpty(operation.responses)).filter(([status]) => /^2/.test(status));
  const schemas = responses.map(([, given]) => {
    const media = Object.entries(objectOrEmpty(dereference(document, given)?.content));
    budget.take(media.length);
    const json = media.find(([type]) => isJsonType(parseMediaType(type)));
    return media.length === 1 && json ? inlineSchema(document, objectOrEmpty(json[1]).schema, budget) : undefined;
  });
  const [schema] = schemas;
  return schemas.length === 1 && isObject(schema) && schema.type === 'object' ? schema : undefined;
}
