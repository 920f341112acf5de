import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import { findOpenStrings, listReferences, parseSourceTemplate } from '#definition/data-graph/source-template.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import type { VariableServices } from '../../variables/variables.ts';
import { readReference, type SourceScope } from './source-scope.ts';
import {
  compileSourceText,
  type EscapeValue,
  escapeInJson,
  escapeInOperation,
  escapeInQuery,
  escapeInXml,
  escapePlain,
} from './templates.ts';

export interface SourceBody {
  readonly fill: (scope: SourceScope) => Buffer | undefined;
  /** Media type, unless the source has a header for it. */
  readonly contentType: string;
}

const noSourceBody: SourceBody = { fill: () => undefined, contentType: 'application/json' };

/** Body of a source: the text of a REST source by its format, the fixed operation of a GraphQL source. */
export function compileSourceBody(source: DataSource, services: VariableServices): SourceBody {
  if (source.kind === 'GraphQL') return source.operation === '' ? noSourceBody : compileOperation(source, services);
  const { body } = source;
  if (body.trim() === '') return noSourceBody;
  const { escapeValue, contentType } = findFormat(source);
  const fill = compileSourceText(body, services, escapeValue);
  return { fill: scope => Buffer.from(fill(scope)), contentType };
}

/** Format of a body: by its header, else by its first character. */
function findFormat({ body, headers, name }: DataSource): { escapeValue: EscapeValue; contentType: string } {
  const [, declared = ''] = headers.find(([header]) => header.toLowerCase() === 'content-type') ?? [];
  const type = parseMediaType(declared);
  const first = body.trim()[0];
  const isJson = type === '' ? first === '{' || first === '[' || first === '"' : isJsonType(type);
  if (isJson) return { escapeValue: escapeInJson, contentType: 'application/json' };
  if (type === '' ? first === '<' : /[/+]xml$/.test(type)) return { escapeValue: escapeInXml, contentType: 'text/xml' };
  if (type === 'application/x-www-form-urlencoded') return { escapeValue: escapeInQuery, contentType: type };
  if (listReferences(parseSourceTemplate(body)).length > 0)
    throw new ApiCompileError(
      `the body of the data source ${name} has templates: it must be JSON, XML or a form, by its Content-Type`,
    );
  return { escapeValue: escapePlain, contentType: 'text/plain' };
}

function compileOperation({ operation, variables, name }: DataSource, services: VariableServices): SourceBody {
  const hasTemplates = operation.includes('$gw_') || listReferences(parseSourceTemplate(operation)).length > 0;
  if (hasTemplates && operation.includes('"""'))
    throw new ApiCompileError(`the operation of the data source ${name} has templates: it must not have block strings`);
  const text = hasTemplates ? removeComments(operation) : operation;
  const fillOperation = compileSourceText(text, services, escapeInOperation);
  const fillVariables = compileVariableValues(variables, name, services);
  return {
    fill: scope => Buffer.from(JSON.stringify({ query: fillOperation(scope), variables: fillVariables(scope) })),
    contentType: 'application/json',
  };
}

/** Without comments: a quote in one opens no string. */
const removeComments = (operation: string): string =>
  operation.replaceAll(/("(?:[^"\\\r\n]|\\.)*")|#[^\r\n]*/g, (_all, text: string | undefined) => text ?? '');

type FillValue = (scope: SourceScope) => unknown;

/** Variables as text are JSON with templates; as an object, a text that is one template has its value. */
function compileVariableValues(variables: unknown, sourceName: string, services: VariableServices): FillValue {
  if (typeof variables !== 'string') return compileJsonValue(variables ?? {}, services);
  if (variables.trim() === '') return () => ({});
  const sample = parseSourceTemplate(variables);
  const quoted = findOpenStrings(sample);
  const text = sample.map((part, at) => (typeof part === 'string' ? part : quoted[at] ? '' : 'null')).join('');
  if (!isJsonText(text)) throw new ApiCompileError(`the variables of the data source ${sourceName} are not JSON`);
  const fill = compileSourceText(variables, services, escapeInJson);
  return scope => JSON.parse(fill(scope));
}

const isJsonText = (text: string): boolean => tryParseJson(text) !== undefined;

function compileJsonValue(value: unknown, services: VariableServices): FillValue {
  if (Array.isArray(value)) {
    const items = value.map(item => compileJsonValue(item, services));
    return scope => items.map(item => item(scope));
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, it]) => [name, compileJsonValue(it, services)] as const);
    return scope => Object.fromEntries(members.map(([name, it]) => [name, it(scope)]));
  }
  if (typeof value !== 'string') return () => value;
  const parts = parseSourceTemplate(value);
  const [first] = parts;
  if (parts.length === 1 && typeof first === 'object') return scope => readReference(first, scope);
  return compileSourceText(value, services, escapePlain);
}
