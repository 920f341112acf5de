import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { OpenApi } from './document.ts';
import { exampleOf } from './examples.ts';

/** What an operation may answer, made from its document: examples first, else values of its schemas. */
export interface Reply {
  readonly headers: readonly string[];
  /** By media type, as the document writes them; none for a response without a body. */
  readonly media: ReadonlyMap<string, Examples>;
}

export interface Examples {
  /** Taken where nobody asks for a name. */
  readonly usual: Buffer;
  /** Undefined where the document gives one example, or none: names then mean nothing. */
  readonly named: ReadonlyMap<string, Buffer> | undefined;
}

/** By status as the document writes it: `200`, `4XX`, `default`. */
export type Replies = ReadonlyMap<string, Reply>;

export function repliesOf(operation: JsonObject, document: OpenApi): Replies {
  const replies = new Map<string, Reply>();
  for (const [code, given] of Object.entries(objectOrEmpty(operation.responses))) {
    const response = document.follow(given);
    const media = Object.entries(objectOrEmpty(response.content)).map(
      ([type, it]) => [type, examplesOf(objectOrEmpty(it), document)] as const,
    );
    replies.set(code.toUpperCase(), { headers: headersOf(response, document), media: new Map(media) });
  }
  return replies;
}

export const replyFor = (replies: Replies, code: number): Reply | undefined =>
  replies.get(String(code)) ?? replies.get(`${Math.floor(code / 100)}XX`) ?? replies.get('DEFAULT');

/** The status of an operation that nobody chose one for: 200, else its lowest success; 200 also by class or default. */
export function usualCode(replies: Replies): number {
  if (replies.has('200')) return 200;
  const successes = [...replies.keys()].filter(code => /^2\d\d$/.test(code)).map(Number);
  return successes.length === 0 ? 200 : Math.min(...successes);
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value ?? null));

function examplesOf(media: JsonObject, document: OpenApi): Examples {
  if (media.example !== undefined) return { usual: encoded(media.example), named: undefined };
  const examples = Object.entries(objectOrEmpty(media.examples))
    .map(([name, it]) => [name, document.follow(it)] as const)
    .filter(([, it]) => it.value !== undefined)
    .map(([name, it]) => [name, encoded(it.value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (examples.length > 0) return { usual: examples[0]![1], named: new Map(examples) };
  return { usual: encoded(media.schema === undefined ? null : exampleOf(media.schema, document)), named: undefined };
}

function headersOf(response: JsonObject, document: OpenApi): string[] {
  return Object.entries(objectOrEmpty(response.headers)).flatMap(([name, given]) => {
    if (name.toLowerCase() === 'content-type') return [];
    const header = document.follow(given);
    const value = header.example ?? (isObject(header.schema) ? exampleOf(header.schema, document) : undefined);
    return value === undefined ? [] : [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
}
