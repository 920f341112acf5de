import { arrayOrEmpty, isObject, type JsonObject, textOrEmpty } from '#base/json-tree.ts';
import type { Warnings } from '../convert/converted.ts';
import { createGraphNames, type GraphNames, toGraphqlName } from './graph-names.ts';
import type { GraphTypes } from './graph-types.ts';
import { findJsonSchema } from './json-content.ts';
import { resolveLocalReference } from './local-reference.ts';
import { createDocumentProblem } from './problems.ts';

/** An operation of a document. */
export interface SourceOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
  /** JSON pointer. */
  readonly place: string;
  /** Parameters of the path. */
  readonly shared: readonly unknown[];
}

/** A data source of a definition. */
export interface RestSource {
  readonly kind: 'REST';
  readonly name: string;
  readonly internal: false;
  readonly root_fields: readonly { readonly type: string; readonly fields: readonly string[] }[];
  readonly config: JsonObject;
}

export interface SourceInput {
  readonly root: JsonObject;
  readonly serverUrl: string;
  readonly types: GraphTypes;
  readonly warnings: Warnings;
  readonly found: SourceOperation;
  /** Name of the field, and of the source. */
  readonly name: string;
  readonly rootType: string;
}

/** Arguments of a field, as they are gathered. */
interface Arguments {
  readonly names: GraphNames;
  readonly sdl: string[];
}

interface Parameter {
  readonly name: string;
  readonly location: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
  readonly place: string;
}

const maxParameters = 100;
const maxParameterNameLength = 200;
const maxPathLength = 1000;

/** REST source of an operation: its path and query parameters, and its JSON body, are arguments of the field. */
export function buildRestSource(input: SourceInput): { readonly source: RestSource; readonly args: readonly string[] } {
  const { found, serverUrl, name, rootType } = input;
  const args: Arguments = { names: createGraphNames(), sdl: [] };
  const parameters = readParameters(input);
  const path = fillPath(input, parameters, args);
  const query = fillQuery(input, parameters, args);
  const body = fillBody(input, args);
  const source: RestSource = {
    kind: 'REST',
    name,
    internal: false,
    root_fields: [{ type: rootType, fields: [name] }],
    config: { url: serverUrl + path, method: found.method.toUpperCase(), headers: {}, query, body },
  };
  return { source, args: args.sdl };
}

/** Parameters of the operation, then those of its path that it does not replace. */
function readParameters({ root, found, warnings }: SourceInput): Parameter[] {
  const given = [...arrayOrEmpty(found.operation.parameters), ...found.shared];
  const place = `${found.place}/parameters`;
  if (given.length > maxParameters) throw createDocumentProblem(place, `has more than ${maxParameters} parameters`);
  const known = new Map<string, Parameter>();
  for (const [at, it] of given.entries()) {
    const { value, place: where } = resolveLocalReference(root, it, `${place}/${at}`);
    const name = textOrEmpty(value.name);
    const location = textOrEmpty(value.in);
    if (name === '' || name.length > maxParameterNameLength)
      throw createDocumentProblem(`${where}/name`, `must be a name of 1 to ${maxParameterNameLength} characters`);
    if (location !== 'path' && location !== 'query') {
      warnings.add(`${name}: parameters in ${location || 'no place'} are left out: set headers of the data source`);
      continue;
    }
    const key = `${location} ${name}`;
    const parameter = { name, location, isRequired: value.required === true, schema: value.schema, place: where };
    if (!known.has(key)) known.set(key, parameter);
  }
  return [...known.values()];
}

/** A parameter is a scalar: the text of a list depends on the server. */
function addArgument({ types, name, warnings }: SourceInput, parameter: Parameter, args: Arguments): string {
  const argument = args.names.take(toGraphqlName(parameter.name));
  const type = types.toType(parameter.schema, `${parameter.place}/schema`, `${name} ${parameter.name}`, 'input');
  const isScalar = /^(Int|Float|String|Boolean)$/.test(type) || isEnum(parameter.schema);
  if (!isScalar && isObject(parameter.schema))
    warnings.add(`the argument ${argument} of ${name} is the text of the parameter: it is a list or an object`);
  const isNeeded = parameter.isRequired || parameter.location === 'path';
  args.sdl.push(`${argument}: ${isScalar ? type : 'String'}${isNeeded ? '!' : ''}`);
  return `{{ .arguments.${argument} }}`;
}

const isEnum = (schema: unknown): boolean => isObject(schema) && schema.type === 'string' && Array.isArray(schema.enum);

/** Literal text of the path has no templates and variables of the gateway: the document could name secrets. */
function fillPath(input: SourceInput, parameters: readonly Parameter[], args: Arguments): string {
  const { path, place } = input.found;
  const isPlain = path.startsWith('/') && path.length <= maxPathLength && !/[\s$?#\\]|\{\{|\}\}/.test(path);
  if (!isPlain || /\/(\.{0,2})\//.test(path) || /\/\.{1,2}$/.test(path))
    throw createDocumentProblem(place, 'the path must be segments with parameters in braces alone');
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const declared = parameters.find(it => it.location === 'path' && it.name === name);
    const given = declared ?? { name, location: 'path', isRequired: true, schema: { type: 'string' }, place };
    return addArgument(input, given, args);
  });
  if (/[{}]/.test(filled.replaceAll(/\{\{[^{}]*\}\}/g, '')))
    throw createDocumentProblem(place, 'a brace of the path is not closed');
  return filled;
}

function fillQuery(input: SourceInput, parameters: readonly Parameter[], args: Arguments): JsonObject[] {
  return parameters
    .filter(({ location }) => location === 'query')
    .map(parameter => {
      const { name, place } = parameter;
      if (/\{\{|\$/.test(name)) throw createDocumentProblem(`${place}/name`, 'must have no template or variable');
      return { name, value: addArgument(input, parameter, args) };
    });
}

/** A JSON body is one argument. */
function fillBody(input: SourceInput, args: Arguments): string {
  const { root, types, name, found, warnings } = input;
  if (found.method === 'get' || found.operation.requestBody === undefined) return '';
  const place = `${found.place}/requestBody`;
  const part = resolveLocalReference(root, found.operation.requestBody, place);
  const content = findJsonSchema(part.value, part.place);
  if (!content) return '';
  if (content.schema === undefined) warnings.add(`the body of ${name} is sent as JSON`);
  const argument = args.names.take('input');
  const type = types.toType(content.schema, content.place, name, 'input');
  args.sdl.push(`${argument}: ${type}${part.value.required === true ? '!' : ''}`);
  return `{{ .arguments.${argument} }}`;
}
