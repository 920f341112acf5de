import { parsePointer } from '../../../kit/json-pointer.ts';
import { type FormObject, readFieldValue, toJsonObject } from '../form/json-members.ts';
import { type DocumentOperation, listDocumentOperations } from '../operations-of-document.ts';

/** Request of an operation with the examples of its document, or values of the declared types. */
export interface OperationSample {
  /** With the query. */
  readonly path: string;
  /** One `Name: value` in each line. */
  readonly headerText: string;
  readonly body: string;
}

const maxDepth = 6;
const maxMembers = 50;
/** Sent by the fields of the credential. */
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie']);
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Follows a reference inside of the document; others stay as they are. */
function resolve(document: FormObject, value: unknown): FormObject {
  const { $ref } = toJsonObject(value);
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return toJsonObject(value);
  return toJsonObject(readFieldValue(document, parsePointer($ref.slice(1))));
}

const readExample = ({ example, examples }: FormObject): unknown =>
  example ?? toJsonObject(Object.values(toJsonObject(examples))[0]).value;

const samples: Readonly<Record<string, unknown>> = { integer: 1, number: 1, boolean: true, string: 'text' };

/** Value of a schema: its example, default or first allowed value, or one of its type. */
function sampleOf(document: FormObject, given: unknown, depth = 0): unknown {
  const schema = resolve(document, given);
  const found = schema.example ?? toList(schema.examples)[0] ?? schema.default ?? toList(schema.enum)[0];
  if (found !== undefined || depth >= maxDepth) return found ?? null;
  const branch = toList(schema.oneOf)[0] ?? toList(schema.anyOf)[0];
  if (branch !== undefined) return sampleOf(document, branch, depth + 1);
  const parts = toList(schema.allOf).map(it => sampleOf(document, it, depth + 1));
  if (parts.length > 0) return Object.assign({}, ...parts);
  const type = [schema.type].flat().find(it => it !== 'null') ?? (schema.properties ? 'object' : 'string');
  if (type === 'array') return [sampleOf(document, schema.items, depth + 1)];
  if (type !== 'object') return samples[String(type)] ?? 'text';
  const members = Object.entries(toJsonObject(schema.properties)).slice(0, maxMembers);
  return Object.fromEntries(members.map(([name, it]) => [name, sampleOf(document, it, depth + 1)]));
}

interface Parameter {
  readonly name: string;
  readonly place: unknown;
  readonly isRequired: boolean;
  readonly value: string;
}

function listParameters(document: FormObject, { path, value }: DocumentOperation): readonly Parameter[] {
  const shared = toJsonObject(toJsonObject(document.paths)[path]).parameters;
  return [...toList(shared), ...toList(value.parameters)].map(it => {
    const parameter = resolve(document, it);
    const sample = readExample(parameter) ?? sampleOf(document, parameter.schema);
    const text = typeof sample === 'object' ? JSON.stringify(sample) : String(sample);
    return { name: String(parameter.name), place: parameter.in, isRequired: parameter.required === true, value: text };
  });
}

function buildBody(
  document: FormObject,
  operation: DocumentOperation,
): { mediaType: string; text: string } | undefined {
  const content = Object.entries(toJsonObject(resolve(document, operation.value.requestBody).content));
  const [mediaType, media] = content.find(([type]) => /json/i.test(type)) ?? content[0] ?? [];
  if (mediaType === undefined) return undefined;
  const value = readExample(toJsonObject(media)) ?? sampleOf(document, toJsonObject(media).schema);
  return { mediaType, text: typeof value === 'string' ? value : JSON.stringify(value, null, 2) };
}

/** Request that fits the declaration of an operation. */
export function buildOperationSample(document: FormObject, operation: DocumentOperation): OperationSample {
  const parameters = listParameters(document, operation);
  const ofPlace = (place: string) => parameters.filter(it => it.place === place);
  const path = ofPlace('path').reduce(
    (text, { name, value }) => text.replaceAll(`{${name}}`, encodeURIComponent(value)),
    operation.path,
  );
  const query = new URLSearchParams(
    ofPlace('query')
      .filter(({ isRequired }) => isRequired)
      .map(({ name, value }) => [name, value]),
  ).toString();
  const headers = ofPlace('header').filter(({ name }) => !credentialHeaders.has(name.toLowerCase()));
  const body = buildBody(document, operation);
  const lines = [
    ...(body ? [`Content-Type: ${body.mediaType}`] : []),
    ...headers.map(({ name, value }) => `${name}: ${value}`),
  ];
  return { path: query ? `${path}?${query}` : path, headerText: lines.join('\n'), body: body?.text ?? '' };
}

export const findOperation = (document: FormObject, method: string, path: string): DocumentOperation | undefined =>
  listDocumentOperations(document).find(it => it.method === method && it.path === path);
