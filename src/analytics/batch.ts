/**
 * Columnar batch of finished calls, sent from a traffic thread to the main thread: a table of numbers, a table of words
 * as indices into one list, and the APIs. Typed arrays clone fast, and
 * repeated values are sent once.
 */

export const numberColumns = [
  'atMs',
  'api',
  'status',
  'totalMs',
  'upstreamMs',
  'requestBytes',
  'answerBytes',
  /** 1 for a tracked endpoint. */
  'trackedPath',
] as const;

export const wordColumns = [
  'version',
  'keyHash',
  'alias',
  'oauthId',
  'method',
  /** JSON-RPC method of a request to an MCP proxy; empty for other requests. */
  'mcpMethod',
  /** tool, resource or prompt; empty without one. */
  'mcpPrimitiveType',
  'mcpPrimitiveName',
  /** query, mutation or subscription; empty for a request without a GraphQL operation. */
  'graphqlType',
  'graphqlName',
  /** Joined with `tagSeparator`. */
  'graphqlFields',
  'host',
  'path',
  'rawPath',
  'originalPath',
  'address',
  'userAgent',
  'refusal',
  /** `reason: detail`; empty where the upstream did not fail. */
  'upstreamError',
  /** ISO 3166-1; empty where unknown. */
  'country',
  /** Joined with `tagSeparator`. */
  'tags',
  /** Empty where nothing used an id. */
  'requestId',
  'rawRequest',
  'rawResponse',
] as const;

type NumberColumn = (typeof numberColumns)[number];
type WordColumn = (typeof wordColumns)[number];

/** Never part of a tag: validation refuses it. */
export const tagSeparator = '\u0000';

/** Key hash of a call without a key. */
export const anonymousKey = '00000000';
/** Version of an unversioned API. */
export const unversioned = 'Non Versioned';

/** API members sent once per batch. */
export interface BatchApi {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly listenPath: string;
  readonly tags: readonly string[];
  /** 0 applies the retention of the settings. */
  readonly retentionSeconds: number;
}

export interface CallBatch {
  readonly count: number;
  /** `count` rows of `numberColumns`. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** `count` rows of `wordColumns`, as indices into `words`. */
  readonly places: Uint32Array<ArrayBuffer>;
  readonly words: readonly string[];
  readonly apis: readonly BatchApi[];
}

/** Column indices. */
export const numberIndex = indexColumns(numberColumns);
export const wordIndex = indexColumns(wordColumns);

function indexColumns<const Name extends string>(names: readonly Name[]): { readonly [N in Name]: number } {
  return Object.fromEntries(names.map((name, place) => [name, place])) as { [N in Name]: number };
}

/** Cursor on one call of a batch. */
export interface CallRecord {
  readonly batch: CallBatch;
  /** Row of the call in the batch. */
  readonly row: number;
  number(column: NumberColumn): number;
  word(column: WordColumn): string;
  readonly api: BatchApi;
}

/** Visits every call with one reused cursor object. */
export function forEachCall(batch: CallBatch, visit: (record: CallRecord) => void): void {
  const record = new CallCursor(batch);
  for (; record.row < batch.count; record.row++) visit(record);
}

class CallCursor implements CallRecord {
  readonly batch: CallBatch;
  row = 0;

  constructor(batch: CallBatch) {
    this.batch = batch;
  }

  number(column: NumberColumn): number {
    return this.batch.numbers[this.row * numberColumns.length + numberIndex[column]]!;
  }

  word(column: WordColumn): string {
    return this.batch.words[this.batch.places[this.row * wordColumns.length + wordIndex[column]]!]!;
  }

  get api(): BatchApi {
    return this.batch.apis[this.number('api')]!;
  }
}
