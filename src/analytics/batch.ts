/**
 * Finished calls on their way from a traffic thread to the main thread: a table of numbers, a table of words by their
 * place in one list, and the APIs they were for. Typed arrays travel without being copied member by member, and what
 * many calls have in common travels once.
 */

export const numberColumns = [
  'atMs',
  'api',
  'status',
  'totalMs',
  'upstreamMs',
  'requestBytes',
  'answerBytes',
  /** 1 for an endpoint that is counted by itself. */
  'trackedPath',
] as const;

export const wordColumns = [
  'version',
  'keyHash',
  'alias',
  'oauthId',
  'method',
  'host',
  'path',
  'rawPath',
  'originalPath',
  'address',
  'userAgent',
  'refusal',
  /** Several, with `tagSeparator` between them. */
  'tags',
  'rawRequest',
  'rawResponse',
] as const;

type NumberColumn = (typeof numberColumns)[number];
type WordColumn = (typeof wordColumns)[number];

/** Stands in no tag: text with it is refused wherever tags come from. */
export const tagSeparator = '\u0000';

/** The key of a call that came without one. */
export const anonymousKey = '00000000';
/** The version of an API that has none. */
export const unversioned = 'Non Versioned';

/** What is said of an API once for all its calls of a batch. */
export interface BatchApi {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly listenPath: string;
  readonly tags: readonly string[];
  /** 0 keeps records as long as the settings say. */
  readonly retentionSeconds: number;
}

export interface CallBatch {
  readonly count: number;
  /** `count` rows of `numberColumns`. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** `count` rows of `wordColumns`, as places in `words`. */
  readonly places: Uint32Array<ArrayBuffer>;
  readonly words: readonly string[];
  readonly apis: readonly BatchApi[];
}

/** Where each column stands in a row. */
export const numberIndex = indexColumns(numberColumns);
export const wordIndex = indexColumns(wordColumns);

function indexColumns<const Name extends string>(names: readonly Name[]): { readonly [N in Name]: number } {
  return Object.fromEntries(names.map((name, place) => [name, place])) as { [N in Name]: number };
}

/** One call of a batch, read where it lies. */
export interface CallRecord {
  number(column: NumberColumn): number;
  word(column: WordColumn): string;
  readonly api: BatchApi;
}

/** Visits every call; the object is the same each time and means another call at the next visit. */
export function forEachCall(
  { count, numbers, places, words, apis }: CallBatch,
  visit: (record: CallRecord) => void,
): void {
  let row = 0;
  const record: CallRecord = {
    number: column => numbers[row * numberColumns.length + numberIndex[column]]!,
    word: column => words[places[row * wordColumns.length + wordIndex[column]]!]!,
    get api() {
      return apis[numbers[row * numberColumns.length + numberIndex.api]!]!;
    },
  };
  for (; row < count; row++) visit(record);
}
