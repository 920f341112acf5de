import { toJsonPointer } from '#base/json-pointer.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { createWarnings, type Warnings } from '../convert/converted.ts';
import { createGraphNames, type GraphNames, toGraphqlName } from './graph-names.ts';
import { createGraphTypes, type GraphTypes } from './graph-types.ts';
import { type FoundSchema, findJsonSchema } from './json-content.ts';
import { resolveLocalReference } from './local-reference.ts';
import { buildRestSource, type RestSource, type SourceOperation } from './openapi-source.ts';
import { createDocumentProblem, problem } from './problems.ts';

/** Data graph of a document: the schema, and a source for each operation or channel. */
export interface ImportedGraph {
  readonly title: string;
  readonly schema: string;
  readonly dataSources: readonly object[];
  readonly fieldConfigs: readonly JsonObject[];
  readonly warnings: readonly string[];
}

const maxOperations = 1000;
/** Arguments of all operations: many paths can refer to one list of parameters. */
const maxArguments = 10_000;
const maxResponses = 1000;
const maxServerUrlLength = 2000;
const maxDescriptionLength = 300;
const rootTypes: ReadonlyMap<string, 'Query' | 'Mutation'> = new Map([
  ['get', 'Query'],
  ['post', 'Mutation'],
  ['put', 'Mutation'],
  ['patch', 'Mutation'],
  ['delete', 'Mutation'],
]);

const droppedMethods = ['head', 'options', 'trace', 'query'];

/** State of one import. */
interface Import {
  readonly root: JsonObject;
  readonly serverUrl: string;
  readonly types: GraphTypes;
  readonly names: GraphNames;
  readonly warnings: Warnings;
  argumentCount: number;
}

interface ImportedField {
  readonly rootType: 'Query' | 'Mutation';
  readonly name: string;
  readonly sdl: string;
  readonly source: RestSource;
}

/** Converts an OpenAPI 3 document: a read is a field of Query, every other operation one of Mutation. */
export function convertToGraph(root: JsonObject): ImportedGraph {
  const version = textOrEmpty(root.openapi);
  if (!/^3\.\d/.test(version)) throw createDocumentProblem('/openapi', 'must be a version of OpenAPI 3');
  const warnings = createWarnings();
  const types = createGraphTypes(root, warnings);
  const serverUrl = readServerUrl(root, warnings);
  const importing: Import = { root, serverUrl, types, names: createGraphNames(), warnings, argumentCount: 0 };
  const fields = listOperations(root, warnings).map(it => importOperation(importing, it));
  const printRoot = (name: ImportedField['rootType']) => {
    const own = fields.filter(({ rootType }) => rootType === name);
    return own.length === 0 ? [] : [`type ${name} {\n${own.map(({ sdl }) => sdl).join('\n')}\n}`];
  };
  const queries = printRoot('Query');
  if (queries.length === 0) throw problem.document_unsupported({ detail: { reason: 'has no GET operation' } });
  return {
    title: textOrEmpty(objectOrEmpty(root.info).title).trim() || 'Data graph',
    schema: [...queries, ...printRoot('Mutation'), types.print()].filter(it => it !== '').join('\n\n'),
    dataSources: fields.map(({ source }) => source),
    fieldConfigs: [
      ...fields.map(it => ({
        type_name: it.rootType,
        field_name: it.name,
        disable_default_mapping: true,
        path: [],
      })),
      ...types.mappings.map(it => ({ ...it })),
    ],
    warnings: warnings.list(),
  };
}

/** The first server, with the defaults of its variables. */
function readServerUrl({ servers }: JsonObject, warnings: Warnings): string {
  const [first, ...others] = arrayOrEmpty(servers);
  if (!isObject(first)) throw problem.document_unsupported({ detail: { reason: 'has no server' } });
  if (others.length > 0) warnings.add('of several servers, the first is used');
  const variables = objectOrEmpty(first.variables);
  const template = textOrEmpty(first.url).slice(0, maxServerUrlLength + 1);
  const url = template.replaceAll(/\{([^{}]{1,100})\}/g, (whole, name: string) => {
    const given = Object.hasOwn(variables, name) ? objectOrEmpty(variables[name]).default : undefined;
    return textOrEmpty(given).slice(0, maxServerUrlLength + 1) || whole;
  });
  // Texts of the document are no templates: it could name secrets, or another API of the gateway.
  const isShort = Math.max(template.length, url.length) <= maxServerUrlLength;
  if (!isShort || !/^https?:\/\/[^\s{}$@?#]+$/i.test(url) || !URL.canParse(url))
    throw createDocumentProblem(
      '/servers/0/url',
      'must be an absolute URL with http or https, and no user name, of at most 2000 characters',
    );
  return trimTrailingSlashes(url);
}

function listOperations(root: JsonObject, warnings: Warnings): SourceOperation[] {
  const found: SourceOperation[] = [];
  for (const [path, item] of Object.entries(objectOrEmpty(root.paths))) {
    const { value, place } = resolveLocalReference(root, item, `/paths${toJsonPointer([path])}`);
    for (const method of droppedMethods)
      if (isObject(value[method])) warnings.add(`${place}/${method}: operations of this method are left out`);
    for (const method of rootTypes.keys()) {
      const operation = value[method];
      if (!isObject(operation)) continue;
      if (found.length >= maxOperations)
        throw createDocumentProblem('/paths', `the document has more than ${maxOperations} operations`);
      found.push({ path, method, operation, place: `${place}/${method}`, shared: arrayOrEmpty(value.parameters) });
    }
  }
  return found;
}

function importOperation(importing: Import, found: SourceOperation): ImportedField {
  const { types, names } = importing;
  const { method, path, operation, place } = found;
  const rootType = rootTypes.get(method)!;
  const name = names.take(toGraphqlName(textOrEmpty(operation.operationId) || `${method} ${path}`));
  const { source, args } = buildRestSource({ ...importing, found, name, rootType });
  importing.argumentCount += args.length;
  if (importing.argumentCount > maxArguments)
    throw createDocumentProblem(place, `the operations have more than ${maxArguments} arguments`);
  const response = findResponse(importing, operation, place);
  const type = response ? types.toType(response.schema, response.place, `${name} result`, 'output') : 'Boolean';
  const about = (textOrEmpty(operation.summary) || textOrEmpty(operation.description)).slice(0, maxDescriptionLength);
  const description = about === '' ? '' : `  ${JSON.stringify(about.toWellFormed())}\n`;
  const list = args.length === 0 ? '' : `(${args.join(', ')})`;
  return { rootType, name, source, sdl: `${description}  ${name}${list}: ${type}` };
}

/** JSON schema of the first successful response; undefined where it has no content. */
function findResponse({ root }: Import, operation: JsonObject, place: string): FoundSchema | undefined {
  const responses = objectOrEmpty(operation.responses);
  const statuses = Object.keys(responses);
  if (statuses.length > maxResponses)
    throw createDocumentProblem(`${place}/responses`, `has more than ${maxResponses} responses`);
  const status = statuses.find(it => /^2(\d\d|XX)$/i.test(it)) ?? 'default';
  if (!Object.hasOwn(responses, status)) return undefined;
  const part = resolveLocalReference(root, responses[status], `${place}/responses/${status}`);
  return findJsonSchema(part.value, part.place);
}
