import { closestMatch } from '#base/closest-match.ts';
import { tokenPattern } from '#base/http-syntax.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import type { SchemaField } from '#languages/graphql/schema-fields.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { type DataGraphDefinition, readDataGraph, type SourceField, toFieldKey } from './data-graph.ts';
import type { DataSource } from './data-source.ts';
import { InvalidTemplate, listReferences, parseSourceTemplate, type TemplateReference } from './source-template.ts';

/** Names beginning with it are those of the gateway in operations that it sends to GraphQL sources. */
export const reservedPrefix = 'gw__';

/** Data graph by its schema: every field exists, and every template names what a request to its field has. */
export function checkDataGraph(graph: DataGraphDefinition, compiled: CompiledSchema): ValidationError[] {
  const { findSchemaField } = loadGraphqlLanguage();
  const errors: ValidationError[] = [];
  const templates = new Map<DataSource, readonly SourceTemplate[]>();
  for (const entry of graph.fields.values()) {
    const { type, field, source, place } = entry;
    if (!templates.has(source)) templates.set(source, listTemplates(source, errors));
    const found = findSchemaField(compiled, type, field);
    if ('missing' in found) {
      errors.push({ path: place, message: found.missing });
      continue;
    }
    if (found.rootOf === 'subscription' && source.kind === 'REST')
      errors.push({ path: place, message: 'needs a GraphQL or Kafka source: it is a field of the subscription type' });
    if (found.rootOf !== 'subscription' && source.kind === 'Kafka')
      errors.push({ path: place, message: 'cannot have a Kafka source: only fields of the subscription type can' });
    errors.push(...templates.get(source)!.flatMap(template => checkReferences(template, entry, found)));
    errors.push(...checkPlannedMapping(entry, graph));
  }
  for (const key of graph.mappings.keys()) {
    const [type = '', field = ''] = key.split('.');
    const found = findSchemaField(compiled, type, field);
    if ('missing' in found) errors.push({ path: 'graphql.engine.field_configs', message: found.missing });
  }
  return [...errors, ...graph.headers.flatMap(checkGlobalHeader)];
}

/** Every field has requests with these headers: arguments and parents are of one field. */
function checkGlobalHeader([name, value]: readonly [string, string], at: number): ValidationError[] {
  const place = `graphql.engine.global_headers[${at}]`;
  const errors: ValidationError[] = [];
  if (!tokenPattern.test(name)) errors.push({ path: `${place}.key`, message: 'is not a header name' });
  const references = tryListReferences(`${place}.value`, value, errors);
  if (references.some(({ from }) => from !== 'headers'))
    errors.push({ path: `${place}.value`, message: 'may name headers of the request alone' });
  return errors;
}

interface SourceTemplate {
  readonly path: string;
  readonly references: readonly TemplateReference[];
}

/** Texts of a source that may hold templates, by member. */
export function listSourceTexts({ url, headers, query, body, operation, variables }: DataSource): [string, string][] {
  return [
    ['url', url],
    ...headers.map(([name, value]): [string, string] => [`headers.${name}`, value]),
    ...query.map(({ value }, at): [string, string] => [`query[${at}].value`, value]),
    ['body', body],
    ['operation', operation],
    ...listTexts('variables', variables),
  ];
}

function listTexts(path: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, it]) => listTexts(`${path}.${name}`, it));
}

function listTemplates(source: DataSource, errors: ValidationError[]): SourceTemplate[] {
  return listSourceTexts(source).flatMap(([member, text]) => {
    const path = `${source.place}.${member}`;
    const references = tryListReferences(path, text, errors);
    return references.length > 0 ? [{ path, references }] : [];
  });
}

function tryListReferences(path: string, text: string, errors: ValidationError[]): TemplateReference[] {
  try {
    return listReferences(parseSourceTemplate(text));
  } catch (error) {
    if (!(error instanceof InvalidTemplate)) throw error;
    errors.push({ path, message: error.message });
    return [];
  }
}

function checkReferences(
  { path, references }: SourceTemplate,
  { type, field }: SourceField,
  { argumentNames, rootOf }: SchemaField,
): ValidationError[] {
  return references.flatMap(({ from, path: [name = ''], text }) => {
    if (from === 'object' && rootOf !== undefined)
      return [{ path, message: `{{${text}}}: a field of ${type} has no parent object` }];
    if (from !== 'arguments' || argumentNames.includes(name)) return [];
    const meant = closestMatch(name, argumentNames);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    return [{ path, message: `{{${text}}}: ${toFieldKey(type, field)} has no such argument${hint}` }];
  });
}

/** Of a GraphQL source without an operation the path is the name of the field there. */
function checkPlannedMapping({ type, field, source }: SourceField, { mappings }: DataGraphDefinition) {
  const key = toFieldKey(type, field);
  const mapping = mappings.get(key);
  if (mapping === undefined || source.kind !== 'GraphQL' || source.operation !== '') return [];
  if (mapping.length === 1) return [];
  const message = `${key}: the path of a field of a GraphQL source is the name of the field there, and nothing else`;
  return [{ path: 'graphql.engine.field_configs', message }];
}

export { readDataGraph };
