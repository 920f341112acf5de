import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { generateExample } from './examples.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** A mock response of an operation: from its examples, else generated from its schemas. */
export interface MockResponse {
  readonly headers: readonly string[];
  /** By media type as written in the document; empty for a response without a body. */
  readonly media: ReadonlyMap<string, MockExamples>;
}

export interface MockExamples {
  /** Used where the request names no example. */
  readonly defaultBody: Buffer;
  /** Undefined where the document has one example or none: names are ignored then. */
  readonly named: ReadonlyMap<string, Buffer> | undefined;
}

/** By status as written in the document: `200`, `4XX`, `default`. */
export type MockResponses = ReadonlyMap<string, MockResponse>;

export function buildMockResponses(operation: JsonObject, document: OpenApiDocument): MockResponses {
  const responses = new Map<string, MockResponse>();
  for (const [code, given] of Object.entries(objectOrEmpty(operation.responses))) {
    const response = document.dereference(given);
    const media = Object.entries(objectOrEmpty(response.content)).map(
      ([type, it]) => [type, buildExamples(objectOrEmpty(it), document)] as const,
    );
    responses.set(code.toUpperCase(), { headers: buildHeaders(response, document), media: new Map(media) });
  }
  return responses;
}

export const findMockResponse = (replies: MockResponses, code: number): MockResponse | undefined =>
  replies.get(String(code)) ?? replies.get(`${Math.floor(code / 100)}XX`) ?? replies.get('DEFAULT');

/** The default mock status: 200, else the lowest success; 200 also where the document has classes or `default` only. */
export function chooseDefaultStatus(replies: MockResponses): number {
  if (replies.has('200')) return 200;
  const successes = [...replies.keys()].filter(code => /^2\d\d$/.test(code)).map(Number);
  return successes.length === 0 ? 200 : Math.min(...successes);
}

const encodeJson = (value: unknown) => Buffer.from(JSON.stringify(value ?? null));

function buildExamples(media: JsonObject, document: OpenApiDocument): MockExamples {
  if (media.example !== undefined) return { defaultBody: encodeJson(media.example), named: undefined };
  const examples = Object.entries(objectOrEmpty(media.examples))
    .map(([name, it]) => [name, document.dereference(it)] as const)
    .filter(([, it]) => it.value !== undefined)
    .map(([name, it]) => [name, encodeJson(it.value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (examples.length > 0) return { defaultBody: examples[0]![1], named: new Map(examples) };
  return {
    defaultBody: encodeJson(media.schema === undefined ? null : generateExample(media.schema, document)),
    named: undefined,
  };
}

function buildHeaders(response: JsonObject, document: OpenApiDocument): string[] {
  return Object.entries(objectOrEmpty(response.headers)).flatMap(([name, given]) => {
    if (name.toLowerCase() === 'content-type') return [];
    const header = document.dereference(given);
    const value = header.example ?? (isObject(header.schema) ? generateExample(header.schema, document) : undefined);
    return value === undefined ? [] : [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
}
